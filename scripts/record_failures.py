#!/usr/bin/env python3
"""Record what the failures of docs/demos/failures/ print: a deliberate command, never a build step.

Beside what a file prints, the lines of stderr are kept that an entry promises; what differs from
run to run is masked. A wrong value without an error has to come out twice. Of the file that hangs,
what py-spy and its own alarm show is recorded.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import failures
from record_expected import PATIENCE, by_rank, reader_environment

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

HANGS = "hang.py"
NOT_CALLED = "missing_call.py"

DETAIL = {"TORCH_DISTRIBUTED_DEBUG": "DETAIL"}


def run(file: str, **environment: str) -> tuple[str, str]:
    """Run a file alone in an empty folder and return what it wrote on stdout and on stderr."""
    source = DOCS / failures.FOLDER / file
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, file).write_bytes(source.read_bytes())
        result = subprocess.run(
            [sys.executable, file],
            cwd=folder,
            env={**reader_environment(), **environment},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    return result.stdout, result.stderr


def shown(output: str, errors: str, entries: Iterable[failures.Loud]) -> str:
    """Return what of a run the page shows: its lines by rank, then the telling ones of stderr."""
    lines = [line.rstrip() for line in by_rank(failures.masked(output))]
    telling = failures.telling(failures.masked(errors), entries)
    new = [line for line in dict.fromkeys(telling) if not any(line in kept for kept in lines)]
    return "\n".join([*lines, *new]) + "\n"


def stack_of(dump: str) -> list[str]:
    """Return the calls of the main thread in what py-spy dumped, the innermost first.

    They end where the program begins: what started the process is the same everywhere.
    """
    calls: list[str] = []
    for line in dump.partition('"MainThread"')[2].splitlines()[1:]:
        if not line.startswith("    "):
            break
        calls.append(line.strip())
        if line.strip().startswith("worker "):
            break
    return calls


def spy(pid: int, *before: str) -> subprocess.CompletedProcess[str]:
    """Let py-spy dump the calls of a process.

    Args:
        pid: of the process.
        before: what its command begins with, such as "sudo".
    """
    command = [*before, str(Path(sysconfig.get_path("scripts"), "py-spy"))]
    command += ["dump", "--pid", str(pid)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def await_stack(pid: int, *before: str) -> list[str]:
    """Return the calls of a rank of the file that hangs, once it hangs.

    A rank says who it is a moment before, and py-spy may look while the interpreter is at work.
    """
    for _ in range(40):
        calls = stack_of(spy(pid, *before).stdout)
        if calls and calls[0].startswith(("all_reduce ", "load_batch ")):
            return calls
        time.sleep(0.25)
    raise TimeoutError(f"{HANGS}：进程 {pid} 一直没有停在该停的地方")


def watch_the_hang() -> dict[str, str]:
    """Run the file that hangs; return what py-spy shows of it and what its own alarm prints."""
    source = DOCS / failures.FOLDER / HANGS
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, HANGS).write_bytes(source.read_bytes())
        hanging = subprocess.Popen(
            [sys.executable, HANGS],
            cwd=folder,
            env=reader_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        assert hanging.stdout
        pids = sorted(hanging.stdout.readline() for _ in range(2))
        shown = []
        for rank, line in enumerate(pids):
            shown.append(f"rank {rank}:")
            shown += [f"    {call}" for call in await_stack(int(line.split()[-1]))]
        hanging.terminate()
        hanging.communicate(timeout=PATIENCE)
    _, errors = run(HANGS)
    alarm = []
    for line in errors.splitlines():
        line = re.sub(r'(?<=")/\S*/(?=torch/|hang\.py)', "…/", line)
        if re.match(r"Timeout|Thread 0x|  File \"…/.* line \d+ in (?!_wrap)", line):
            alarm.append(re.sub(r"0x[0-9a-f]+", "0x…", line))
    return {"hang.py_spy": "\n".join(shown) + "\n", "hang.faulthandler": "\n".join(alarm) + "\n"}


def write(name: str, text: str) -> None:
    """Write what is shown under a name, and say so."""
    folder = DOCS / failures.FOLDER / "expected"
    folder.mkdir(exist_ok=True)
    (folder / f"{name.removesuffix('.py')}.txt").write_text(text, encoding="utf-8", newline="\n")
    print(f"{name}：已记录", flush=True)


def main(names: list[str]) -> int:
    """Record the files that are named, or all.

    Returns:
        0; 1 when two runs of a silent failure differ.
    """
    loud = failures.loud(DOCS)
    silent = {entry.file for entry in failures.silent(DOCS)}
    names = names or sorted({file for entry in loud for file in entry.files} | silent | {HANGS})
    wrong = []

    def record(name: str) -> None:
        entries = [entry for entry in loud if name in entry.files]
        text = shown(*run(name), entries)
        if name in silent and shown(*run(name), entries) != text:
            wrong.append(name)
            return
        write(name, text)
        if name == NOT_CALLED:
            write("missing_call.detail", shown(*run(name, **DETAIL), entries))

    if HANGS in names:
        for name, text in watch_the_hang().items():
            write(name, text)
        names.remove(HANGS)
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(record, names))
    for name in wrong:
        print(f"{name}：两次运行的输出不同，没有记录", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
