"""ReduceScatter by pairwise exchange: everyone sends its raw contribution straight to the owner.

Source: pmodels/mpich ``reduce_scatter_intra_pairwise.c``.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import REDUCESCATTER
from collectives.schedule import COPY, REDUCE, Round, Schedule, Transfer


def pairwise(n: int) -> Schedule:
    """A local round, then N - 1 rounds; in round i rank r sends chunk r + i to rank r + i.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "reducescatter/pairwise")
    blocks = REDUCESCATTER.blocks(n)
    chunk = blocks // n
    rounds = [
        Round(
            "local",
            "每个 rank r 先把自己对第 r 段的那一份放进 output。",
            tuple(
                Transfer(r, r, COPY, "input_list", r * chunk, "output", 0, chunk) for r in range(n)
            ),
        )
    ]
    rounds += [
        Round(
            "reduce-scatter",
            f"每个 rank r 把自己的第 (r+{i}) mod {n} 段直接发给它的主人 rank (r+{i}) mod {n}，"
            "对方累加。",
            tuple(
                Transfer(
                    r, (r + i) % n, REDUCE, "input_list", (r + i) % n * chunk, "output", 0, chunk
                )
                for r in range(n)
            ),
        )
        for i in range(1, n)
    ]
    return Schedule(
        "reducescatter",
        "pairwise",
        n,
        None,
        "single",
        blocks,
        REDUCESCATTER.buffers(n, blocks),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """(N - 1) alpha + (N - 1)/N M (beta + gamma)."""
    return Cost(n - 1, share(n), share(n), share(n), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="reducescatter",
    slug="pairwise",
    title_zh="成对交换",
    title_en="Pairwise",
    order=2,
    family="pairwise",
    layout="ring",
    build=pairwise,
    closed_form=closed_form,
    formulas=Formulas(
        rounds="N-1",
        beta=r"\frac{N-1}{N} M",
        gamma=r"\frac{N-1}{N} M",
        max_sent=r"\frac{N-1}{N} M",
    ),
    idea_zh="第 i 轮把原始数据直接发给右边第 i 个 rank，由它累加。没有中转，代价和环形一样。",
    wins_zh="数据大、网络是交换机的时候（MPICH 在 524288 字节以上用它）；"
    "每个 rank 要和所有人通信。",
    used_by=(Usage("MPICH", "reduce_scatter_intra_pairwise.c", "不少于 524288 字节"),),
    sources=("pmodels/mpich, src/mpi/coll/reduce_scatter/reduce_scatter_intra_pairwise.c",),
)
