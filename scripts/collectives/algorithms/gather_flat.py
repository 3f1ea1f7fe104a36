"""Gather by a flat tree: every rank sends its chunk straight to the root, one after another.

Source: Open MPI ``coll_base_gather.c``, ``gather_intra_basic_linear``.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import GATHER
from collectives.schedule import COPY, Round, Schedule, Transfer


def flat(n: int) -> Schedule:
    """N - 1 rounds; in round i rank i sends its chunk to the root.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "gather/flat")
    blocks = GATHER.blocks(n)
    chunk = blocks // n
    rounds = []
    for i in range(1, n):
        transfers = [Transfer(i, 0, COPY, "my_chunk", 0, "gather_list", i * chunk, chunk)]
        caption = f"从根数起的第 {i} 个 rank 把自己的段直接发给根。"
        if i == 1:
            transfers.append(Transfer(0, 0, COPY, "my_chunk", 0, "gather_list", 0, chunk))
            caption = "根的下一个 rank 把自己的段直接发给根；根把自己的段放进列表。"
        rounds.append(Round("gather", caption, tuple(transfers)))
    return Schedule(
        "gather", "flat", n, 0, "single", blocks, GATHER.buffers(n, blocks), "tree", tuple(rounds)
    )


def closed_form(n: int) -> Cost:
    """(N - 1) alpha + (N - 1)/N M beta at the root's receiving port."""
    return Cost(n - 1, share(n), Fraction(0), Fraction(1, n), share(n))


ALGORITHM = Algorithm(
    primitive="gather",
    slug="flat",
    title_zh="平坦树",
    title_en="Flat",
    order=2,
    family="direct",
    layout="tree",
    build=flat,
    closed_form=closed_form,
    formulas=Formulas(rounds="N-1", beta=r"\frac{N-1}{N} M", gamma="0", max_sent=r"\frac{1}{N} M"),
    idea_zh="每个 rank 把自己的段直接发给根，根一个一个收。没有人转发，根的接收端口就是瓶颈。",
    wins_zh="数据量大时：根要收的字节数已是下界，其他 rank 只发自己的一份。",
    used_by=(Usage("Open MPI", "coll_base_gather.c（basic_linear）"),),
    sources=("Open MPI, ompi/mca/coll/base/coll_base_gather.c",),
)
