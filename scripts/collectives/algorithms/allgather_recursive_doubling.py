"""AllGather by recursive doubling: swap all you have with a partner twice as far each round.

Source: pmodels/mpich ``allgather_intra_recursive_doubling.c``; Thakur et al. 2005.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import POWER_OF_TWO, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import ALLGATHER, ceil_log2
from collectives.schedule import COPY, Round, Schedule, Transfer


def recursive_doubling(n: int) -> Schedule:
    """log2 N rounds; in the round of distance d rank r swaps d chunks with r XOR d.

    Raises:
        UnsupportedChoice: n is not a power of two.
    """
    POWER_OF_TWO.require(n, "allgather/recursive_doubling")
    blocks = ALLGATHER.blocks(n)
    chunk = blocks // n
    rounds = []
    distance = 1
    while distance < n:
        transfers = []
        for r in range(n):
            offset = r // distance * distance * chunk
            source, start = ("my_chunk", 0) if distance == 1 else ("gather_list", offset)
            transfers.append(
                Transfer(
                    r, r ^ distance, COPY, source, start, "gather_list", offset, distance * chunk
                )
            )
        caption = f"相隔 {distance} 的 rank 两两互换手里的全部 {distance} 段，各自的段数翻倍。"
        if distance == 1:
            transfers += [
                Transfer(r, r, COPY, "my_chunk", 0, "gather_list", r * chunk, chunk)
                for r in range(n)
            ]
            caption = "相邻的 rank 两两互换自己的段，同时放进自己的列表。"
        rounds.append(Round("allgather", caption, tuple(transfers)))
        distance *= 2
    return Schedule(
        "allgather",
        "recursive_doubling",
        n,
        None,
        "single",
        blocks,
        ALLGATHER.buffers(n, blocks),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """log2 N alpha + (N - 1)/N M beta: both bounds at once."""
    return Cost(ceil_log2(n), share(n), Fraction(0), share(n), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="allgather",
    slug="recursive_doubling",
    title_zh="递归倍增",
    title_en="Recursive doubling",
    order=2,
    family="halving-doubling",
    layout="ring",
    build=recursive_doubling,
    closed_form=closed_form,
    rank_rule=POWER_OF_TWO,
    formulas=Formulas(
        rounds=r"\log_2 N", beta=r"\frac{N-1}{N} M", gamma="0", max_sent=r"\frac{N-1}{N} M"
    ),
    idea_zh="和相隔 1、2、4……的 rank 交换手里的全部数据。每轮翻一倍，轮数和字节数同时到达下界。",
    wins_zh="中短消息、N 是 2 的幂的时候；距离远的交换在环形网络上会抢同一条链路。",
    used_by=(
        Usage("MPICH", "allgather_intra_recursive_doubling.c", "N 是 2 的幂且总量小于 524288 字节"),
        Usage("Open MPI", "coll_base_allgather.c", "N 不是 2 的幂时改用 Bruck"),
    ),
    sources=(
        "pmodels/mpich, src/mpi/coll/allgather/allgather_intra_recursive_doubling.c",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    ),
)
