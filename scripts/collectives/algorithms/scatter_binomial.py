"""Scatter by a binomial tree: hand half of what you hold to the rank half-way, then halve again.

Source: pmodels/mpich ``scatter_intra_binomial.c``.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.building_blocks import halving_edges
from collectives.cost import Cost
from collectives.primitives import SCATTER, ceil_log2
from collectives.schedule import COPY, Buffer, Round, Schedule, Transfer


def binomial(n: int) -> Schedule:
    """ceil(log2 N) rounds at distance 2**(L-1), ..., 1.

    A rank that has to forward keeps the chunks of its subtree in ``scratch``, its own chunk first;
    a leaf receives straight into ``output_tensor``.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "scatter/binomial")
    blocks = SCATTER.blocks(n)
    chunk = blocks // n
    rounds: list[Round] = []
    largest = 0
    arrived: list[int] = []
    for distance, edges in halving_edges(n):
        transfers = [Transfer(v, v, COPY, "scratch", 0, "output_tensor", 0, chunk) for v in arrived]
        if not rounds:
            transfers.append(Transfer(0, 0, COPY, "scatter_list", 0, "output_tensor", 0, chunk))
        arrived = []
        for parent, child in edges:
            subtree = min(distance, n - child) * chunk
            leaf = distance == 1
            transfers.append(
                Transfer(
                    parent,
                    child,
                    COPY,
                    "scatter_list" if parent == 0 else "scratch",
                    (child - parent) * chunk,
                    "output_tensor" if leaf else "scratch",
                    0,
                    subtree,
                )
            )
            if not leaf:
                arrived.append(child)
                largest = max(largest, subtree)
        rounds.append(
            Round(
                "scatter",
                f"手里有数据的 rank 把后半部分交给相隔 {distance} 的 rank，由它继续往下分。"
                if distance > 1
                else "手里有数据的 rank 把下一个 rank 的那一段发给它，每个 rank 都拿到自己的段。",
                tuple(transfers),
            )
        )
    buffers = SCATTER.buffers(n, blocks)
    if largest:
        buffers += (Buffer("scratch", "scratch", largest),)
    return Schedule("scatter", "binomial", n, 0, "single", blocks, buffers, "tree", tuple(rounds))


def closed_form(n: int) -> Cost:
    """L alpha + (N - 1)/N M beta; in total each chunk travels once per level it descends."""
    forwarded = Fraction(sum(min(v & -v, n - v) for v in range(1, n)), n)
    return Cost(ceil_log2(n), share(n), Fraction(0), share(n), forwarded)


ALGORITHM = Algorithm(
    primitive="scatter",
    slug="binomial",
    title_zh="二项树",
    title_en="Binomial tree",
    order=1,
    family="tree",
    opens=True,
    layout="tree",
    build=binomial,
    closed_form=closed_form,
    formulas=Formulas(
        rounds=r"\lceil \log_2 N \rceil",
        beta=r"\frac{N-1}{N} M",
        gamma="0",
        max_sent=r"\frac{N-1}{N} M",
    ),
    idea_zh="根把后一半交给中间的 rank，两边各自再对半分下去。"
    "根发出的字节没有变多，轮数却降到对数级。",
    wins_zh="数据量小、N 大的时候；代价是中间的 rank 要暂存并转发别人的段。",
    used_by=(
        Usage("MPICH", "scatter_intra_binomial.c", "唯一的实现"),
        Usage("Open MPI", "coll_base_scatter.c"),
    ),
    sources=("pmodels/mpich, src/mpi/coll/scatter/scatter_intra_binomial.c",),
)
