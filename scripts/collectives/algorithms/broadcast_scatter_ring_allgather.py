"""Broadcast as Scatter followed by AllGather: van de Geijn's algorithm for long vectors.

Source: pmodels/mpich ``bcast_intra_scatter_ring_allgather.c``; Thakur, Rabenseifner, Gropp 2005.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.building_blocks import halving_edges
from collectives.cost import Cost
from collectives.primitives import BROADCAST, ceil_log2
from collectives.schedule import COPY, Round, Schedule, Transfer


def scatter_ring_allgather(n: int) -> Schedule:
    """ceil(log2 N) rounds of a binomial scatter, then N - 1 rounds of a ring allgather, in place.

    The ring also delivers chunks that the tree has left behind on forwarding ranks: redundant, but
    right, and what MPICH does.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "broadcast/scatter_ring_allgather")
    blocks = n
    rounds = []
    for distance, edges in halving_edges(n):
        rounds.append(
            Round(
                "scatter",
                f"手里有数据的 rank 把后半部分交给相隔 {distance} 的 rank。",
                tuple(
                    Transfer(
                        parent,
                        child,
                        COPY,
                        "tensor",
                        child,
                        "tensor",
                        child,
                        min(distance, n - child),
                    )
                    for parent, child in edges
                ),
            )
        )
    for t in range(1, n):
        rounds.append(
            Round(
                "allgather",
                "每个 rank 把自己分到的一块发给右邻居。"
                if t == 1
                else "每个 rank 把上一轮收到的一块转给右邻居。",
                tuple(
                    Transfer(
                        r, (r + 1) % n, COPY, "tensor", (r - t + 1) % n, "tensor", (r - t + 1) % n
                    )
                    for r in range(n)
                ),
            )
        )
    return Schedule(
        "broadcast",
        "scatter_ring_allgather",
        n,
        0,
        "single",
        blocks,
        BROADCAST.buffers(n, blocks),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """(L + N - 1) alpha + 2 (N - 1)/N M beta; the root sends the most."""
    scattered = Fraction(sum(min(v & -v, n - v) for v in range(1, n)), n)
    return Cost(ceil_log2(n) + n - 1, 2 * share(n), Fraction(0), 2 * share(n), scattered + (n - 1))


ALGORITHM = Algorithm(
    primitive="broadcast",
    slug="scatter_ring_allgather",
    title_zh="散发再全收集",
    title_en="Scatter + AllGather",
    order=4,
    family="pipeline",
    layout="ring",
    build=scatter_ring_allgather,
    closed_form=closed_form,
    formulas=Formulas(
        rounds=r"\lceil \log_2 N \rceil + N - 1",
        beta=r"2 \frac{N-1}{N} M",
        gamma="0",
        max_sent=r"2 \frac{N-1}{N} M",
    ),
    idea_zh="先把向量切开散给所有 rank，再让大家互相补齐。根的端口从此不必重复发同样的数据。",
    wins_zh="数据大时：收发量只有约 2M，不随 N 增长。",
    used_by=(
        Usage(
            "MPICH",
            "bcast_intra_scatter_ring_allgather.c",
            "N ≥ 8 时：超过 524288 字节，或者 N 不是 2 的幂且超过 12288 字节",
        ),
        Usage("Open MPI", "coll_base_bcast.c（scatter_allgather_ring）"),
    ),
    sources=(
        "pmodels/mpich, src/mpi/coll/bcast/bcast_intra_scatter_ring_allgather.c",
        "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
    ),
)
