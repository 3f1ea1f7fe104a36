"""Scatter by a flat tree: the root sends every rank its own chunk, one after another.

Source: Open MPI ``coll_base_scatter.c``, ``scatter_intra_basic_linear``.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import SCATTER
from collectives.schedule import COPY, Round, Schedule, Transfer


def flat(n: int) -> Schedule:
    """N - 1 rounds; in round i the root sends chunk i to rank i, and keeps chunk 0 in round 1.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "scatter/flat")
    blocks = SCATTER.blocks(n)
    chunk = blocks // n
    rounds = []
    for i in range(1, n):
        transfers = [Transfer(0, i, COPY, "scatter_list", i * chunk, "output_tensor", 0, chunk)]
        caption = f"根把从它数起的第 {i} 个 rank 的那一段直接发给它。"
        if i == 1:
            transfers.append(Transfer(0, 0, COPY, "scatter_list", 0, "output_tensor", 0, chunk))
            caption = "根把下一个 rank 的那一段直接发给它，同时把自己的一段留在本地。"
        rounds.append(Round("scatter", caption, tuple(transfers)))
    return Schedule(
        "scatter", "flat", n, 0, "single", blocks, SCATTER.buffers(n, blocks), "tree", tuple(rounds)
    )


def closed_form(n: int) -> Cost:
    """(N - 1) alpha + (N - 1)/N M beta; nothing is forwarded."""
    return Cost(n - 1, share(n), Fraction(0), share(n), share(n))


ALGORITHM = Algorithm(
    primitive="scatter",
    slug="flat",
    title_zh="平坦树",
    title_en="Flat",
    order=2,
    family="direct",
    layout="tree",
    build=flat,
    closed_form=closed_form,
    formulas=Formulas(
        rounds="N-1", beta=r"\frac{N-1}{N} M", gamma="0", max_sent=r"\frac{N-1}{N} M"
    ),
    idea_zh="根把每一段直接发给它的主人，没有转发，总流量最小。轮数随 N 线性增长。",
    wins_zh="数据量大时：字节数已是下界，也不占用别人的端口。",
    used_by=(Usage("Open MPI", "coll_base_scatter.c（basic_linear）"),),
    sources=("Open MPI, ompi/mca/coll/base/coll_base_scatter.c",),
)
