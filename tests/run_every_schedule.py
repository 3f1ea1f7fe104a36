"""Run every algorithm of the registry on real processes; one JSON line per run on standard output.

Called by test_run_schedule.py as a program of its own, with the numbers of ranks to try. The same
processes serve all runs, because starting them is what takes the time: for a smaller number of
ranks the last ones sit out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import schedule_runner
from collectives.algorithms import REGISTRY
from collectives.cost import count_cost
from collectives.primitives import PRIMITIVES
from collectives.prove import prove

ELEMENTS = 1000
"""M; not a multiple of most block counts, so that rounding up is exercised too."""


def jobs(n: int) -> Iterator[tuple[str, int, dict[str, int], str, str]]:
    """(algorithm, root, parameters, dtype, op) for every run at N ranks."""
    for algorithm in REGISTRY.values():
        if algorithm.valid_ranks(range(n, n + 1)):
            for parameters in algorithm.combinations(n):
                root = n - 1 if algorithm.primitive_entry.rooted else 0
                yield algorithm.name, root, parameters, "float32", "sum"
    if n == 4:
        for algorithm in REGISTRY.values():
            if algorithm.opens:
                reduces = PRIMITIVES[algorithm.primitive].reduces
                for dtype in ("float64", "int64"):
                    for op in schedule_runner.REDUCTIONS if reduces else ("sum",):
                        yield algorithm.name, 0, {}, dtype, op


def worker(rank: int, sizes: list[int], port: int) -> None:
    """One process: be a rank of every group that is large enough."""
    torch.set_num_threads(1)
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    for n in sizes:
        if rank < n:
            run_all(rank, n, dist.PrefixStore(f"{n} ranks", store))


def run_all(rank: int, n: int, store: dist.Store) -> None:
    """One rank: run all jobs; rank 0 prints the verdicts of all ranks."""
    timeout = timedelta(seconds=60)
    dist.init_process_group("gloo", rank=rank, world_size=n, store=store, timeout=timeout)
    for name, root, parameters, dtype, op in jobs(n):
        proved = prove(REGISTRY[name].schedule(n, root, **parameters))
        runner = schedule_runner.Runner(proved, rank, ELEMENTS, schedule_runner.DTYPES[dtype], op)
        schedule_runner.fill(runner, seed=n)
        expected = schedule_runner.built_in_call(runner)()
        report = runner.run()
        wrong = schedule_runner.difference(runner, expected)
        tampered = None
        if rank == root:
            output = next(b.name for b in proved.schedule.buffers if b.role in ("output", "inout"))
            runner.buffers[output][-1] += 1
            tampered = schedule_runner.difference(runner, expected)
        verdicts: list[Any] = [None] * n
        dist.gather_object((wrong, tampered, report.bytes_sent), verdicts if rank == 0 else None)
        if rank == 0:
            element = torch.empty((), dtype=schedule_runner.DTYPES[dtype]).element_size()
            size = proved.schedule.blocks * runner.block_elements * element
            cost = count_cost(proved.schedule)
            print(
                json.dumps(
                    {
                        "ranks": n,
                        "run": [name, root, parameters, dtype, op],
                        "wrong": [wrong for wrong, _, _ in verdicts if wrong],
                        "sees_tampering": bool(verdicts[root][1]),
                        "total_as_counted": sum(sent for _, _, sent in verdicts)
                        == cost.total_sent * size,
                        "most_as_counted": max(sent for _, _, sent in verdicts)
                        == cost.max_sent * size,
                    }
                ),
                flush=True,
            )
    dist.destroy_process_group()


if __name__ == "__main__":
    sizes = [int(argument) for argument in sys.argv[1:]]
    parent = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(sizes, parent.port), nprocs=max(sizes), join=True)
