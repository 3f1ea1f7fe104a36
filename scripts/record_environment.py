#!/usr/bin/env python3
"""Record which environment variables each way to start ranks sets: a deliberate command.

`docs/demos/torchrun/environment.py` prints the whole environment of every rank. It starts with
nothing but PATH, so whatever else a rank has was set by what started it. Each way is run twice: a
value that differs between the runs is recorded as null.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

from record_expected import reader_environment

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "docs" / "demos" / "torchrun" / "environment.py"
RECORD = ROOT / "docs" / "assets" / "launch_environment.json"

PATIENCE = 300
"""Seconds until a program that hangs is given up: far more than any takes."""

ADDRESS, PORT = "10.0.0.1", "29500"
"""What the pages type, and what stands in the record for the address and port really used."""

HOST_NAME = "HOSTNAME"
"""What stands in the record for the name of the machine."""

HELP = """用法：python scripts/record_environment.py

用三种方式各启动几个进程，把每个进程真正看到的环境变量记到
docs/assets/launch_environment.json。只在升级 torch 时运行，提交前看一遍 git diff。"""

Variables = dict[str, "str | None"]
"""The variables of one rank; None is a value that no two runs share."""

TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2")


def free_port() -> str:
    """Return a port that nobody listens on, below those that the system hands out by itself."""
    for port in range(20000, 30000):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return str(port)
    raise OSError("no port is free")


def start(*command: str, **environment: str) -> subprocess.Popen[str]:
    """Start the program in an environment of these variables and nothing but what a start needs."""
    return subprocess.Popen(
        [*command, str(PROGRAM)],
        cwd=tempfile.gettempdir(),
        env={**reader_environment(), **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def by_spawn() -> list[subprocess.Popen[str]]:
    """Let torch.multiprocessing start two ranks."""
    return [start(sys.executable)]


def by_torchrun() -> list[subprocess.Popen[str]]:
    """Let torchrun start two ranks."""
    return [start(*TORCHRUN)]


def by_hand() -> list[subprocess.Popen[str]]:
    """Start two ranks with the four variables that a rank needs to find the others."""
    told = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": PORT}
    return [start(sys.executable, RANK=str(rank), **told) for rank in range(2)]


def on_two_hosts() -> list[subprocess.Popen[str]]:
    """Let two torchruns start two ranks each, as if on two hosts."""
    meet = ("--nnodes=2", "--master-addr=127.0.0.1", f"--master-port={free_port()}")
    return [start(*TORCHRUN, *meet, f"--node-rank={host}") for host in range(2)]


WAYS: Mapping[str, Callable[[], list[subprocess.Popen[str]]]] = {
    "spawn": by_spawn,
    "torchrun": by_torchrun,
    "hand": by_hand,
    "two_hosts": on_two_hosts,
}
"""Name in the record -> what starts the ranks."""


def seen(way: str) -> list[dict[str, str]]:
    """Start ranks in one way and return the variables of each that it was given by its start.

    Raises:
        RuntimeError: a program failed.
    """
    programs = WAYS[way]()
    try:
        outputs = [program.communicate(timeout=PATIENCE) for program in programs]
    finally:
        for program in programs:
            program.kill()
    if any(program.returncode for program in programs):
        raise RuntimeError("\n".join(errors for _, errors in outputs))
    # Python itself adds LC_CTYPE where no language is set.
    own = {*reader_environment(), "LC_CTYPE"}
    ranks: dict[int, dict[str, str]] = {}
    for rank, name, value in re.findall(
        r"\[rank (\d+)\] (\w+)=(.*)", "".join(output for output, _ in outputs)
    ):
        variables = ranks.setdefault(int(rank), {})
        if name not in own:
            variables[name] = value
    if way == "two_hosts":
        for variables in ranks.values():
            variables.update(MASTER_ADDR=ADDRESS, MASTER_PORT=PORT)
    for variables in ranks.values():
        if variables.get("MASTER_ADDR") in {socket.gethostname(), socket.getfqdn()}:
            variables["MASTER_ADDR"] = HOST_NAME
    return [ranks[rank] for rank in sorted(ranks)]


def measure() -> dict[str, list[Variables]]:
    """Run every way twice and return what both runs agree on."""
    ways: dict[str, list[Variables]] = {}
    for way in WAYS:
        print(f"运行 {way}", flush=True)
        first, second = seen(way), seen(way)
        if [set(variables) for variables in first] != [set(variables) for variables in second]:
            raise RuntimeError(f"{way}: the two runs set different variables")
        ways[way] = [
            {name: one[name] if one[name] == other[name] else None for name in sorted(one)}
            for one, other in zip(first, second, strict=True)
        ]
    return ways


def main(arguments: list[str] | None = None) -> int:
    """Command line: measure and write the record."""
    parser = argparse.ArgumentParser(
        usage=argparse.SUPPRESS,
        description=HELP,
        add_help=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-h", "--help", action="help", help="显示这段说明")
    parser.parse_args(arguments)
    record = {
        "date": datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat(),
        "torch": version("torch").split("+")[0],
        "ways": measure(),
    }
    text = json.dumps(record, ensure_ascii=False, indent=2) + "\n"
    RECORD.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
