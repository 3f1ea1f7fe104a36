"""AllGather on a ring: pass on the chunk that has just arrived, N - 1 times.

Source: NVIDIA/nccl ``src/device/all_gather.h``; pytorch/gloo ``gloo/allgather.cc``.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import ALLGATHER
from collectives.schedule import COPY, Round, Schedule, Transfer


def ring(n: int) -> Schedule:
    """N - 1 rounds; in round t rank r sends chunk r - t + 1 to rank r + 1.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "allgather/ring")
    blocks = ALLGATHER.blocks(n)
    chunk = blocks // n
    rounds = []
    for t in range(1, n):
        transfers = []
        for r in range(n):
            offset = (r - t + 1) % n * chunk
            transfers.append(
                Transfer(r, (r + 1) % n, COPY, "my_chunk", 0, "gather_list", offset, chunk)
                if t == 1
                else Transfer(
                    r, (r + 1) % n, COPY, "gather_list", offset, "gather_list", offset, chunk
                )
            )
        if t == 1:
            transfers += [
                Transfer(r, r, COPY, "my_chunk", 0, "gather_list", r * chunk, chunk)
                for r in range(n)
            ]
            caption = "每个 rank r 把自己的段发给右邻居 r+1，同时放进自己列表的第 r 段。"
        else:
            caption = f"每个 rank r 把上一轮收到的第 (r−{t - 1}) mod {n} 段转给右邻居 r+1。"
        rounds.append(Round("allgather", caption, tuple(transfers)))
    return Schedule(
        "allgather",
        "ring",
        n,
        None,
        "single",
        blocks,
        ALLGATHER.buffers(n, blocks),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """(N - 1) alpha + (N - 1)/N M beta, the same for every rank."""
    return Cost(n - 1, share(n), Fraction(0), share(n), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="allgather",
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
        rounds="N-1", beta=r"\frac{N-1}{N} M", gamma="0", max_sent=r"\frac{N-1}{N} M"
    ),
    idea_zh="每个 rank 只和左右邻居说话，把刚收到的段转给右边。N−1 轮后，人人都有全部的段。",
    wins_zh="数据量大时：字节数达到下界，而且只用邻居之间的链路。",
    used_by=(
        Usage("NCCL 2.30", "src/device/all_gather.h"),
        Usage("Gloo（torch 2.13.0 实测）", "gloo/allgather.cc"),
        Usage("MPICH", "allgather_intra_ring.c"),
        Usage("Open MPI", "coll_base_allgather.c"),
    ),
    sources=("NVIDIA/nccl, src/device/all_gather.h", "pytorch/gloo, gloo/allgather.cc"),
)
