"""Carry out a proved schedule on real processes, with point-to-point calls on Gloo.

Every process is one rank. A schedule is compiled once per rank into sends, receives and local
moves for each round; running it then allocates nothing. The rounds are exactly those of the
schedule: all sends and receives of a round are posted together, and what a round reads is what was
there before the round.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

from collectives.primitives import PRIMITIVES
from collectives.prove import ProvedSchedule
from collectives.schedule import COPY, Round, Transfer

DTYPES: dict[str, torch.dtype] = {
    "float32": torch.float32,
    "float64": torch.float64,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "int32": torch.int32,
    "int64": torch.int64,
    "int8": torch.int8,
    "uint8": torch.uint8,
}

REDUCTIONS: dict[str, Any] = {
    "sum": dist.ReduceOp.SUM,
    "max": dist.ReduceOp.MAX,
    "min": dist.ReduceOp.MIN,
    "prod": dist.ReduceOp.PRODUCT,
}

_COMBINE: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "sum": lambda held, value: held.add_(value),
    "max": lambda held, value: torch.maximum(held, value, out=held),
    "min": lambda held, value: torch.minimum(held, value, out=held),
    "prod": lambda held, value: held.mul_(value),
}

Buffers = dict[str, torch.Tensor]


class Report(NamedTuple):
    """What one rank did: remote messages and bytes sent, and the seconds the rounds took."""

    messages: int
    bytes_sent: int
    seconds: float


@dataclass
class _Message:
    """All transfers between two ranks in one round, packed where they are more than one piece."""

    peer: int
    pieces: list[tuple[torch.Tensor, str]] = field(default_factory=list)
    staging: torch.Tensor | None = None


@dataclass
class _Step:
    """One round of one rank, over tensors that stay the same from run to run."""

    sends: list[_Message] = field(default_factory=list)
    receives: list[_Message] = field(default_factory=list)
    moves: list[tuple[torch.Tensor, torch.Tensor, str]] = field(default_factory=list)
    late_moves: list[tuple[torch.Tensor, torch.Tensor, str, torch.Tensor]] = field(
        default_factory=list
    )


class Runner:
    """A schedule compiled for one rank of the default process group.

    Attributes:
        buffers: the rank's buffers by name, one-dimensional, ``blocks * block_elements`` long.
        block_elements: elements per block of M.
    """

    def __init__(
        self,
        proved: ProvedSchedule,
        rank: int,
        elements: int,
        dtype: torch.dtype,
        op: str = "sum",
    ) -> None:
        """Compile.

        Args:
            proved: the schedule.
            rank: which rank this process is.
            elements: the size of M in elements; rounded up so that blocks are equal.
            dtype: of all buffers.
            op: a key of REDUCTIONS.
        """
        schedule = proved.schedule
        self.schedule = schedule
        self.rank = rank
        self.op = op
        self.block_elements = max(1, -(-elements // schedule.blocks))
        root = schedule.root or 0
        self.buffers: Buffers = {
            buffer.name: torch.zeros(buffer.blocks * self.block_elements, dtype=dtype)
            for buffer in schedule.buffers
            if rank == root or not buffer.on_root_only
        }
        self._combine = _COMBINE[op]
        self._pool: dict[tuple[str, int], list[torch.Tensor]] = {}
        self._steps = [self._compile(round_) for round_ in schedule.rounds]
        self.messages = sum(len(step.sends) for step in self._steps)
        self.bytes_sent = sum(
            piece.numel() * piece.element_size()
            for step in self._steps
            for message in step.sends
            for piece, _ in message.pieces
        )

    def _slice(self, buffer: str, offset: int, blocks: int) -> torch.Tensor:
        size = self.block_elements
        return self.buffers[buffer][offset * size : (offset + blocks) * size]

    def _source(self, transfer: Transfer) -> torch.Tensor:
        return self._slice(transfer.from_buffer, transfer.from_offset, transfer.blocks)

    def _target(self, transfer: Transfer) -> torch.Tensor:
        return self._slice(transfer.to_buffer, transfer.to_offset, transfer.blocks)

    def _staging(self, taken: dict[tuple[str, int], int], elements: int) -> torch.Tensor:
        """A staging tensor of this size, shared with other rounds but not within one."""
        example = next(iter(self.buffers.values()))
        key = (str(example.dtype), elements)
        pool = self._pool.setdefault(key, [])
        index = taken.get(key, 0)
        taken[key] = index + 1
        if index == len(pool):
            pool.append(torch.empty(elements, dtype=example.dtype))
        return pool[index]

    def _compile(self, round_: Round) -> _Step:
        rank = self.rank
        step = _Step()
        sends: dict[int, _Message] = {}
        receives: dict[int, list[Transfer]] = {}
        local: list[Transfer] = []
        read: set[tuple[str, int]] = set()
        sent: set[tuple[str, int]] = set()
        for transfer in round_.transfers:
            if transfer.src == rank:
                cells = _cells(transfer.from_buffer, transfer.from_offset, transfer.blocks)
                read |= cells
                if transfer.dst != rank:
                    sent |= cells
                    message = sends.setdefault(transfer.dst, _Message(transfer.dst))
                    message.pieces.append((self._source(transfer), COPY))
                else:
                    local.append(transfer)
            elif transfer.dst == rank:
                receives.setdefault(transfer.src, []).append(transfer)
        taken: dict[tuple[str, int], int] = {}
        for message in sends.values():
            if len(message.pieces) > 1:
                message.staging = self._staging(
                    taken, sum(piece.numel() for piece, _ in message.pieces)
                )
            step.sends.append(message)
        written: set[tuple[str, int]] = set()
        for peer, transfers in receives.items():
            message = _Message(peer, [(self._target(t), t.op) for t in transfers])
            cells = set().union(*(_cells(t.to_buffer, t.to_offset, t.blocks) for t in transfers))
            written |= cells
            # Straight into place, unless something still reads or combines with what is there.
            if len(transfers) > 1 or transfers[0].op != COPY or cells & read:
                message.staging = self._staging(
                    taken, sum(piece.numel() for piece, _ in message.pieces)
                )
            step.receives.append(message)
        for transfer in local:
            target = _cells(transfer.to_buffer, transfer.to_offset, transfer.blocks)
            others = set().union(
                *(
                    _cells(t.from_buffer, t.from_offset, t.blocks)
                    for t in local
                    if t is not transfer
                )
            )
            source, into = self._source(transfer), self._target(transfer)
            own = _cells(transfer.from_buffer, transfer.from_offset, transfer.blocks)
            if target & (sent | others) or target & own or own & written:
                staging = self._staging(taken, source.numel())
                step.late_moves.append((source, into, transfer.op, staging))
            else:
                step.moves.append((source, into, transfer.op))
        return step

    def _put(self, target: torch.Tensor, value: torch.Tensor, op: str) -> None:
        if op == COPY:
            target.copy_(value)
        else:
            self._combine(target, value)

    def run(self, on_round: Callable[[], object] | None = None) -> Report:
        """Carry out all rounds once.

        Args:
            on_round: called after each round, for a progress bar.

        Raises:
            RuntimeError: a peer died or did not answer within the group's timeout.
        """
        start = time.perf_counter()
        for step in self._steps:
            works = []
            for message in step.receives:
                into = message.staging if message.staging is not None else message.pieces[0][0]
                works.append(dist.irecv(into, message.peer))
            for message in step.sends:
                if message.staging is None:
                    works.append(dist.isend(message.pieces[0][0], message.peer))
                else:
                    torch.cat([piece for piece, _ in message.pieces], out=message.staging)
                    works.append(dist.isend(message.staging, message.peer))
            for source, _, _, staging in step.late_moves:
                staging.copy_(source)
            for source, into, op in step.moves:
                self._put(into, source, op)
            for work in works:
                if work is not None:
                    work.wait()
            for message in step.receives:
                if message.staging is not None:
                    position = 0
                    for piece, op in message.pieces:
                        end = position + piece.numel()
                        self._put(piece, message.staging[position:end], op)
                        position = end
            for _, into, op, staging in step.late_moves:
                self._put(into, staging, op)
            if on_round is not None:
                on_round()
        return Report(self.messages, self.bytes_sent, time.perf_counter() - start)


def _cells(buffer: str, offset: int, blocks: int) -> set[tuple[str, int]]:
    return {(buffer, index) for index in range(offset, offset + blocks)}


def random_tensor(elements: int, dtype: torch.dtype, op: str, seed: int) -> torch.Tensor:
    """Random numbers that stay in range under ``op``: near 1 for products of floats."""
    generator = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        values = torch.rand(elements, generator=generator, dtype=torch.float64)
        return (values + 0.5 if op == "prod" else values * 2 - 1).to(dtype)
    return torch.randint(0, 100, (elements,), generator=generator).to(dtype)


def fill(runner: Runner, seed: int) -> None:
    """Put random numbers into what the rank starts with, and other random numbers elsewhere."""
    schedule = runner.schedule
    start = PRIMITIVES[schedule.primitive].start(
        schedule.ranks, schedule.blocks, schedule.root or 0, runner.rank
    )
    for index, (name, tensor) in enumerate(runner.buffers.items()):
        given = name in start and any(block is not None for block in start[name])
        # What is undefined must not come out right by luck, so it differs from rank to rank too.
        mark = seed + 1000 * runner.rank + index + (0 if given else 500)
        tensor.copy_(random_tensor(tensor.numel(), tensor.dtype, runner.op, mark))


def built_in_call(runner: Runner) -> Callable[[], Buffers]:
    """PyTorch's own collective on copies of the rank's buffers, ready to be called.

    Each call works on the same copies and returns them.
    """
    schedule = runner.schedule
    root = schedule.root or 0
    op = REDUCTIONS[runner.op]
    copies = {name: tensor.clone() for name, tensor in runner.buffers.items()}
    size = schedule.blocks // schedule.ranks * runner.block_elements

    def chunks(name: str) -> list[torch.Tensor] | None:
        return list(copies[name].split(size)) if name in copies else None

    match schedule.primitive:
        case "broadcast":
            call = functools.partial(dist.broadcast, copies["tensor"], root)
        case "reduce":
            call = functools.partial(dist.reduce, copies["tensor"], root, op)
        case "allreduce":
            call = functools.partial(dist.all_reduce, copies["tensor"], op)
        case "scatter":
            given = chunks("scatter_list")
            call = functools.partial(dist.scatter, copies["output_tensor"], given, root)
        case "gather":
            into = chunks("gather_list")
            call = functools.partial(dist.gather, copies["my_chunk"], into, root)
        case "allgather":
            call = functools.partial(dist.all_gather, chunks("gather_list"), copies["my_chunk"])
        case "reducescatter":
            given = chunks("input_list")
            call = functools.partial(dist.reduce_scatter, copies["output"], given, op)
        case "alltoall":
            call = functools.partial(
                dist.all_to_all_single, copies["output_tensor"], copies["input_tensor"]
            )
        case unknown:
            raise ValueError(f"no built-in collective for {unknown}")

    def run() -> Buffers:
        call()
        return copies

    return run


#: Rounding differs with the order of additions, so floats are compared within these.
TOLERANCE: dict[torch.dtype, float] = {
    torch.float64: 1e-12,
    torch.float32: 1e-5,
    torch.float16: 2e-2,
    torch.bfloat16: 1e-1,
}


def difference(runner: Runner, expected: Buffers) -> str | None:
    """Compare what the primitive defines at the end, and say where it differs, or ``None``."""
    schedule = runner.schedule
    end = PRIMITIVES[schedule.primitive].end(
        schedule.ranks, schedule.blocks, schedule.root or 0, runner.rank
    )
    for name, content in end.items():
        if all(block is None for block in content):
            continue
        found, wanted = runner.buffers[name], expected[name]
        tolerance = TOLERANCE.get(found.dtype)
        if tolerance is None:
            wrong = found != wanted
        else:
            wrong = ~torch.isclose(
                found.double(), wanted.double(), rtol=tolerance, atol=tolerance * schedule.ranks
            )
        if bool(wrong.any()):
            index = int(wrong.nonzero()[0])
            return (
                f"rank {runner.rank} 的 {name}[{index}] 是 {found[index].item()}，"
                f"PyTorch 得到 {wanted[index].item()}"
            )
    return None
