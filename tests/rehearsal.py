"""Run a demo with its ranks forked from this process instead of started anew.

    python rehearsal.py <demo>.py

What a demo prints is the same, and torch is imported once instead of once per rank, which is what
takes most of the time. For demos that a test has changed; a demo as a reader has it is started as
a reader starts it.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from typing import Any

import torch.multiprocessing as mp


def spawn(
    worker: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True
) -> object:
    """Stand in for `torch.multiprocessing.spawn`."""
    return mp.start_processes(worker, args=args, nprocs=nprocs, join=join, start_method="fork")


if __name__ == "__main__":
    mp.spawn = spawn
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
