"""Reduce by a binomial tree: pairs combine, half of the ranks leave, and again.

Source: pmodels/mpich ``reduce_intra_binomial.c``; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage
from collectives.building_blocks import binomial_reduce_rounds
from collectives.cost import Cost
from collectives.primitives import REDUCE as PRIMITIVE
from collectives.primitives import ceil_log2
from collectives.schedule import Schedule


def binomial(n: int) -> Schedule:
    """ceil(log2 N) rounds at distance 1, 2, 4, ...; all of M moves in each.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "reduce/binomial")
    blocks = PRIMITIVE.blocks(n)
    return Schedule(
        "reduce",
        "binomial",
        n,
        0,
        "single",
        blocks,
        PRIMITIVE.buffers(n, blocks),
        "tree",
        tuple(binomial_reduce_rounds(n, "tensor", blocks)),
    )


def closed_form(n: int) -> Cost:
    """L (alpha + M beta + M gamma) with L = ceil(log2 N); every rank but the root sends once."""
    rounds = ceil_log2(n)
    return Cost(rounds, Fraction(rounds), Fraction(rounds), Fraction(1), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="reduce",
    slug="binomial",
    title_zh="二项树",
    title_en="Binomial tree",
    order=1,
    family="tree",
    opens=True,
    layout="tree",
    build=binomial,
    closed_form=closed_form,
    formulas=Formulas(
        rounds=r"\lceil \log_2 N \rceil",
        beta=r"\lceil \log_2 N \rceil M",
        gamma=r"\lceil \log_2 N \rceil M",
        max_sent="M",
    ),
    idea_zh="两两相加，每轮有一半的 rank 交出部分和后退出。⌈log₂N⌉ 轮后，总和到了根。",
    wins_zh="消息短、时延占大头的时候（MPICH 在 2048 字节以内用它）。",
    used_by=(
        Usage("MPICH", "reduce_intra_binomial.c", "不超过 2048 字节"),
        Usage("Open MPI", "coll_base_reduce.c"),
    ),
    sources=(
        "pmodels/mpich, src/mpi/coll/reduce/reduce_intra_binomial.c",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    ),
)
