"""ReduceScatter by recursive halving, with MPICH's fold where N is not a power of two.

Source: pmodels/mpich ``reduce_scatter_intra_recursive_halving.c``; Thakur et al. 2005.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.building_blocks import floor_power_of_two, fold, halving_rounds
from collectives.cost import Cost
from collectives.primitives import REDUCESCATTER
from collectives.schedule import COPY, REDUCE, Buffer, Round, Schedule, Transfer


def recursive_halving(n: int) -> Schedule:
    """A local clone, the fold if N is not a power of two, l rounds of halving, and the way back.

    Of the first 2 (N - 2**l) ranks the even one gives all its data to the odd one, which works for
    both and in the end returns the even one's chunk.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "reducescatter/recursive_halving")
    blocks = REDUCESCATTER.blocks(n)
    chunk = blocks // n
    pairs, ranks = fold(n)
    rest = len(pairs)
    bounds = [(v + min(v, rest)) * chunk for v in range(len(ranks) + 1)]
    rounds = [
        Round(
            "local",
            "每个 rank 把 input_list 复制到 scratch，后面就在副本上累加。",
            tuple(Transfer(r, r, COPY, "input_list", 0, "scratch", 0, blocks) for r in range(n)),
        )
    ]
    if pairs:
        rounds.append(
            Round(
                "fold",
                f"N 不是 2 的幂：前 {2 * rest} 个 rank 两两配对，"
                "偶数 rank 把全部数据并给右边的奇数 rank，"
                f"剩下 {len(ranks)} 个继续。",
                tuple(
                    Transfer(folded, kept, REDUCE, "scratch", 0, "scratch", 0, blocks)
                    for folded, kept in pairs
                ),
            )
        )
    rounds += halving_rounds(
        ranks,
        bounds,
        "scratch",
        "参与的 rank 两两配对（相隔 {distance}），各把对方负责的一半发过去，对方累加；"
        "负责的范围减半。",
    )
    if pairs:
        rounds.append(
            Round(
                "scatter",
                "奇数 rank 把替偶数 rank 算好的那一段还给它。",
                tuple(
                    Transfer(kept, folded, COPY, "scratch", folded * chunk, "output", 0, chunk)
                    for folded, kept in pairs
                ),
            )
        )
    rounds.append(
        Round(
            "local",
            "参与到最后的 rank 从副本里取出自己的第 r 段，存为 output。",
            tuple(Transfer(r, r, COPY, "scratch", r * chunk, "output", 0, chunk) for r in ranks),
        )
    )
    return Schedule(
        "reducescatter",
        "recursive_halving",
        n,
        None,
        "single",
        blocks,
        (*REDUCESCATTER.buffers(n, blocks), Buffer("scratch", "scratch", blocks)),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """l alpha + (N - 1)/N M (beta + gamma); the fold costs two rounds and more than M on top.

    With rem = N - 2**l the largest piece of the round at distance d is d + min(d, rem) chunks.
    """
    power = floor_power_of_two(n)
    levels = power.bit_length() - 1
    rest = n - power
    if rest == 0:
        return Cost(levels, share(n), share(n), share(n), Fraction(n - 1))
    distances = [1 << i for i in range(levels)]
    halved = Fraction(sum(d + min(d, rest) for d in distances), n)
    return Cost(
        levels + 2,
        1 + halved + Fraction(1, n),
        1 + halved,
        Fraction(1),
        Fraction(n - 1) + Fraction(rest, n),
    )


ALGORITHM = Algorithm(
    primitive="reducescatter",
    slug="recursive_halving",
    title_zh="递归折半",
    title_en="Recursive halving",
    order=3,
    family="halving-doubling",
    layout="ring",
    build=recursive_halving,
    closed_form=closed_form,
    formulas=Formulas(
        rounds=r"\log_2 N",
        beta=r"\frac{N-1}{N} M",
        gamma=r"\frac{N-1}{N} M",
        max_sent=r"\frac{N-1}{N} M",
        note_zh="公式对 2 的幂成立。其他 N 要先折叠：轮数是 ⌊log₂N⌋ + 2，"
        "收发量多一个 M 以上，单个 rank 最多发送 M。",
        powers_of_two_only=True,
    ),
    idea_zh="两两配对，各把对方负责的一半发过去，由对方累加。每轮负责的范围减半，轮数和字节数同时到达下界。",
    wins_zh="中短消息、N 是 2 的幂的时候；其他 N 要先折叠，字节数翻倍还多。",
    used_by=(
        Usage("MPICH", "reduce_scatter_intra_recursive_halving.c", "小于 524288 字节"),
        Usage("Open MPI", "coll_base_reduce_scatter.c"),
    ),
    sources=(
        "pmodels/mpich, src/mpi/coll/reduce_scatter/reduce_scatter_intra_recursive_halving.c",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    ),
)
