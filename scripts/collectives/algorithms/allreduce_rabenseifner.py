"""Rabenseifner's AllReduce: recursive halving, then recursive doubling.

Source: pmodels/mpich ``allreduce_intra_reduce_scatter_allgather.c``; Thakur et al. 2005.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.building_blocks import (
    doubling_rounds,
    floor_power_of_two,
    fold,
    halving_rounds,
)
from collectives.cost import Cost
from collectives.primitives import ALLREDUCE
from collectives.schedule import COPY, REDUCE, Round, Schedule, Transfer


def rabenseifner(n: int) -> Schedule:
    """2 l rounds among P = 2**l participants; for other N one round before and one after.

    The vector is cut into P chunks, so that it can be halved l times.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "allreduce/rabenseifner")
    power = floor_power_of_two(n)
    blocks = ALLREDUCE.blocks(n) if power == n else max(power, 2)
    pairs, ranks = fold(n)
    bounds = [v * blocks // power for v in range(power + 1)]
    rounds = []
    if pairs:
        rounds.append(
            Round(
                "fold",
                f"N 不是 2 的幂：{len(pairs)} 个偶数 rank 先把整个向量并给右边的奇数 rank，"
                f"剩下 {power} 个继续。",
                tuple(
                    Transfer(folded, kept, REDUCE, "tensor", 0, "tensor", 0, blocks)
                    for folded, kept in pairs
                ),
            )
        )
    rounds += halving_rounds(
        ranks,
        bounds,
        "tensor",
        "参与的 rank 两两配对（相隔 {distance}），各把对方负责的一半发过去，对方累加；"
        "负责的范围减半。",
    )
    rounds += doubling_rounds(
        ranks,
        bounds,
        "tensor",
        "参与的 rank 两两配对（相隔 {distance}），互换归约好的部分；手里完成的范围翻倍。",
    )
    if pairs:
        rounds.append(
            Round(
                "broadcast",
                "奇数 rank 把完整的结果发回给配对的偶数 rank。",
                tuple(
                    Transfer(kept, folded, COPY, "tensor", 0, "tensor", 0, blocks)
                    for folded, kept in pairs
                ),
            )
        )
    return Schedule(
        "allreduce",
        "rabenseifner",
        n,
        None,
        "single",
        blocks,
        ALLREDUCE.buffers(n, blocks),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """2 l alpha + 2 (P - 1)/P M beta + (P - 1)/P M gamma.

    The fold adds 2 (alpha + M beta) + M gamma.
    """
    power = floor_power_of_two(n)
    levels = power.bit_length() - 1
    folded = int(power != n)
    return Cost(
        2 * levels + 2 * folded,
        2 * share(power) + 2 * folded,
        share(power) + folded,
        2 * share(power) + folded,
        Fraction(2 * (n - 1)),
    )


ALGORITHM = Algorithm(
    primitive="allreduce",
    slug="rabenseifner",
    title_zh="折半再倍增",
    title_en="Rabenseifner",
    order=4,
    family="halving-doubling",
    layout="ring",
    build=rabenseifner,
    closed_form=closed_form,
    formulas=Formulas(
        rounds=r"2 \log_2 P + 2 F",
        beta=r"(2 \frac{P-1}{P} + 2 F) M",
        gamma=r"(\frac{P-1}{P} + F) M",
        max_sent=r"(2 \frac{P-1}{P} + F) M",
        note_zh="P 是不超过 N 的最大 2 的幂；N = P 时 F = 0，否则 F = 1（折叠）。",
    ),
    idea_zh="前半程递归折半，每个 rank 得到一块的总和。后半程递归倍增，把各块换回来；"
    "字节和环形一样少，轮数是对数级。",
    wins_zh="中长消息、N 是 2 的幂的时候；其他 N 要先折叠，收发量多 2M。",
    used_by=(
        Usage("MPICH", "allreduce_intra_reduce_scatter_allgather.c"),
        Usage(
            "Open MPI",
            "coll_base_allreduce.c（redscat_allgather）",
            "折叠时把向量对半分给一对 rank",
        ),
    ),
    sources=(
        "pmodels/mpich, src/mpi/coll/allreduce/allreduce_intra_reduce_scatter_allgather.c",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    ),
)
