"""Runs a demo as a reader does, and watches that nothing of it outlives it."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from record_expected import by_rank, command_of, reader_environment

REHEARSAL = Path(__file__).with_name("rehearsal.py")

PATIENCE = 300
"""Seconds until a run that hangs is given up and ended: far more than any run takes."""


class Run(NamedTuple):
    """How a run ended.

    Attributes:
        returncode: of the process that the reader started.
        lines: what it printed, ranks in order.
        errors: what it wrote on stderr.
        left: processes of the run that were still there after it ended.
    """

    returncode: int
    lines: list[str]
    errors: str
    left: list[int]

    def check(self) -> list[str]:
        """Return the lines of a run that must have ended well."""
        assert self.returncode == 0, self.errors
        assert not self.left
        return self.lines


class RunningDemo:
    """A demo, saved in an empty folder and started with the command that its first line tells.

    It runs in a process group of its own, so that all its processes can be found.

    Args:
        folder: a new one, to run in.
        name: of the file.
        text: of the file.
        rehearsed: run it through rehearsal.py, which is quicker.
        environment: further variables.
    """

    def __init__(
        self, folder: Path, name: str, text: str, rehearsed: bool = False, **environment: str
    ) -> None:
        folder.mkdir()
        (folder / name).write_text(text, encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, str(REHEARSAL), name] if rehearsed else command_of(name, text),
            cwd=folder,
            env={**reader_environment(), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )

    def finish(self) -> Run:
        """Wait until it has ended by itself.

        Raises:
            subprocess.TimeoutExpired: it did not.
        """
        try:
            output, errors = self.process.communicate(timeout=PATIENCE)
            left = self._left_behind()
        finally:
            if self._members():
                os.killpg(self.process.pid, signal.SIGKILL)
        return Run(self.process.returncode, by_rank(output), errors, left)

    def _left_behind(self) -> list[int]:
        """The members of its process group that do not go away."""
        for _ in range(100):
            if not self._members():
                return []
            # Python's resource tracker ends a moment after the process it works for.
            time.sleep(0.1)
        return self._members()

    def _members(self) -> list[int]:
        """The processes of its group. A zombie has ended; only its parent has not noticed yet."""
        return [
            pid
            for pid, group, state in process_table()
            if group == self.process.pid and not state.startswith("Z")
        ]


def process_table() -> list[tuple[int, int, str]]:
    """Every process of the machine: its id, its process group, its state ("Z" for a zombie)."""
    if not Path("/proc/self/stat").exists():
        command = ["ps", "-A", "-o", "pid=,pgid=,stat="]
        table = subprocess.run(command, capture_output=True, encoding="ascii", check=True).stdout
        rows = [line.split() for line in table.splitlines()]
        return [(int(pid), int(group), state) for pid, group, state in rows]
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            # pid (name) state parent group ...; the name may hold spaces and brackets.
            state, _, group = file.read_text(encoding="utf-8").rpartition(")")[2].split()[:3]
        except OSError:
            continue  # It ended while we were looking.
        found.append((int(file.parent.name), int(group), state))
    return found


def run_demo(folder: Path, name: str, text: str, **environment: str) -> Run:
    """Start a demo and wait for its end."""
    return RunningDemo(folder, name, text, False, **environment).finish()


def rehearse(folder: Path, name: str, text: str) -> Run:
    """Run a demo through rehearsal.py, where it does not matter how its ranks are started."""
    return RunningDemo(folder, name, text, rehearsed=True).finish()


def with_fault(text: str, rank: int, statement: str) -> str:
    """Return the demo with a statement that one rank executes right after it has joined the group.

    Args:
        text: the demo.
        rank: which rank.
        statement: one line of Python; `os`, `signal`, `sys` and `time` are there.
    """
    end = next(
        node.end_lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and "init_process_group" in ast.unparse(node)
    )
    assert end is not None
    lines = text.splitlines()
    fault = ["    import os, signal, sys, time", f"    if rank == {rank}:", f"        {statement}"]
    return "\n".join([*lines[:end], *fault, *lines[end:]]) + "\n"


def replaced(text: str, old: str, new: str) -> str:
    """Return the text with one passage changed, which must be there once."""
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the demo"
    return text.replace(old, new)
