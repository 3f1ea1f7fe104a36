"""Rounds that several algorithms share: one pass of a binomial tree, one half of a ring.

All are written for root 0. Captions name ranks relative to the root, so that they stay true after
relabelling.
"""

from __future__ import annotations

from collections.abc import Iterator

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
