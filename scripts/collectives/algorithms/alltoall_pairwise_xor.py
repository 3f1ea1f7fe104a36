"""All-to-All by pairwise exchange with partner r XOR i.

Source: pmodels/mpich ``alltoall_intra_pairwise.c`` (N a power of two).
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import POWER_OF_TWO, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import ALLTOALL
from collectives.schedule import COPY, Round, Schedule, Transfer


def pairwise_xor(n: int) -> Schedule:
    """N - 1 rounds; in round i ranks r and r XOR i swap the chunks they have for each other.

    Raises:
        UnsupportedChoice: n is not a power of two.
    """
    POWER_OF_TWO.require(n, "alltoall/pairwise_xor")
    blocks = ALLTOALL.blocks(n)
    chunk = blocks // n
    rounds = []
    for i in range(1, n):
        transfers = [
            Transfer(
                r,
                r ^ i,
                COPY,
                "input_tensor",
                (r ^ i) * chunk,
                "output_tensor",
                r * chunk,
                chunk,
            )
            for r in range(n)
        ]
        caption = f"rank r 与 rank r⊕{i} 互换给对方的段（⊕ 是按位异或）。"
        if i == 1:
            transfers += [
                Transfer(r, r, COPY, "input_tensor", r * chunk, "output_tensor", r * chunk, chunk)
                for r in range(n)
            ]
            caption = "rank r 与 rank r⊕1 互换给对方的段（⊕ 是按位异或），自己的第 r 段留在本地。"
        rounds.append(Round("exchange", caption, tuple(transfers)))
    return Schedule(
        "alltoall",
        "pairwise_xor",
        n,
        None,
        "single",
        blocks,
        ALLTOALL.buffers(n, blocks),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """(N - 1) alpha + (N - 1)/N M beta."""
    return Cost(n - 1, share(n), Fraction(0), share(n), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="alltoall",
    slug="pairwise_xor",
    title_zh="成对交换（异或）",
    title_en="Pairwise XOR",
    order=2,
    family="pairwise",
    layout="ring",
    build=pairwise_xor,
    closed_form=closed_form,
    rank_rule=POWER_OF_TWO,
    formulas=Formulas(
        rounds="N-1", beta=r"\frac{N-1}{N} M", gamma="0", max_sent=r"\frac{N-1}{N} M"
    ),
    idea_zh="第 i 轮和编号异或 i 的 rank 互换。每一轮都是整齐的两两互换，收发是同一个对端。",
    wins_zh="数据大、N 是 2 的幂的时候；其他 N 会有一些对永远配不上。",
    used_by=(Usage("MPICH", "alltoall_intra_pairwise.c", "N 是 2 的幂时"),),
    sources=("pmodels/mpich, src/mpi/coll/alltoall/alltoall_intra_pairwise.c",),
)
