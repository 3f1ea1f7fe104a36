"""All-to-All by pairwise exchange with shifted partners: in round i send to r + i, hear from r - i.

Source: pmodels/mpich ``alltoall_intra_pairwise.c`` (N not a power of two); Open MPI
``coll_base_alltoall.c``, ``alltoall_intra_pairwise``.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import ALLTOALL
from collectives.schedule import COPY, Round, Schedule, Transfer


def pairwise_shift(n: int) -> Schedule:
    """N - 1 rounds; each chunk goes straight to its destination, the own one stays in round 1.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "alltoall/pairwise_shift")
    blocks = ALLTOALL.blocks(n)
    chunk = blocks // n
    rounds = []
    for i in range(1, n):
        transfers = [
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
            for r in range(n)
        ]
        caption = f"每个 rank r 把第 (r+{i}) mod {n} 段发给 rank (r+{i}) mod {n}。"
        if i == 1:
            transfers += [
                Transfer(r, r, COPY, "input_tensor", r * chunk, "output_tensor", r * chunk, chunk)
                for r in range(n)
            ]
            caption = (
                f"每个 rank r 把第 (r+1) mod {n} 段发给 rank (r+1) mod {n}，自己的第 r 段留在本地。"
            )
        rounds.append(Round("exchange", caption, tuple(transfers)))
    return Schedule(
        "alltoall",
        "pairwise_shift",
        n,
        None,
        "single",
        blocks,
        ALLTOALL.buffers(n, blocks),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """(N - 1) alpha + (N - 1)/N M beta; M includes the chunk that stays."""
    return Cost(n - 1, share(n), Fraction(0), share(n), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="alltoall",
    slug="pairwise_shift",
    title_zh="成对交换（偏移）",
    title_en="Pairwise shift",
    order=1,
    family="pairwise",
    opens=True,
    layout="ring",
    build=pairwise_shift,
    closed_form=closed_form,
    formulas=Formulas(
        rounds="N-1", beta=r"\frac{N-1}{N} M", gamma="0", max_sent=r"\frac{N-1}{N} M"
    ),
    idea_zh="第 i 轮发给右边第 i 个、收左边第 i 个。每轮人人恰好发一份、收一份，没有人排队。",
    wins_zh="数据量大时：每段只走一次，字节数达到下界；任何 N 都行。",
    used_by=(
        Usage("MPICH", "alltoall_intra_pairwise.c", "N 不是 2 的幂时"),
        Usage("Open MPI", "coll_base_alltoall.c（pairwise）"),
    ),
    sources=(
        "pmodels/mpich, src/mpi/coll/alltoall/alltoall_intra_pairwise.c",
        "Open MPI, ompi/mca/coll/base/coll_base_alltoall.c",
    ),
)
