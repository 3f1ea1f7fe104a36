"""AllReduce by recursive doubling: swap whole vectors with partners twice as far, and add.

Source: pmodels/mpich ``allreduce_intra_recursive_doubling.c``; Thakur et al. 2005.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage
from collectives.building_blocks import floor_power_of_two, fold
from collectives.cost import Cost
from collectives.primitives import ALLREDUCE
from collectives.schedule import COPY, REDUCE, Round, Schedule, Transfer


def recursive_doubling(n: int) -> Schedule:
    """l rounds among 2**l participants; for other N one round before to fold, one after to tell.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "allreduce/recursive_doubling")
    blocks = ALLREDUCE.blocks(n)
    pairs, ranks = fold(n)
    rounds = []
    if pairs:
        rounds.append(
            Round(
                "fold",
                f"N 不是 2 的幂：{len(pairs)} 个偶数 rank 先把整个向量并给右边的奇数 rank，"
                f"剩下 {len(ranks)} 个继续。",
                tuple(
                    Transfer(folded, kept, REDUCE, "tensor", 0, "tensor", 0, blocks)
                    for folded, kept in pairs
                ),
            )
        )
    distance = 1
    while distance < len(ranks):
        rounds.append(
            Round(
                "allreduce",
                f"参与的 rank 两两配对（相隔 {distance}），互相发送整个部分和并累加。",
                tuple(
                    Transfer(rank, ranks[v ^ distance], REDUCE, "tensor", 0, "tensor", 0, blocks)
                    for v, rank in enumerate(ranks)
                ),
            )
        )
        distance *= 2
    if pairs:
        rounds.append(
            Round(
                "broadcast",
                "奇数 rank 把结果发回给配对的偶数 rank。",
                tuple(
                    Transfer(kept, folded, COPY, "tensor", 0, "tensor", 0, blocks)
                    for folded, kept in pairs
                ),
            )
        )
    return Schedule(
        "allreduce",
        "recursive_doubling",
        n,
        None,
        "single",
        blocks,
        ALLREDUCE.buffers(n, blocks),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """l (alpha + M beta + M gamma); the fold adds 2 (alpha + M beta) + M gamma."""
    power = floor_power_of_two(n)
    levels = power.bit_length() - 1
    folded = int(power != n)
    return Cost(
        levels + 2 * folded,
        Fraction(levels + 2 * folded),
        Fraction(levels + folded),
        Fraction(levels + folded),
        Fraction(power * levels + 2 * (n - power)),
    )


ALGORITHM = Algorithm(
    primitive="allreduce",
    slug="recursive_doubling",
    title_zh="递归倍增",
    title_en="Recursive doubling",
    order=3,
    family="halving-doubling",
    layout="ring",
    build=recursive_doubling,
    closed_form=closed_form,
    formulas=Formulas(
        rounds=r"\log_2 P + 2 F",
        beta=r"(\log_2 P + 2 F) M",
        gamma=r"(\log_2 P + F) M",
        max_sent=r"(\log_2 P + F) M",
        note_zh="P 是不超过 N 的最大 2 的幂；N = P 时 F = 0，否则 F = 1（折叠）。",
    ),
    idea_zh="和相隔 1、2、4……的 rank 互换整个部分和再相加。log₂N 轮后人人都有总和，轮数最少，"
    "字节很多。",
    wins_zh="短消息、时延占大头的时候（MPICH 在 8 字节以内用它，旧的默认阈值是 2048 字节）。",
    used_by=(
        Usage("MPICH", "allreduce_intra_recursive_doubling.c"),
        Usage("Open MPI", "coll_base_allreduce.c"),
    ),
    sources=(
        "pmodels/mpich, src/mpi/coll/allreduce/allreduce_intra_recursive_doubling.c",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    ),
)
