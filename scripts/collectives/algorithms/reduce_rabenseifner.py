"""Rabenseifner's Reduce: recursive halving, then a binomial gather of the pieces.

Source: pmodels/mpich ``reduce_intra_reduce_scatter_gather.c``; Thakur et al. 2005.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.building_blocks import floor_power_of_two, fold, halving_rounds
from collectives.cost import Cost
from collectives.primitives import REDUCE as PRIMITIVE
from collectives.schedule import COPY, REDUCE, Round, Schedule, Transfer


def rabenseifner(n: int) -> Schedule:
    """With P = 2**l ranks left after the fold: l rounds of halving, l rounds of gather.

    If N is not a power of two, one round before lets odd ranks of the first pairs give their
    vector to the even ones; the root is even, so nothing has to be sent back.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "reduce/rabenseifner")
    power = floor_power_of_two(n)
    blocks = PRIMITIVE.blocks(n) if power == n else max(power, 2)
    pairs, ranks = fold(n, keep_even=True)
    bounds = [v * blocks // power for v in range(power + 1)]
    rounds = []
    if pairs:
        rounds.append(
            Round(
                "fold",
                f"N 不是 2 的幂：先让 {len(pairs)} 个 rank 把整个向量并给配对的 rank，"
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
    distance = 1
    while distance < power:
        rounds.append(
            Round(
                "gather",
                f"参与的 rank 里，相隔 {distance} 的两两合并：后面的把归约好的部分交给前面的。",
                tuple(
                    Transfer(
                        ranks[v + distance],
                        ranks[v],
                        COPY,
                        "tensor",
                        bounds[v + distance],
                        "tensor",
                        bounds[v + distance],
                        bounds[v + 2 * distance] - bounds[v + distance],
                    )
                    for v in range(0, power, 2 * distance)
                ),
            )
        )
        distance *= 2
    return Schedule(
        "reduce",
        "rabenseifner",
        n,
        0,
        "single",
        blocks,
        PRIMITIVE.buffers(n, blocks),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """2 l alpha + 2 (P - 1)/P M beta + (P - 1)/P M gamma, and alpha + M (beta + gamma) to fold."""
    power = floor_power_of_two(n)
    levels = power.bit_length() - 1
    folded = int(power != n)
    gathered = Fraction(sum(v & -v for v in range(1, power)), power)
    return Cost(
        2 * levels + folded,
        2 * share(power) + folded,
        share(power) + folded,
        share(power) + Fraction(1, 2),
        Fraction(power - 1) + gathered + (n - power),
    )


ALGORITHM = Algorithm(
    primitive="reduce",
    slug="rabenseifner",
    title_zh="递归折半再收集",
    title_en="Rabenseifner",
    order=5,
    family="halving-doubling",
    layout="ring",
    build=rabenseifner,
    closed_form=closed_form,
    formulas=Formulas(
        rounds=r"2 \log_2 P + F",
        beta=r"(2 \frac{P-1}{P} + F) M",
        gamma=r"(\frac{P-1}{P} + F) M",
        max_sent=r"(\frac{P-1}{P} + \frac{1}{2}) M",
        note_zh="P 是不超过 N 的最大 2 的幂；N = P 时 F = 0，否则 F = 1。",
    ),
    idea_zh="两两互换一半、累加，每轮负责的范围减半，归约的活摊得很匀。"
    "再像二项树 Gather 那样收回根。",
    wins_zh="数据大时：轮数是对数级，收发量只有约 2M（MPICH 在 2048 字节以上用它）。",
    used_by=(
        Usage("MPICH", "reduce_intra_reduce_scatter_gather.c", "超过 2048 字节"),
        Usage("Open MPI", "coll_base_reduce.c（redscat_gather）"),
    ),
    sources=(
        "pmodels/mpich, src/mpi/coll/reduce/reduce_intra_reduce_scatter_gather.c",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    ),
)
