"""Broadcast by a binomial tree: everyone who has the data passes it on, so holders double.

Source: pytorch/gloo ``gloo/broadcast.cc`` (distance 1, 2, 4, ...); Thakur, Rabenseifner, Gropp,
IJHPCA 19(1), 2005.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage
from collectives.building_blocks import binomial_broadcast_rounds
from collectives.cost import Cost
from collectives.primitives import BROADCAST, ceil_log2
from collectives.schedule import Schedule


def binomial(n: int) -> Schedule:
    """ceil(log2 N) rounds; in round i every rank below 2**(i-1) sends all of M to rank + 2**(i-1).

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "broadcast/binomial")
    blocks = BROADCAST.blocks(n)
    return Schedule(
        "broadcast",
        "binomial",
        n,
        0,
        "single",
        blocks,
        BROADCAST.buffers(n, blocks),
        "tree",
        tuple(binomial_broadcast_rounds(n, "tensor", blocks)),
    )


def closed_form(n: int) -> Cost:
    """L (alpha + M beta) with L = ceil(log2 N); the root sends in every round."""
    rounds = ceil_log2(n)
    return Cost(rounds, Fraction(rounds), Fraction(0), Fraction(rounds), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="broadcast",
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
        gamma="0",
        max_sent=r"\lceil \log_2 N \rceil M",
    ),
    idea_zh="拿到数据的 rank 马上帮着发，有数据的 rank 每轮翻一倍。"
    "轮数达到下界，每轮却都要传整个向量。",
    wins_zh="消息短、时延占大头的时候。",
    used_by=(
        Usage("Gloo（torch 2.13.0 实测）", "gloo/broadcast.cc"),
        Usage("MPICH", "bcast_intra_binomial.c", "距离从大到小"),
        Usage("Open MPI", "coll_base_bcast.c"),
    ),
    sources=(
        "pytorch/gloo, gloo/broadcast.cc",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    ),
)
