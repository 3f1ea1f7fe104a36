"""ReduceScatter on a ring: N partial sums travel round it, each growing by one rank per round.

Source: NVIDIA/nccl ``src/device/reduce_scatter.h``; Open MPI ``coll_base_reduce_scatter.c``.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import REDUCESCATTER
from collectives.schedule import COPY, REDUCE, Buffer, Round, Schedule, Transfer


def ring(n: int) -> Schedule:
    """One local round, then N - 1 rounds; in round t rank r sends chunk r - t to rank r + 1.

    The input stays as it is, as in the PyTorch call. Two slots of one chunk take turns: while the
    sum in one is sent on, the other is filled with the own contribution to the sum that comes
    next. Their last turn is ``output``'s, so that rank r ends with chunk r.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "reducescatter/ring")
    blocks = REDUCESCATTER.blocks(n)
    chunk = blocks // n

    def slot(t: int) -> str:
        return "output" if (n - 1 - t) % 2 == 0 else "scratch"

    def prepare(t: int) -> list[Transfer]:
        return [
            Transfer(r, r, COPY, "input_list", (r - 1 - t) % n * chunk, slot(t), 0, chunk)
            for r in range(n)
        ]

    rounds = [
        Round(
            "local",
            f"每个 rank r 备好自己的第 (r−2) mod {n} 段，等左邻居的部分和来并入。",
            tuple(prepare(1)),
        )
    ]
    for t in range(1, n):
        sends = [
            Transfer(
                r,
                (r + 1) % n,
                REDUCE,
                "input_list" if t == 1 else slot(t - 1),
                (r - 1) % n * chunk if t == 1 else 0,
                slot(t),
                0,
                chunk,
            )
            for r in range(n)
        ]
        what = f"自己的第 (r−1) mod {n} 段" if t == 1 else f"第 (r−{t}) mod {n} 段的部分和"
        then = "，同时备好下一段" if t < n - 1 else "，得到第 r+1 段的总和"
        rounds.append(
            Round(
                "reduce-scatter",
                f"每个 rank r 把{what}发给右邻居 r+1，对方并入自己的那一份{then}。",
                tuple(sends + (prepare(t + 1) if t < n - 1 else [])),
            )
        )
    buffers = REDUCESCATTER.buffers(n, blocks)
    if n > 2:
        buffers += (Buffer("scratch", "scratch", chunk),)
    return Schedule(
        "reducescatter", "ring", n, None, "single", blocks, buffers, "ring", tuple(rounds)
    )


def closed_form(n: int) -> Cost:
    """(N - 1) alpha + (N - 1)/N M (beta + gamma)."""
    return Cost(n - 1, share(n), share(n), share(n), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="reducescatter",
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
        rounds="N-1",
        beta=r"\frac{N-1}{N} M",
        gamma=r"\frac{N-1}{N} M",
        max_sent=r"\frac{N-1}{N} M",
    ),
    idea_zh="N 个部分和同时绕环走，每到一站就加上那个 rank 的一份。"
    "走完 N−1 站正好停在该拿它的 rank。",
    wins_zh="数据量大时：字节数和加法次数都达到下界，而且只用邻居之间的链路。",
    used_by=(
        Usage("NCCL 2.30", "src/device/reduce_scatter.h"),
        Usage("Open MPI", "coll_base_reduce_scatter.c"),
    ),
    sources=(
        "NVIDIA/nccl, src/device/reduce_scatter.h",
        "Open MPI, ompi/mca/coll/base/coll_base_reduce_scatter.c",
    ),
)
