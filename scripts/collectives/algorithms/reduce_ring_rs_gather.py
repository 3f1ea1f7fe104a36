"""Reduce as a ring reduce-scatter followed by a direct gather: what Gloo runs.

Source: pytorch/gloo ``gloo/reduce.cc``.
"""

from __future__ import annotations

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import REDUCE as PRIMITIVE
from collectives.schedule import COPY, REDUCE, Round, Schedule, Transfer


def ring_rs_gather(n: int) -> Schedule:
    """N - 1 rounds round the ring to the left neighbour, then N - 1 rounds to the root.

    In round t rank r sends chunk r + t to r - 1, so that rank r ends with chunk r complete.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "reduce/ring_rs_gather")
    blocks = PRIMITIVE.blocks(n)
    rounds = [
        Round(
            "reduce-scatter",
            "每个 rank 把一块的部分和发给左邻居，对方累加；各块轮流绕环走。",
            tuple(
                Transfer(r, (r - 1) % n, REDUCE, "tensor", (r + t) % n, "tensor", (r + t) % n)
                for r in range(n)
            ),
        )
        for t in range(1, n)
    ]
    rounds += [
        Round(
            "gather",
            f"从根数起的第 {i} 个 rank 把自己归约好的那一块直接发给根。",
            (Transfer(i, 0, COPY, "tensor", i, "tensor", i),),
        )
        for i in range(1, n)
    ]
    return Schedule(
        "reduce",
        "ring_rs_gather",
        n,
        0,
        "single",
        blocks,
        PRIMITIVE.buffers(n, blocks),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """2(N - 1) alpha + 2 (N - 1)/N M beta + (N - 1)/N M gamma; a rank sends exactly M."""
    return Cost(2 * (n - 1), 2 * share(n), share(n), share(n) + (1 - share(n)), (n - 1) + share(n))


ALGORITHM = Algorithm(
    primitive="reduce",
    slug="ring_rs_gather",
    title_zh="环形归约散发再收集",
    title_en="Ring ReduceScatter + Gather",
    order=4,
    family="pipeline",
    layout="ring",
    build=ring_rs_gather,
    closed_form=closed_form,
    formulas=Formulas(
        rounds="2(N-1)",
        beta=r"2 \frac{N-1}{N} M",
        gamma=r"\frac{N-1}{N} M",
        max_sent="M",
    ),
    idea_zh="先绕环做 ReduceScatter，加法摊给所有 rank。再由各 rank 把自己那一块直接交给根。",
    wins_zh="数据大时：收发量只有约 2M，加法也不压在根上。",
    used_by=(Usage("Gloo（torch 2.13.0 实测）", "gloo/reduce.cc"),),
    sources=("pytorch/gloo, gloo/reduce.cc",),
)
