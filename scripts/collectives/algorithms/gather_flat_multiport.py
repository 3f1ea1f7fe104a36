"""Gather with all receives posted at once.

Source: pytorch/gloo ``gloo/gather.cc``; NVIDIA/nccl ``src/enqueue.cc`` (ncclGather is a group of
sends and receives).
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import GATHER
from collectives.schedule import COPY, Round, Schedule, Transfer


def flat_multiport(n: int) -> Schedule:
    """One round; all ranks send to the root at once.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "gather/flat_multiport")
    blocks = GATHER.blocks(n)
    chunk = blocks // n
    transfers = tuple(
        Transfer(r, 0, COPY, "my_chunk", 0, "gather_list", r * chunk, chunk) for r in range(n)
    )
    return Schedule(
        "gather",
        "flat_multiport",
        n,
        0,
        "multi",
        blocks,
        GATHER.buffers(n, blocks),
        "tree",
        (Round("gather", "所有 rank 同时把自己的段发给根。", transfers),),
    )


def closed_form(n: int) -> Cost:
    """alpha + (N - 1)/N M beta: the bytes still arrive through the root's one wire."""
    return Cost(1, share(n), Fraction(0), Fraction(1, n), share(n))


ALGORITHM = Algorithm(
    primitive="gather",
    slug="flat_multiport",
    title_zh="平坦树（多端口）",
    title_en="Flat, multiport",
    order=3,
    family="direct",
    layout="tree",
    ports="multi",
    build=flat_multiport,
    closed_form=closed_form,
    formulas=Formulas(rounds="1", beta=r"\frac{N-1}{N} M", gamma="0", max_sent=r"\frac{1}{N} M"),
    idea_zh="根把所有接收一次性提交，谁先到先收谁。轮数变成 1，根的接收端口仍要收满全部字节。",
    wins_zh="实际的库多半这样做；N 很大时，一起涌向根的消息会互相拥堵（incast）。",
    used_by=(
        Usage("Gloo（torch 2.13.0 实测）", "gloo/gather.cc"),
        Usage("NCCL 2.30", "src/enqueue.cc", "ncclGather 是一组点对点收发"),
        Usage("Open MPI", "coll_base_gather.c（linear_sync）"),
    ),
    sources=("pytorch/gloo, gloo/gather.cc", "NVIDIA/nccl, src/enqueue.cc"),
)
