"""All-to-All with everything posted at once.

Source: pytorch/gloo ``gloo/alltoall.cc``; NVIDIA/nccl ``src/init.cc`` (grouped sends and receives).
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import ALLTOALL
from collectives.schedule import COPY, Round, Schedule, Transfer


def direct(n: int) -> Schedule:
    """One round over N - 1 ports; partners in shifted order, as the libraries post them.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "alltoall/direct")
    blocks = ALLTOALL.blocks(n)
    chunk = blocks // n
    transfers = tuple(
        Transfer(
            r,
            (r + i) % n,
            COPY,
            "input_tensor",
            (r + i) % n * chunk,
            "output_tensor",
            r * chunk,
            chunk,
        )
        for i in range(n)
        for r in range(n)
    )
    return Schedule(
        "alltoall",
        "direct",
        n,
        None,
        "multi",
        blocks,
        ALLTOALL.buffers(n, blocks),
        "ring",
        (Round("exchange", "每个 rank 把各段同时发给它们的主人，自己的一段留在本地。", transfers),),
    )


def closed_form(n: int) -> Cost:
    """alpha + (N - 1)/N M beta."""
    return Cost(1, share(n), Fraction(0), share(n), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="alltoall",
    slug="direct",
    title_zh="直达（多端口）",
    title_en="Direct, multiport",
    order=3,
    family="direct",
    layout="ring",
    ports="multi",
    build=direct,
    closed_form=closed_form,
    formulas=Formulas(rounds="1", beta=r"\frac{N-1}{N} M", gamma="0", max_sent=r"\frac{N-1}{N} M"),
    idea_zh="把 N−1 个发送和接收一次性提交，让网络自己去排。轮数变成 1，字节和成对交换一样多。",
    wins_zh="实际的库多半这样做；提交的次序仍然错开，免得大家一起涌向同一个 rank。",
    used_by=(
        Usage("Gloo（torch 2.13.0 实测）", "gloo/alltoall.cc"),
        Usage("NCCL 2.30", "src/init.cc", "一组点对点收发"),
        Usage("MPICH", "alltoall 的 scattered 算法", "每批 32 个"),
    ),
    sources=("pytorch/gloo, gloo/alltoall.cc", "NVIDIA/nccl, src/init.cc"),
)
