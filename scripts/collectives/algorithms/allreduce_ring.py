"""AllReduce on a ring: reduce-scatter, then allgather, both round the same ring.

Source: Patarasuk and Yuan, JPDC 69(2), 2009; NVIDIA/nccl ``src/device/all_reduce.h``, runRing.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.building_blocks import ring_allgather_rounds, ring_reduce_scatter_rounds
from collectives.cost import Cost
from collectives.primitives import ALLREDUCE
from collectives.schedule import Schedule


def ring(n: int) -> Schedule:
    """2(N - 1) rounds in place; each moves one chunk of M/N per rank to the right neighbour.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "allreduce/ring")
    blocks = ALLREDUCE.blocks(n)
    return Schedule(
        "allreduce",
        "ring",
        n,
        None,
        "single",
        blocks,
        ALLREDUCE.buffers(n, blocks),
        "ring",
        tuple(
            ring_reduce_scatter_rounds(n, "tensor", blocks // n)
            + ring_allgather_rounds(n, "tensor", blocks // n)
        ),
    )


def closed_form(n: int) -> Cost:
    """2(N - 1) alpha + 2 (N - 1)/N M beta + (N - 1)/N M gamma."""
    return Cost(2 * (n - 1), 2 * share(n), share(n), 2 * share(n), Fraction(2 * (n - 1)))


ALGORITHM = Algorithm(
    primitive="allreduce",
    slug="ring",
    title_zh="环形",
    title_en="Ring",
    order=1,
    family="ring",
    opens=True,
    layout="ring",
    build=ring,
    closed_form=closed_form,
    formulas=Formulas(
        rounds="2(N-1)",
        beta=r"2 \frac{N-1}{N} M",
        gamma=r"\frac{N-1}{N} M",
        max_sent=r"2 \frac{N-1}{N} M",
    ),
    idea_zh="先绕环做 ReduceScatter，每个 rank 得到一块的总和。"
    "再绕环做 AllGather，把各块的总和传给所有人。",
    wins_zh="数据量大时：字节数达到下界，而且只用邻居之间的链路；轮数随 N 线性增长。",
    used_by=(
        Usage("NCCL 2.30", "src/device/all_reduce.h（runRing）"),
        Usage("Gloo（torch 2.13.0 实测）", "gloo/allreduce.cc", "方向相反：发给左邻居"),
        Usage("MPICH", "allreduce_intra_ring.c"),
        Usage("Open MPI", "coll_base_allreduce.c", "归约阶段后 rank r 持有块 r+1"),
    ),
    sources=(
        "Patarasuk, Yuan, JPDC 69(2), 2009",
        "NVIDIA/nccl, src/device/all_reduce.h",
        "pytorch/gloo, gloo/allreduce.cc",
    ),
)
