"""What two ranks get that use a primitive wrongly; test_traps.py runs it and reads the JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def mine(rank: int, floating: float, whole: int, count: int = 2) -> torch.Tensor:
    """Numbers of another type on each rank."""
    if rank == 0:
        return torch.full((count,), floating)
    return torch.full((count,), whole, dtype=torch.int32)


def turned(rank: int) -> torch.Tensor:
    """The same six numbers in another shape on each rank."""
    return torch.arange(6.0).reshape((2, 3) if rank == 0 else (3, 2))


def room(like: torch.Tensor) -> list[torch.Tensor]:
    return [torch.zeros_like(like) for _ in range(2)]


def broadcast_shape(rank: int) -> torch.Tensor:
    tensor = turned(0) if rank == 0 else torch.zeros(3, 2)
    dist.broadcast(tensor, 0)
    return tensor


def broadcast_room(rank: int) -> torch.Tensor:
    tensor = torch.arange(4.0) if rank == 0 else torch.full((6,), -1.0)
    dist.broadcast(tensor, 0)
    return tensor


def scatter_types(rank: int) -> torch.Tensor:
    parts = [torch.full((2,), part + 1.0) for part in range(2)] if rank == 0 else None
    output = torch.zeros(2) if rank == 0 else torch.zeros(2, dtype=torch.int32)
    dist.scatter(output, parts, 0)
    return output


def scatter_in_place(rank: int) -> torch.Tensor:
    full = torch.arange(4.0)
    parts = list(full.chunk(2)) if rank == 0 else None
    dist.scatter(parts[1] if parts else torch.zeros(2), parts, 0)
    return full


def gather_types(rank: int) -> list[torch.Tensor] | None:
    parts = room(torch.zeros(2)) if rank == 0 else None
    dist.gather(mine(rank, 1.0, 7), parts, 0)
    return parts


def gather_shape(rank: int) -> list[torch.Tensor] | None:
    parts = room(turned(0)) if rank == 0 else None
    dist.gather(turned(rank), parts, 0)
    return parts


def reduce_types(rank: int) -> torch.Tensor:
    tensor = mine(rank, 1.0, 2, count=4)
    dist.reduce(tensor, 0)
    return tensor


def reduce_shape(rank: int) -> torch.Tensor:
    tensor = turned(rank)
    dist.reduce(tensor, 0)
    return tensor


def allgather_types(rank: int) -> list[torch.Tensor]:
    tensor = mine(rank, 1.0, 7)
    parts = room(tensor)
    dist.all_gather(parts, tensor)
    return parts


def allgather_shape(rank: int) -> list[torch.Tensor]:
    parts = room(turned(rank))
    dist.all_gather(parts, turned(rank))
    return parts


def allgather_in_place(rank: int) -> list[torch.Tensor]:
    parts = room(torch.zeros(2))
    parts[rank] = torch.full((2,), rank + 1.0)
    dist.all_gather(parts, parts[rank])
    return parts


def allgather_whole_for_list(rank: int) -> None:
    dist.all_gather(torch.zeros(2, 2), torch.zeros(2))


def allgather_single_square(rank: int) -> None:
    dist.all_gather_single(torch.zeros(2, 2), torch.zeros(2))


def allgather_single_long(rank: int) -> torch.Tensor:
    output = torch.zeros(4)
    dist.all_gather_single(output, torch.full((2,), rank + 1.0))
    return output


def reducescatter_types(rank: int) -> torch.Tensor:
    parts = [mine(rank, 0.0 + part, 10 + part) for part in range(2)]
    output = torch.zeros_like(parts[0])
    dist.reduce_scatter(output, parts)
    return output


def reducescatter_uneven(rank: int) -> torch.Tensor:
    output = torch.zeros(2 + rank)
    dist.reduce_scatter(output, [torch.full((2 + p,), 10.0 * rank + p) for p in range(2)])
    return output


def reducescatter_in_place(rank: int) -> list[torch.Tensor]:
    parts = [torch.full((2,), 10.0 * rank + part) for part in range(2)]
    dist.reduce_scatter(parts[rank], parts)
    return parts


def reducescatter_whole_for_list(rank: int) -> None:
    dist.reduce_scatter(torch.zeros(2), torch.zeros(4))


def allreduce_shape(rank: int) -> torch.Tensor:
    tensor = turned(rank)
    dist.all_reduce(tensor)
    return tensor


def alltoall_types(rank: int) -> torch.Tensor:
    tensor = mine(rank, 1.0, 7, count=4)
    output = torch.zeros_like(tensor)
    dist.all_to_all_single(output, tensor)
    return output


def alltoall_whole_for_list(rank: int) -> None:
    dist.all_to_all(torch.zeros(4), torch.zeros(4))


CASES: list[Callable[[int], object]] = [
    value
    for name, value in list(globals().items())
    if name.split("_")[0]
    in (
        "broadcast",
        "scatter",
        "gather",
        "reduce",
        "allgather",
        "reducescatter",
        "allreduce",
        "alltoall",
    )
]


def plain(result: object) -> object:
    """Tensors as lists of numbers."""
    if isinstance(result, torch.Tensor):
        return result.tolist()
    return [plain(part) for part in result] if isinstance(result, list) else result


def worker(rank: int, port: int) -> None:
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    for case in CASES:
        try:
            result = plain(case(rank))
        except (RuntimeError, TypeError) as error:
            result = f"{type(error).__name__}: {error}"
        # One write for a line: both ranks share the pipe.
        sys.stdout.write(json.dumps([case.__name__, rank, result]) + "\n")
        sys.stdout.flush()
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    server = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(server.port,), nprocs=2)
