"""Run a demo with its ranks forked from a process that has imported torch already.

    python rehearsal.py <demo>.py

What a demo prints is the same, and torch is imported twice instead of once per rank, which is what
takes most of the time. For demos that a test has changed, and for those whose frame another test
starts as a reader does.
"""

from __future__ import annotations

import multiprocessing
import runpy
import sys
from collections.abc import Callable
from multiprocessing.forkserver import ensure_running
from typing import Any


def spawn(
    worker: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True
) -> object:
    """Stand in for `torch.multiprocessing.spawn`."""
    from torch.multiprocessing import start_processes

    return start_processes(worker, args=args, nprocs=nprocs, join=join, start_method="forkserver")


if __name__ == "__main__":
    # Not from this process: it has threads by then, and a fork of threads may never get going.
    multiprocessing.set_forkserver_preload(["torch.distributed", "torch.multiprocessing"])
    ensure_running()
    import torch.multiprocessing

    torch.multiprocessing.spawn = spawn
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
