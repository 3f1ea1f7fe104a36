"""AllGather by neighbour exchange: swap pairs of chunks with the left and the right in turn.

Source: Chen et al. 2005; Open MPI ``coll_base_allgather.c``, allgather_intra_neighborexchange.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import EVEN_RANKS, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import ALLGATHER
from collectives.schedule import COPY, Round, Schedule, Transfer


def neighbor_exchange(n: int) -> Schedule:
    """N/2 rounds; after the first, every rank sends the pair of chunks it received last.

    Raises:
        UnsupportedChoice: n is odd.
    """
    EVEN_RANKS.require(n, "allgather/neighbor_exchange")
    blocks = ALLGATHER.blocks(n)
    chunk = blocks // n

    def partner(r: int, parity: int) -> int:
        return (r + 1 if (r + parity) % 2 == 0 else r - 1) % n

    transfers = [
        Transfer(r, partner(r, 0), COPY, "my_chunk", 0, "gather_list", r * chunk, chunk)
        for r in range(n)
    ] + [Transfer(r, r, COPY, "my_chunk", 0, "gather_list", r * chunk, chunk) for r in range(n)]
    rounds = [Round("allgather", "相邻的 rank 两两互换自己的段，凑成一对。", tuple(transfers))]
    newest = [r // 2 for r in range(n)]
    for i in range(1, n // 2):
        rounds.append(
            Round(
                "allgather",
                f"换到{'另' if i % 2 else '原来'}一侧的邻居，把手里最新的一对段交换过去。",
                tuple(
                    Transfer(
                        r,
                        partner(r, i % 2),
                        COPY,
                        "gather_list",
                        newest[r] * 2 * chunk,
                        "gather_list",
                        newest[r] * 2 * chunk,
                        2 * chunk,
                    )
                    for r in range(n)
                ),
            )
        )
        newest = [newest[partner(r, i % 2)] for r in range(n)]
    return Schedule(
        "allgather",
        "neighbor_exchange",
        n,
        None,
        "single",
        blocks,
        ALLGATHER.buffers(n, blocks),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """N/2 alpha + (N - 1)/N M beta: half the rounds of the ring, the same bytes."""
    return Cost(n // 2, share(n), Fraction(0), share(n), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="allgather",
    slug="neighbor_exchange",
    title_zh="邻居交换",
    title_en="Neighbor exchange",
    order=4,
    family="pairwise",
    layout="ring",
    build=neighbor_exchange,
    closed_form=closed_form,
    rank_rule=EVEN_RANKS,
    formulas=Formulas(
        rounds=r"\frac{N}{2}", beta=r"\frac{N-1}{N} M", gamma="0", max_sent=r"\frac{N-1}{N} M"
    ),
    idea_zh="轮流和左、右邻居交换最新的一对段。和环形一样只用邻居链路，轮数却少一半。",
    wins_zh="中等消息、N 是偶数、只想用邻居链路的时候。",
    used_by=(Usage("Open MPI", "coll_base_allgather.c（neighborexchange）", "N 是奇数时改用环形"),),
    sources=("Open MPI, ompi/mca/coll/base/coll_base_allgather.c",),
)
