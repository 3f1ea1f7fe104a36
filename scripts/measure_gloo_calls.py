#!/usr/bin/env python3
"""Make every call of torch.distributed once on Gloo and record what comes of it.

Two ranks make each call on values whose result is worked out here without communication. Nothing
is looked up: a call is "right" only when both ranks got the right values, and a warning is one that
was really given. After each call the two ranks make sure that they still understand each other.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch.distributed.nn.functional as differentiable
import torch.multiprocessing as mp

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "assets" / "gloo_calls.json"

PATIENCE = timedelta(seconds=20)

RIGHT = "right"
WRONG = "wrong"

Values = Any
"""A number, a list of numbers, or a list of lists: what a call left on this rank."""

RANKS = 2


class Call(NamedTuple):
    """A call, and what it must leave on a rank.

    Attributes:
        group: where the page lists it.
        run: makes the call on a rank and returns what it left there.
        expected: what must be there, by rank.
    """

    group: str
    run: Callable[[int], Values]
    expected: tuple[Values, Values]


def mine(rank: int, size: int = 2) -> torch.Tensor:
    """Numbers that say whose they are: [1, 2] on rank 0, [11, 12] on rank 1."""
    return torch.arange(1.0, size + 1) + 10 * rank


def _filled(run: Callable[[torch.Tensor], object], size: int) -> Values:
    """Give a call an empty tensor and return what it put there."""
    output = torch.zeros(size)
    run(output)
    return output.tolist()


def _filled_list(run: Callable[[list[torch.Tensor]], object], *sizes: int) -> Values:
    outputs = [torch.zeros(size) for size in sizes]
    run(outputs)
    return [output.tolist() for output in outputs]


def _changed(run: Callable[[torch.Tensor], object], tensor: torch.Tensor) -> Values:
    """Give a call a tensor that it changes in place."""
    run(tensor)
    return tensor.tolist()


def _new(result: Any) -> Values:
    """What a functional call returned, waited for."""
    if isinstance(result, tuple | list):
        return [_new(part) for part in result]
    return functional.wait_tensor(result).tolist()


def _pair(rank: int) -> Values:
    if rank == 0:
        dist.send(mine(0), dst=1)
        return []
    return _filled(lambda output: dist.recv(output, src=0), 2)


def _pair_from_anyone(rank: int) -> Values:
    if rank == 0:
        dist.send(mine(0), dst=1)
        return []
    return _filled(lambda output: dist.recv(output), 2)


def _pair_at_once(rank: int) -> Values:
    output = torch.zeros(2)
    works = [dist.isend(mine(rank), dst=1 - rank), dist.irecv(output, src=1 - rank)]
    for work in works:
        assert work is not None
        work.wait()
    return output.tolist()


def _batch(rank: int) -> Values:
    output = torch.zeros(2)
    operations = [
        dist.P2POp(dist.isend, mine(rank), 1 - rank),
        dist.P2POp(dist.irecv, output, 1 - rank),
    ]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    return output.tolist()


def _pair_of_objects(rank: int) -> Values:
    if rank == 0:
        dist.send_object_list([{"step": 7}], dst=1)
        return []
    objects: list[Any] = [None]
    dist.recv_object_list(objects, src=0)
    return objects


def _objects(run: Callable[[list[Any]], object], size: int) -> Values:
    objects: list[Any] = [None] * size
    run(objects)
    return objects


def _changed_objects(rank: int) -> Values:
    objects: list[Any] = [{"from": rank}]
    dist.broadcast_object_list(objects, src=0)
    return objects


def _gathered_list(rank: int) -> list[torch.Tensor] | None:
    return [torch.zeros(2) for _ in range(RANKS)] if rank == 0 else None


def _gather(rank: int) -> Values:
    outputs = _gathered_list(rank)
    dist.gather(mine(rank), outputs, dst=0)
    return [output.tolist() for output in outputs or ()]


def _gather_objects(rank: int) -> Values:
    objects: list[Any] | None = [None] * RANKS if rank == 0 else None
    dist.gather_object({"rank": rank}, objects, dst=0)
    return objects or []


def _scatter(output: torch.Tensor, rank: int) -> None:
    dist.scatter(output, [mine(0), mine(1)] if rank == 0 else None, src=0)


def _scatter_objects(objects: list[Any], rank: int) -> None:
    dist.scatter_object_list(objects, [{"to": 0}, {"to": 1}] if rank == 0 else None, src=0)


def _reduce(rank: int) -> Values:
    tensor = mine(rank)
    dist.reduce(tensor, dst=0)
    return tensor.tolist() if rank == 0 else []


def _reduce_new(rank: int) -> Values:
    result = differentiable.reduce(mine(rank), 0)
    return result.tolist() if rank == 0 else []


def _gather_new(rank: int) -> Values:
    result = differentiable.gather(mine(rank), 0)
    return [part.tolist() for part in result] if rank == 0 else []


def _all_reduce_coalesced(rank: int) -> Values:
    tensors = [mine(rank), mine(rank, 1)]
    dist.all_reduce_coalesced(tensors)
    return [tensor.tolist() for tensor in tensors]


def _coalescing(rank: int) -> Values:
    tensors = [mine(rank), mine(rank, 1)]
    with dist._coalescing_manager():
        for tensor in tensors:
            dist.all_reduce(tensor)
    return [tensor.tolist() for tensor in tensors]


def _all_gather_coalesced(rank: int) -> Values:
    outputs = [[torch.zeros(2), torch.zeros(1)] for _ in range(RANKS)]
    dist.all_gather_coalesced(outputs, [mine(rank), mine(rank, 1)])
    return [[part.tolist() for part in output] for output in outputs]


def _all_reduce_sparse(rank: int) -> Values:
    tensor = torch.sparse_coo_tensor([[rank]], [1.0 + rank], (2,))
    dist.all_reduce(tensor)
    return tensor.to_dense().tolist()


def _barrier(rank: int) -> Values:
    dist.barrier()
    return []


def _monitored_barrier(rank: int) -> Values:
    dist.monitored_barrier(timeout=PATIENCE)
    return []


def everyone() -> dist.ProcessGroup:
    """The group of all ranks, which a functional call must be given."""
    world = dist.group.WORLD
    assert world is not None
    return world


ONES = [1.0, 2.0]
ELEVENS = [11.0, 12.0]
SUM = [12.0, 14.0]

POINT = "点对点"
COLLECTIVE = "集合通信"
OBJECTS = "任意 Python 对象"
SYNCHRONISE = "同步"
FUNCTIONAL = "函数式"
OLD = "旧名和要弃用的"


def _both(value: Values) -> tuple[Values, Values]:
    return value, value


CALLS: dict[str, Call] = {
    # ----------------------------------------------------------------------- point to point
    "send / recv": Call(POINT, _pair, ([], ONES)),
    "recv，不指定 src": Call(POINT, _pair_from_anyone, ([], ONES)),
    "isend / irecv": Call(POINT, _pair_at_once, (ELEVENS, ONES)),
    "batch_isend_irecv": Call(POINT, _batch, (ELEVENS, ONES)),
    # --------------------------------------------------------------------------- collectives
    "broadcast": Call(
        COLLECTIVE,
        lambda rank: _changed(lambda tensor: dist.broadcast(tensor, src=0), mine(rank)),
        _both(ONES),
    ),
    "scatter": Call(
        COLLECTIVE,
        lambda rank: _filled(lambda output: _scatter(output, rank), 2),
        (ONES, ELEVENS),
    ),
    "gather": Call(COLLECTIVE, _gather, ([ONES, ELEVENS], [])),
    "reduce": Call(COLLECTIVE, _reduce, (SUM, [])),
    "all_gather": Call(
        COLLECTIVE,
        lambda rank: _filled_list(lambda outputs: dist.all_gather(outputs, mine(rank)), 2, 2),
        _both([ONES, ELEVENS]),
    ),
    "all_gather，不等长": Call(
        COLLECTIVE,
        lambda rank: _filled_list(
            lambda outputs: dist.all_gather(outputs, mine(rank, rank + 1)), 1, 2
        ),
        _both([[1.0], ELEVENS]),
    ),
    "all_gather_single": Call(
        COLLECTIVE,
        lambda rank: _filled(lambda output: dist.all_gather_single(output, mine(rank)), 4),
        _both([*ONES, *ELEVENS]),
    ),
    "reduce_scatter": Call(
        COLLECTIVE,
        lambda rank: _filled(
            lambda output: dist.reduce_scatter(output, list(mine(rank).split(1))), 1
        ),
        ([12.0], [14.0]),
    ),
    "reduce_scatter，不等长": Call(
        COLLECTIVE,
        lambda rank: _filled(
            lambda output: dist.reduce_scatter(output, list(mine(rank, 3).split([1, 2]))), rank + 1
        ),
        ([12.0], [14.0, 16.0]),
    ),
    "reduce_scatter_single": Call(
        COLLECTIVE,
        lambda rank: _filled(lambda output: dist.reduce_scatter_single(output, mine(rank)), 1),
        ([12.0], [14.0]),
    ),
    "all_reduce": Call(COLLECTIVE, lambda rank: _changed(dist.all_reduce, mine(rank)), _both(SUM)),
    "all_reduce，稀疏张量": Call(COLLECTIVE, _all_reduce_sparse, _both([1.0, 2.0])),
    "all_reduce，合成一批": Call(COLLECTIVE, _coalescing, _both([SUM, [12.0]])),
    "all_to_all": Call(
        COLLECTIVE,
        lambda rank: _filled_list(
            lambda outputs: dist.all_to_all(outputs, list(mine(rank).split(1))), 1, 1
        ),
        ([[1.0], [11.0]], [[2.0], [12.0]]),
    ),
    "all_to_all，不等长": Call(
        COLLECTIVE,
        lambda rank: _filled_list(
            lambda outputs: dist.all_to_all(outputs, list(mine(rank, 3).split([1, 2]))),
            *([1, 1] if rank == 0 else [2, 2]),
        ),
        ([[1.0], [11.0]], [[2.0, 3.0], [12.0, 13.0]]),
    ),
    "all_to_all_single": Call(
        COLLECTIVE,
        lambda rank: _filled(lambda output: dist.all_to_all_single(output, mine(rank)), 2),
        ([1.0, 11.0], [2.0, 12.0]),
    ),
    "all_to_all_single，不等长": Call(
        COLLECTIVE,
        lambda rank: _filled(
            lambda output: dist.all_to_all_single(output, mine(rank, 3), [rank + 1] * 2, [1, 2]),
            2 * (rank + 1),
        ),
        ([1.0, 11.0], [2.0, 3.0, 12.0, 13.0]),
    ),
    # --------------------------------------------------------------------------- synchronise
    "barrier": Call(SYNCHRONISE, _barrier, _both([])),
    "monitored_barrier": Call(SYNCHRONISE, _monitored_barrier, _both([])),
    # ------------------------------------------------------------------------------- objects
    "send_object_list / recv_object_list": Call(OBJECTS, _pair_of_objects, ([], [{"step": 7}])),
    "broadcast_object_list": Call(OBJECTS, _changed_objects, _both([{"from": 0}])),
    "scatter_object_list": Call(
        OBJECTS,
        lambda rank: _objects(lambda objects: _scatter_objects(objects, rank), 1),
        ([{"to": 0}], [{"to": 1}]),
    ),
    "gather_object": Call(OBJECTS, _gather_objects, ([{"rank": 0}, {"rank": 1}], [])),
    "all_gather_object": Call(
        OBJECTS,
        lambda rank: _objects(lambda objects: dist.all_gather_object(objects, rank), RANKS),
        _both([0, 1]),
    ),
    # ---------------------------------------------------------------------------- functional
    "_functional_collectives.broadcast": Call(
        FUNCTIONAL, lambda rank: _new(functional.broadcast(mine(rank), 0, everyone())), _both(ONES)
    ),
    "_functional_collectives.all_gather_single": Call(
        FUNCTIONAL,
        lambda rank: _new(functional.all_gather_single(mine(rank), 0, everyone())),
        _both([*ONES, *ELEVENS]),
    ),
    "_functional_collectives.reduce_scatter_single": Call(
        FUNCTIONAL,
        lambda rank: _new(functional.reduce_scatter_single(mine(rank), "sum", 0, everyone())),
        ([12.0], [14.0]),
    ),
    "_functional_collectives.all_reduce": Call(
        FUNCTIONAL,
        lambda rank: _new(functional.all_reduce(mine(rank), "sum", everyone())),
        _both(SUM),
    ),
    "_functional_collectives.all_to_all_single": Call(
        FUNCTIONAL,
        lambda rank: _new(functional.all_to_all_single(mine(rank), None, None, everyone())),
        ([1.0, 11.0], [2.0, 12.0]),
    ),
    "nn.functional.scatter": Call(
        FUNCTIONAL,
        lambda rank: differentiable.scatter([mine(0), mine(1)], 0).tolist(),
        (ONES, ELEVENS),
    ),
    "nn.functional.gather": Call(FUNCTIONAL, _gather_new, ([ONES, ELEVENS], [])),
    "nn.functional.reduce": Call(FUNCTIONAL, _reduce_new, (SUM, [])),
    # ----------------------------------------------------------------------------- old names
    "all_gather_into_tensor": Call(
        OLD,
        lambda rank: _filled(lambda output: dist.all_gather_into_tensor(output, mine(rank)), 4),
        _both([*ONES, *ELEVENS]),
    ),
    "_all_gather_base": Call(
        OLD,
        lambda rank: _filled(lambda output: dist._all_gather_base(output, mine(rank)), 4),
        _both([*ONES, *ELEVENS]),
    ),
    "all_gather_coalesced": Call(
        OLD,
        _all_gather_coalesced,
        _both([[ONES, [1.0]], [ELEVENS, [11.0]]]),
    ),
    "reduce_scatter_tensor": Call(
        OLD,
        lambda rank: _filled(lambda output: dist.reduce_scatter_tensor(output, mine(rank)), 1),
        ([12.0], [14.0]),
    ),
    "_reduce_scatter_base": Call(
        OLD,
        lambda rank: _filled(lambda output: dist._reduce_scatter_base(output, mine(rank)), 1),
        ([12.0], [14.0]),
    ),
    "all_reduce_coalesced": Call(OLD, _all_reduce_coalesced, _both([SUM, [12.0]])),
    "_functional_collectives.all_gather_tensor": Call(
        OLD,
        lambda rank: _new(functional.all_gather_tensor(mine(rank), 0, everyone())),
        _both([*ONES, *ELEVENS]),
    ),
    "_functional_collectives.reduce_scatter_tensor": Call(
        OLD,
        lambda rank: _new(functional.reduce_scatter_tensor(mine(rank), "sum", 0, everyone())),
        ([12.0], [14.0]),
    ),
    "nn.functional.all_gather": Call(
        OLD,
        lambda rank: [part.tolist() for part in differentiable.all_gather(mine(rank))],
        _both([ONES, ELEVENS]),
    ),
    "nn.functional.reduce_scatter": Call(
        OLD,
        lambda rank: differentiable.reduce_scatter(
            torch.zeros(1), list(mine(rank).split(1))
        ).tolist(),
        ([12.0], [14.0]),
    ),
    "nn.functional.all_reduce": Call(
        OLD, lambda rank: differentiable.all_reduce(mine(rank)).tolist(), _both(SUM)
    ),
    "nn.functional.all_to_all_single": Call(
        OLD,
        lambda rank: differentiable.all_to_all_single(torch.zeros(2), mine(rank)).tolist(),
        ([1.0, 11.0], [2.0, 12.0]),
    ),
}
"""Every call, in the order of the page; a name is what follows ``torch.distributed.``."""


def attempt(call: Call, rank: int) -> dict[str, str]:
    """Make a call on this rank: RIGHT, WRONG with what came out, or the error; and its warning."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            left = call.run(rank)
            result = RIGHT if left == call.expected[rank] else f"{WRONG}: {left}"
        except (RuntimeError, ValueError, TypeError, NotImplementedError) as error:
            result = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    report = {"result": result}
    future = [str(one.message) for one in given if one.category is FutureWarning]
    if future:
        report["warning"] = future[0]
    return report


def _worker(rank: int, port: int, names: list[str]) -> None:
    store = dist.TCPStore("127.0.0.1", port, timeout=PATIENCE, use_libuv=False)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS, store=store, timeout=PATIENCE)
    report = {}
    for name in names:
        report[name] = attempt(CALLS[name], rank)
        check = torch.ones(1)
        dist.all_reduce(check)
        assert check.item() == RANKS, f"{name} left the ranks out of step"
    store.set(f"report/{rank}", json.dumps(report))
    dist.destroy_process_group()


def measure(names: list[str] | None = None) -> dict[str, dict[str, str]]:
    """Name -> what came of it. Both ranks must agree.

    Args:
        names: the calls to make, all by default.
    """
    wanted = list(CALLS) if names is None else names
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(_worker, args=(store.port, wanted), nprocs=RANKS, join=True)
    one, two = (json.loads(store.get(f"report/{rank}")) for rank in range(RANKS))
    for name in wanted:
        # An error may tell each rank its own sizes; the first rank's are recorded.
        alike = [re.sub(r"\d+", "N", json.dumps(report[name])) for report in (one, two)]
        assert alike[0] == alike[1], f"{name}: {one[name]} on rank 0, {two[name]} on rank 1"
    measured: dict[str, dict[str, str]] = one
    return measured


def record() -> dict[str, Any]:
    """What is written to the file."""
    measured = measure()
    calls = [{"name": name, "group": CALLS[name].group, **measured[name]} for name in CALLS]
    return {"date": date.today().isoformat(), "torch": torch.__version__, "calls": calls}


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description="在 Gloo 上把 torch.distributed 的调用都试一遍，写入站点的数据文件。"
    )
    parser.add_argument("--output", type=Path, default=RESULTS, help="写到哪个文件")
    options = parser.parse_args(arguments)
    data = record()
    for call in data["calls"]:
        print(f"{call['name']:<48} {call['result']}")
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    options.output.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
