"""Broadcast by a flat tree: the root sends the whole vector to one rank after another.

Source: Open MPI ``coll_base_bcast.c``, ``bcast_intra_basic_linear``.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage
from collectives.cost import Cost
from collectives.primitives import BROADCAST
from collectives.schedule import COPY, Round, Schedule, Transfer


def flat(n: int) -> Schedule:
    """N - 1 rounds; in round i the root sends all of M to rank i.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "broadcast/flat")
    blocks = BROADCAST.blocks(n)
    rounds = tuple(
        Round(
            "broadcast",
            f"根把整个向量发给从它数起的第 {i} 个 rank，其余的 rank 都在等。",
            (Transfer(0, i, COPY, "tensor", 0, "tensor", 0, blocks),),
        )
        for i in range(1, n)
    )
    return Schedule(
        "broadcast", "flat", n, 0, "single", blocks, BROADCAST.buffers(n, blocks), "tree", rounds
    )


def closed_form(n: int) -> Cost:
    """(N - 1)(alpha + M beta), all of it at the root."""
    sent = Fraction(n - 1)
    return Cost(n - 1, sent, Fraction(0), sent, sent)


ALGORITHM = Algorithm(
    primitive="broadcast",
    slug="flat",
    title_zh="平坦树",
    title_en="Flat",
    order=2,
    family="direct",
    layout="tree",
    build=flat,
    closed_form=closed_form,
    formulas=Formulas(rounds="N-1", beta="(N-1) M", gamma="0", max_sent="(N-1) M"),
    idea_zh="根挨个把整个向量发给其他 rank。写起来最短，根的发送端口却要忙 N−1 轮，别人都在等它。",
    wins_zh="只有 2、3 个 rank 时不比别的算法慢；再多就只适合拿来对照。",
    used_by=(Usage("Open MPI", "coll_base_bcast.c（basic_linear）"),),
    sources=("Open MPI, ompi/mca/coll/base/coll_base_bcast.c",),
)
