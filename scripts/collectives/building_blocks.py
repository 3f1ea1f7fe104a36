"""Rounds that several algorithms share: one pass of a binomial tree, one half of a ring.

All are written for root 0. Captions name ranks relative to the root, so that they stay true after
relabelling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from collectives.primitives import ceil_log2
from collectives.schedule import COPY, REDUCE, Round, Transfer


def binomial_edges(n: int) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """The edges (parent, child) of the binomial tree on 0..n-1, one list per distance 1, 2, 4, ...

    A parent below the distance d gets the child parent + d. This is the tree of Gloo's broadcast
    (pytorch/gloo ``gloo/broadcast.cc``); a broadcast walks the lists forwards.
    """
    for exponent in range(ceil_log2(n)):
        distance = 1 << exponent
        yield (
            distance,
            [(parent, parent + distance) for parent in range(distance) if parent + distance < n],
        )


def halving_edges(n: int) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """The edges (parent, child) of the binomial tree whose subtrees are runs of neighbours.

    The distance d goes 2**(L-1), ..., 2, 1; child v = parent + d has the subtree
    v .. min(v + d, n) - 1. This is the tree of MPICH's scatter and gather
    (pmodels/mpich ``scatter_intra_binomial.c``).
    """
    for exponent in reversed(range(ceil_log2(n))):
        distance = 1 << exponent
        yield (
            distance,
            [
                (parent, parent + distance)
                for parent in range(0, n, 2 * distance)
                if parent + distance < n
            ],
        )


def binomial_broadcast_rounds(n: int, buffer: str, count: int) -> list[Round]:
    """ceil(log2 n) rounds that spread ``count`` blocks from rank 0 to all; holders double."""
    return [
        Round(
            "broadcast",
            f"已有数据的 {distance} 个 rank 各自把整个向量发给编号大 {distance} 的 rank"
            "（从根数起），有数据的 rank 翻倍。"
            if distance > 1
            else "根把整个向量发给下一个 rank，有数据的 rank 变成 2 个。",
            tuple(
                Transfer(parent, child, COPY, buffer, 0, buffer, 0, count)
                for parent, child in edges
            ),
        )
        for distance, edges in binomial_edges(n)
    ]


def binomial_reduce_rounds(
    n: int, buffer: str, count: int, root: int = 0, phase: str = "reduce", what: str = "整个向量"
) -> list[Round]:
    """ceil(log2 n) rounds that combine ``count`` blocks of all ranks on ``root``.

    Neighbours first, then distance 2, 4, ...: subtrees are runs of neighbouring ranks
    (pmodels/mpich ``reduce_intra_binomial.c``).
    """
    return [
        Round(
            phase,
            f"从根数起两两配对，相隔 {distance}：编号大的把{what}的部分和发给编号小的，对方累加，"
            "发完就退出。",
            tuple(
                Transfer(
                    (child + root) % n, (parent + root) % n, REDUCE, buffer, 0, buffer, 0, count
                )
                for parent, child in edges
            ),
        )
        for distance, edges in reversed(list(halving_edges(n)))
    ]


def ring_reduce_scatter_rounds(n: int, buffer: str, chunk: int) -> list[Round]:
    """n - 1 rounds in place, after which rank r holds chunk r complete.

    In round t rank r sends chunk r - t to r + 1: the convention of NCCL (``all_reduce.h``) and
    MPICH. ``chunk`` is the size of one chunk in blocks.
    """
    return [
        Round(
            "reduce-scatter",
            f"每个 rank r 把块 (r−{t}) mod {n} 的部分和发给右邻居 r+1，对方累加。"
            if t > 1
            else f"每个 rank r 把自己的块 (r−1) mod {n} 发给右邻居 r+1，对方累加。",
            tuple(
                Transfer(
                    r,
                    (r + 1) % n,
                    REDUCE,
                    buffer,
                    (r - t) % n * chunk,
                    buffer,
                    (r - t) % n * chunk,
                    chunk,
                )
                for r in range(n)
            ),
        )
        for t in range(1, n)
    ]


def ring_allgather_rounds(n: int, buffer: str, chunk: int) -> list[Round]:
    """n - 1 rounds in place; rank r starts with chunk r complete and ends with all of them."""
    return [
        Round(
            "allgather",
            f"每个 rank r 把归约好的块 {f'(r−{t - 1}) mod {n}' if t > 1 else 'r'} "
            "发给右邻居 r+1，对方覆盖旧值。",
            tuple(
                Transfer(
                    r,
                    (r + 1) % n,
                    COPY,
                    buffer,
                    (r - t + 1) % n * chunk,
                    buffer,
                    (r - t + 1) % n * chunk,
                    chunk,
                )
                for r in range(n)
            ),
        )
        for t in range(1, n)
    ]


def floor_power_of_two(n: int) -> int:
    """The largest power of two that is at most n, for n >= 1."""
    return 1 << (n.bit_length() - 1)


def runs(offsets: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Chunk numbers as (first block, blocks) runs of neighbours; a chunk is ``size`` blocks."""
    found: list[tuple[int, int]] = []
    for chunk in sorted(offsets):
        if found and found[-1][0] + found[-1][1] == chunk * size:
            found[-1] = (found[-1][0], found[-1][1] + size)
        else:
            found.append((chunk * size, size))
    return found


def halving_rounds(
    ranks: Sequence[int], bounds: Sequence[int], buffer: str, caption: str
) -> list[Round]:
    """Recursive halving in place among 2**l participants, farthest partners first.

    Participant v is rank ``ranks[v]`` and ends with blocks ``bounds[v]`` to ``bounds[v + 1] - 1``
    of ``buffer`` complete. ``caption`` may use ``{distance}``. (pmodels/mpich
    ``reduce_scatter_intra_recursive_halving.c``; Thakur et al. 2005.)
    """
    count = len(ranks)
    rounds = []
    distance = count // 2
    while distance:
        transfers = []
        for v in range(count):
            partner = v ^ distance
            first = partner // distance * distance
            offset, end = bounds[first], bounds[first + distance]
            transfers.append(
                Transfer(
                    ranks[v], ranks[partner], REDUCE, buffer, offset, buffer, offset, end - offset
                )
            )
        rounds.append(Round("reduce-scatter", caption.format(distance=distance), tuple(transfers)))
        distance //= 2
    return rounds


def doubling_rounds(
    ranks: Sequence[int], bounds: Sequence[int], buffer: str, caption: str
) -> list[Round]:
    """Recursive doubling in place: the mirror image of :func:`halving_rounds`, with copies."""
    count = len(ranks)
    rounds = []
    distance = 1
    while distance < count:
        transfers = []
        for v in range(count):
            first = v // distance * distance
            offset, end = bounds[first], bounds[first + distance]
            transfers.append(
                Transfer(
                    ranks[v],
                    ranks[v ^ distance],
                    COPY,
                    buffer,
                    offset,
                    buffer,
                    offset,
                    end - offset,
                )
            )
        rounds.append(Round("allgather", caption.format(distance=distance), tuple(transfers)))
        distance *= 2
    return rounds


class Fold(NamedTuple):
    """How N ranks become 2**l participants: the first 2 * rem ranks pair up.

    Attributes:
        pairs: (folded rank, representative); the folded rank gives its vector away and waits.
        participants: the ranks that take part, in order.
    """

    pairs: list[tuple[int, int]]
    participants: list[int]


def fold(n: int, keep_even: bool = False) -> Fold:
    """Pair the first 2 (N - 2**l) ranks; the odd rank of a pair represents it, or the even one.

    MPICH folds even ranks into odd ones in Allreduce and ReduceScatter, odd into even ones in
    Reduce, so that the root stays (pmodels/mpich ``allreduce_intra_recursive_doubling.c``,
    ``reduce_intra_reduce_scatter_gather.c``).
    """
    rest = n - floor_power_of_two(n)
    pairs = [(2 * i + 1, 2 * i) if keep_even else (2 * i, 2 * i + 1) for i in range(rest)]
    folded = {rank for rank, _ in pairs}
    return Fold(pairs, [rank for rank in range(n) if rank not in folded])


class Tree(NamedTuple):
    """A rooted tree: ``parent[v]`` (``None`` at the root) and ``depth[v]`` for every rank."""

    parent: list[int | None]
    depth: list[int]


def _depths(parent: list[int | None]) -> list[int]:
    def depth(v: int) -> int:
        above = parent[v]
        return 0 if above is None else depth(above) + 1

    return [depth(v) for v in range(len(parent))]


def in_order_parent(v: int, limit: int) -> int:
    """The parent of v > 0 in the in-order binary tree on 1..limit-1 that hangs below 0.

    A number with lowest set bit b has children v - b/2 and v + b/2; leaves are odd.
    (NVIDIA/nccl ``src/graph/trees.cc``, ncclGetBtree.)
    """
    bit = v & -v
    up = (v ^ bit) | (bit << 1)
    return v ^ bit if up >= limit else up


def double_tree(n: int) -> tuple[Tree, Tree]:
    """NCCL's two trees on 0..n-1: the second is the first mirrored (even n) or shifted (odd n).

    A rank that is inside one tree is a leaf of the other, but for rank 0 with odd n
    (NVIDIA/nccl ``src/graph/trees.cc``, ncclGetDtree).
    """
    first: list[int | None] = [None] + [in_order_parent(v, n) for v in range(1, n)]

    def other(v: int) -> int:
        return n - 1 - v if n % 2 == 0 else (v + 1) % n

    second: list[int | None] = [None] * n
    for v, above in enumerate(first):
        second[other(v)] = None if above is None else other(above)
    return Tree(first, _depths(first)), Tree(second, _depths(second))


def double_tree_below_root(n: int) -> tuple[Tree, Tree]:
    """Two trees for a broadcast from rank 0: both hang below 0, on ranks 1..n-1.

    Every rank from 1 on is inside at most one of them (Sanders, Speck, Traeff, Parallel Computing
    35, 2009). The second tree is the first shifted by one rank (even n) or mirrored (odd n).
    """
    first: list[int | None] = [None] + [in_order_parent(v, n) for v in range(1, n)]

    def other(v: int) -> int:
        if v == 0:
            return 0
        return v % (n - 1) + 1 if n % 2 == 0 else n - v

    second: list[int | None] = [None] * n
    for v, above in enumerate(first):
        second[other(v)] = None if above is None else other(above)
    return Tree(first, _depths(first)), Tree(second, _depths(second))
