"""The data model of a schedule: buffers cut into blocks, rounds, transfers.

A schedule says, for N ranks, which blocks move in which round. It is plain data and claims
nothing: whether it is right is decided by :func:`collectives.prove.prove`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

COPY = "copy"
REDUCE = "reduce"

#: Reader-facing names of the phases that rounds belong to, the only list of them.
PHASES: Mapping[str, str] = {
    "broadcast": "Broadcast 阶段",
    "scatter": "Scatter 阶段",
    "gather": "Gather 阶段",
    "reduce": "Reduce 阶段",
    "allgather": "AllGather 阶段",
    "reduce-scatter": "ReduceScatter 阶段",
    "allreduce": "AllReduce 阶段",
    "exchange": "交换阶段",
    "fold": "折叠阶段",
    "inside": "节点内阶段",
    "between": "节点间阶段",
    "local": "本地操作",
}


class Transfer(NamedTuple):
    """Move ``blocks`` neighbouring blocks from one buffer to another.

    ``src`` and ``dst`` are ranks; equal ranks mean a local move, which is no traffic. ``op`` is
    ``"copy"`` (overwrite) or ``"reduce"`` (combine with what the target holds). Offsets are in
    blocks.
    """

    src: int
    dst: int
    op: str
    from_buffer: str
    from_offset: int
    to_buffer: str
    to_offset: int
    blocks: int = 1


class Round(NamedTuple):
    """Transfers that happen together: each reads the state from before the round.

    ``phase`` is a key of :data:`PHASES`; ``caption`` is one Chinese sentence that stays true when
    the ranks are relabelled to another root, so it names no rank by its number.
    """

    phase: str
    caption: str
    transfers: tuple[Transfer, ...]

    @property
    def is_local(self) -> bool:
        """Whether the round only moves data inside ranks, so that it costs no communication."""
        return all(transfer.src == transfer.dst for transfer in self.transfers)


class Buffer(NamedTuple):
    """A buffer that every rank has (or only the root), ``blocks`` equal blocks long.

    ``role`` is ``input``, ``output``, ``inout`` or ``scratch``.
    """

    name: str
    role: str
    blocks: int
    on_root_only: bool = False


@dataclass(frozen=True)
class Schedule:
    """Rounds of transfers that claim to carry out one primitive by one algorithm.

    ``blocks`` is the number of equal blocks that M is cut into, where M is the size that
    nccl-tests reports for the primitive. ``root`` is ``None`` for primitives without a root.
    ``ports`` is ``"single"`` (one-port full duplex) or ``"multi"``. ``layout`` is a drawing hint:
    ``ring``, ``tree``, ``line`` or ``groups``. ``parameters`` (such as pipeline chunks) belong to
    the identity of the schedule.
    """

    primitive: str
    algorithm: str
    ranks: int
    root: int | None
    ports: str
    blocks: int
    buffers: tuple[Buffer, ...]
    layout: str
    rounds: tuple[Round, ...]
    parameters: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """``primitive/algorithm``, the key by which pages and files ask for it."""
        return f"{self.primitive}/{self.algorithm}"


def relabel_root(schedule: Schedule, root: int, rank_indexed: frozenset[str]) -> Schedule:
    """The same schedule with rank r renamed to (r + shift) mod N, so that ``root`` is the root.

    Chunks of the buffers named in ``rank_indexed`` (``scatter_list``, ``gather_list``) belong to
    ranks, so they move along with them; a transfer whose blocks are then no longer neighbours is
    split into several transfers of the same round, which are still one message.

    Raises:
        ValueError: the schedule has no root, or ``root`` is not one of its ranks.
    """
    n = schedule.ranks
    if schedule.root is None:
        raise ValueError(f"{schedule.name} 没有根，不能把根换成 rank {root}")
    if not 0 <= root < n:
        raise ValueError(f"根 rank {root} 不存在：{n} 个 rank 的编号是 0 到 {n - 1}")
    shift = (root - schedule.root) % n
    if shift == 0:
        return schedule
    chunk = schedule.blocks // n

    def moved(buffer: str, offset: int) -> int:
        return (offset + shift * chunk) % (n * chunk) if buffer in rank_indexed else offset

    def relabelled(transfer: Transfer) -> list[Transfer]:
        pieces: list[Transfer] = []
        for index in range(transfer.blocks):
            from_offset = moved(transfer.from_buffer, transfer.from_offset + index)
            to_offset = moved(transfer.to_buffer, transfer.to_offset + index)
            last = pieces[-1] if pieces else None
            if (
                last is not None
                and last.from_offset + last.blocks == from_offset
                and last.to_offset + last.blocks == to_offset
            ):
                pieces[-1] = last._replace(blocks=last.blocks + 1)
            else:
                pieces.append(
                    transfer._replace(
                        src=(transfer.src + shift) % n,
                        dst=(transfer.dst + shift) % n,
                        from_offset=from_offset,
                        to_offset=to_offset,
                        blocks=1,
                    )
                )
        return pieces

    rounds = tuple(
        round_._replace(
            transfers=tuple(
                piece for transfer in round_.transfers for piece in relabelled(transfer)
            )
        )
        for round_ in schedule.rounds
    )
    return replace(schedule, root=root, rounds=rounds)
