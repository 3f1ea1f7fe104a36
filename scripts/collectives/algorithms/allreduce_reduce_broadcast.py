"""AllReduce as Reduce to one rank followed by Broadcast from it, both on binomial trees.

Source: Open MPI ``coll_base_allreduce.c``, ``allreduce_intra_nonoverlapping``.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage
from collectives.building_blocks import binomial_broadcast_rounds, binomial_reduce_rounds
from collectives.cost import Cost
from collectives.primitives import ALLREDUCE, ceil_log2
from collectives.schedule import Schedule


def reduce_broadcast(n: int) -> Schedule:
    """2 ceil(log2 N) rounds; all of M moves in each, by way of rank 0.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "allreduce/reduce_broadcast")
    blocks = ALLREDUCE.blocks(n)
    return Schedule(
        "allreduce",
        "reduce_broadcast",
        n,
        None,
        "single",
        blocks,
        ALLREDUCE.buffers(n, blocks),
        "tree",
        tuple(
            binomial_reduce_rounds(n, "tensor", blocks)
            + binomial_broadcast_rounds(n, "tensor", blocks)
        ),
    )


def closed_form(n: int) -> Cost:
    """2 L alpha + 2 L M beta + L M gamma with L = ceil(log2 N)."""
    levels = ceil_log2(n)
    return Cost(
        2 * levels,
        Fraction(2 * levels),
        Fraction(levels),
        Fraction(levels),
        Fraction(2 * (n - 1)),
    )


ALGORITHM = Algorithm(
    primitive="allreduce",
    slug="reduce_broadcast",
    title_zh="归约再广播",
    title_en="Reduce + Broadcast",
    order=2,
    family="tree",
    layout="tree",
    build=reduce_broadcast,
    closed_form=closed_form,
    formulas=Formulas(
        rounds=r"2 \lceil \log_2 N \rceil",
        beta=r"2 \lceil \log_2 N \rceil M",
        gamma=r"\lceil \log_2 N \rceil M",
        max_sent=r"\lceil \log_2 N \rceil M",
    ),
    idea_zh="先用二项树把和归约到 rank 0，再用二项树把它广播出去。好懂，可整个向量要走两遍树。",
    wins_zh="从不最快：轮数不如递归倍增，字节数不如环形。它是理解其他算法的起点。",
    used_by=(Usage("Open MPI", "coll_base_allreduce.c（nonoverlapping）"),),
    sources=("Open MPI, ompi/mca/coll/base/coll_base_allreduce.c",),
)
