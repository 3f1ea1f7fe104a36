"""Scatter with all sends posted at once.

Source: pytorch/gloo ``gloo/scatter.cc``; NVIDIA/nccl ``src/enqueue.cc`` (ncclScatter is a group of
sends and receives).
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import SCATTER
from collectives.schedule import COPY, Round, Schedule, Transfer


def flat_multiport(n: int) -> Schedule:
    """One round; the root sends all chunks at once through as many ports as there are ranks.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "scatter/flat_multiport")
    blocks = SCATTER.blocks(n)
    chunk = blocks // n
    transfers = tuple(
        Transfer(0, r, COPY, "scatter_list", r * chunk, "output_tensor", 0, chunk) for r in range(n)
    )
    return Schedule(
        "scatter",
        "flat_multiport",
        n,
        0,
        "multi",
        blocks,
        SCATTER.buffers(n, blocks),
        "tree",
        (Round("scatter", "根同时向所有 rank 发出它们各自的段。", transfers),),
    )


def closed_form(n: int) -> Cost:
    """alpha + (N - 1)/N M beta: the bytes still leave through the root's one wire."""
    return Cost(1, share(n), Fraction(0), share(n), share(n))


ALGORITHM = Algorithm(
    primitive="scatter",
    slug="flat_multiport",
    title_zh="平坦树（多端口）",
    title_en="Flat, multiport",
    order=3,
    family="direct",
    layout="tree",
    ports="multi",
    build=flat_multiport,
    closed_form=closed_form,
    formulas=Formulas(rounds="1", beta=r"\frac{N-1}{N} M", gamma="0", max_sent=r"\frac{N-1}{N} M"),
    idea_zh="根把所有发送一次性提交，不等前一个完成。轮数变成 1，字节数和单端口时一样多。",
    wins_zh="实际的库多半这样做；前提是根能同时维持 N−1 个连接。",
    used_by=(
        Usage("Gloo（torch 2.13.0 实测）", "gloo/scatter.cc"),
        Usage("NCCL 2.30", "src/enqueue.cc", "ncclScatter 是一组点对点收发"),
    ),
    sources=("pytorch/gloo, gloo/scatter.cc", "NVIDIA/nccl, src/enqueue.cc"),
)
