"""Two-shot AllReduce: everyone reduces one chunk for all, then hands it to all.

Source: NVIDIA/nccl symmetric-memory kernels (RSxLD_AGxST); microsoft/msccl-tools ap2ll.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import ALLREDUCE
from collectives.schedule import COPY, REDUCE, Round, Schedule, Transfer


def two_shot(n: int) -> Schedule:
    """Two rounds over N - 1 ports: a direct reduce-scatter and a direct allgather.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "allreduce/two_shot")
    blocks = ALLREDUCE.blocks(n)
    others = [(r, s) for r in range(n) for s in range(n) if r != s]
    return Schedule(
        "allreduce",
        "two_shot",
        n,
        None,
        "multi",
        blocks,
        ALLREDUCE.buffers(n, blocks),
        "ring",
        (
            Round(
                "reduce-scatter",
                "第 j 块归 rank j 管：每个 rank 把各块直接发给它的主管，主管累加。",
                tuple(Transfer(r, s, REDUCE, "tensor", s, "tensor", s) for r, s in others),
            ),
            Round(
                "allgather",
                "每个 rank 把自己管的那一块的总和直接发给所有人。",
                tuple(Transfer(r, s, COPY, "tensor", r, "tensor", r) for r, s in others),
            ),
        ),
    )


def closed_form(n: int) -> Cost:
    """2 alpha + 2 (N - 1)/N M beta + (N - 1)/N M gamma."""
    return Cost(2, 2 * share(n), share(n), 2 * share(n), Fraction(2 * (n - 1)))


ALGORITHM = Algorithm(
    primitive="allreduce",
    slug="two_shot",
    title_zh="两步直达",
    title_en="Two-shot",
    order=8,
    family="direct",
    layout="ring",
    ports="multi",
    build=two_shot,
    closed_form=closed_form,
    formulas=Formulas(
        rounds="2",
        beta=r"2 \frac{N-1}{N} M",
        gamma=r"\frac{N-1}{N} M",
        max_sent=r"2 \frac{N-1}{N} M",
    ),
    idea_zh="第一步直达归约散发，每个 rank 汇总一块。第二步直达全收集，把这一块给所有人。",
    wins_zh="单机内、中等大小的数据：字节到达下界，又只要两轮；前提是卡之间全互联。",
    used_by=(
        Usage("NCCL 2.30", "对称内存内核 RSxLD_AGxST"),
        Usage("MSCCL", "ap2ll.xml"),
    ),
    sources=("NVIDIA/nccl, symmetric memory kernels", "microsoft/msccl-tools, ap2ll"),
)
