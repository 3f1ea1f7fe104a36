"""Gather by a binomial tree: the binomial scatter run backwards.

Source: pmodels/mpich ``gather_intra_binomial.c``.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.building_blocks import halving_edges
from collectives.cost import Cost
from collectives.primitives import GATHER, ceil_log2
from collectives.schedule import COPY, Buffer, Round, Schedule, Transfer


def binomial(n: int) -> Schedule:
    """ceil(log2 N) rounds at distance 1, 2, 4, ...

    A rank that collects for others keeps the chunks of its subtree in ``scratch``, its own first;
    a leaf sends straight from ``my_chunk``.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "gather/binomial")
    blocks = GATHER.blocks(n)
    chunk = blocks // n
    rounds: list[Round] = []
    largest = 0
    for distance, edges in reversed(list(halving_edges(n))):
        transfers = []
        if not rounds:
            transfers.append(Transfer(0, 0, COPY, "my_chunk", 0, "gather_list", 0, chunk))
            transfers += [
                Transfer(v, v, COPY, "my_chunk", 0, "scratch", 0, chunk) for v in range(2, n, 2)
            ]
        for parent, child in edges:
            subtree = min(distance, n - child) * chunk
            if distance > 1:
                largest = max(largest, subtree)
            transfers.append(
                Transfer(
                    child,
                    parent,
                    COPY,
                    "my_chunk" if distance == 1 else "scratch",
                    0,
                    "gather_list" if parent == 0 else "scratch",
                    (child - parent) * chunk,
                    subtree,
                )
            )
        rounds.append(
            Round(
                "gather",
                f"从根数起两两配对，相隔 {distance}："
                "编号大的把手里攒到的段都交给编号小的，然后退出。",
                tuple(transfers),
            )
        )
    buffers = GATHER.buffers(n, blocks)
    if largest:
        buffers += (Buffer("scratch", "scratch", largest),)
    return Schedule("gather", "binomial", n, 0, "single", blocks, buffers, "tree", tuple(rounds))


def closed_form(n: int) -> Cost:
    """L alpha + (N - 1)/N M beta; a rank sends once, at most the largest subtree below the root."""
    levels = ceil_log2(n)
    heaviest = max(Fraction(n - 2 ** (levels - 1)), Fraction(2**levels, 4)) / n
    forwarded = Fraction(sum(min(v & -v, n - v) for v in range(1, n)), n)
    return Cost(levels, share(n), Fraction(0), heaviest, forwarded)


ALGORITHM = Algorithm(
    primitive="gather",
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
        max_sent=r"\frac{\max(N-2^{\lceil \log_2 N \rceil-1}, 2^{\lceil \log_2 N \rceil-2})}{N} M",
    ),
    idea_zh="两两合并：每轮有一半的 rank 把攒到的段交给同伴后退出。"
    "把二项树 Scatter 倒过来放就是它。",
    wins_zh="数据量小、N 大的时候；代价是中间的 rank 要暂存并转发别人的段。",
    used_by=(
        Usage("MPICH", "gather_intra_binomial.c"),
        Usage("Open MPI", "coll_base_gather.c"),
    ),
    sources=("pmodels/mpich, src/mpi/coll/gather/gather_intra_binomial.c",),
)
