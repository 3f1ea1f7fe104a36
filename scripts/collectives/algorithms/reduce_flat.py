"""Reduce by a flat tree: the root receives every rank's vector and adds it, one after another.

Source: Open MPI ``coll_base_reduce.c``, ``reduce_intra_basic_linear``.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage
from collectives.cost import Cost
from collectives.primitives import REDUCE as PRIMITIVE
from collectives.schedule import REDUCE, Round, Schedule, Transfer


def flat(n: int) -> Schedule:
    """N - 1 rounds; in round i the root adds all of rank i's vector to its own.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "reduce/flat")
    blocks = PRIMITIVE.blocks(n)
    rounds = tuple(
        Round(
            "reduce",
            f"从根数起的第 {i} 个 rank 把整个向量发给根，根累加。",
            (Transfer(i, 0, REDUCE, "tensor", 0, "tensor", 0, blocks),),
        )
        for i in range(1, n)
    )
    return Schedule(
        "reduce", "flat", n, 0, "single", blocks, PRIMITIVE.buffers(n, blocks), "tree", rounds
    )


def closed_form(n: int) -> Cost:
    """(N - 1)(alpha + M beta + M gamma), all of it at the root."""
    all_others = Fraction(n - 1)
    return Cost(n - 1, all_others, all_others, Fraction(1), all_others)


ALGORITHM = Algorithm(
    primitive="reduce",
    slug="flat",
    title_zh="平坦树",
    title_en="Flat",
    order=2,
    family="direct",
    layout="tree",
    build=flat,
    closed_form=closed_form,
    formulas=Formulas(rounds="N-1", beta="(N-1) M", gamma="(N-1) M", max_sent="M"),
    idea_zh="所有 rank 挨个把整个向量发给根，根收一个加一个。接收和加法全压在根上。",
    wins_zh="只有 2、3 个 rank 时不比别的算法慢；再多就只适合拿来对照。",
    used_by=(Usage("Open MPI", "coll_base_reduce.c（basic_linear）"),),
    sources=("Open MPI, ompi/mca/coll/base/coll_base_reduce.c",),
)
