"""ReduceScatter as a ring AllReduce of which every rank keeps one chunk: what Gloo runs.

Source: the traffic that ``scripts/measure_gloo_traffic.py`` counts; pytorch/gloo
``gloo/allreduce.cc``, ring.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import REDUCESCATTER
from collectives.schedule import COPY, REDUCE, Buffer, Round, Schedule, Transfer


def ring_allreduce(n: int) -> Schedule:
    """2(N - 1) rounds to the left neighbour in ``scratch``, between two local ones.

    In round t of the first half rank r sends chunk r + t to r - 1, so that it ends with chunk r
    complete; in round t of the second half it sends chunk r + t - 1. As the second half spreads
    the sums to everybody, all but one chunk of what a rank then holds is thrown away.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "reducescatter/ring_allreduce")
    blocks = REDUCESCATTER.blocks(n)
    chunk = blocks // n

    def pass_on(r: int, which: int, op: str) -> Transfer:
        offset = which % n * chunk
        return Transfer(r, (r - 1) % n, op, "scratch", offset, "scratch", offset, chunk)

    rounds = [
        Round(
            "local",
            "每个 rank 把整个 input_list 复制一份，输入才不会被改写。",
            tuple(Transfer(r, r, COPY, "input_list", 0, "scratch", 0, blocks) for r in range(n)),
        )
    ]
    rounds += [
        Round(
            "reduce-scatter",
            f"每个 rank r 把第 (r+{t}) mod {n} 段的部分和发给左邻居 r−1，对方累加。",
            tuple(pass_on(r, r + t, REDUCE) for r in range(n)),
        )
        for t in range(1, n)
    ]
    rounds += [
        Round(
            "allgather",
            f"每个 rank r 把归约好的第 {f'(r+{t - 1}) mod {n}' if t > 1 else 'r'} 段"
            "发给左邻居 r−1，尽管对方并不需要它。",
            tuple(pass_on(r, r + t - 1, COPY) for r in range(n)),
        )
        for t in range(1, n)
    ]
    rounds.append(
        Round(
            "local",
            "每个 rank r 只留下第 r 段，其余各段的总和都丢掉。",
            tuple(Transfer(r, r, COPY, "scratch", r * chunk, "output", 0, chunk) for r in range(n)),
        )
    )
    return Schedule(
        "reducescatter",
        "ring_allreduce",
        n,
        None,
        "single",
        blocks,
        (*REDUCESCATTER.buffers(n, blocks), Buffer("scratch", "scratch", blocks)),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """2(N - 1) alpha + 2 (N - 1)/N M beta + (N - 1)/N M gamma: an AllReduce, twice the bound."""
    return Cost(2 * (n - 1), 2 * share(n), share(n), 2 * share(n), Fraction(2 * (n - 1)))


ALGORITHM = Algorithm(
    primitive="reducescatter",
    slug="ring_allreduce",
    title_zh="AllReduce 再取一段",
    title_en="Ring AllReduce, keep one chunk",
    order=8,
    family="ring",
    layout="ring",
    build=ring_allreduce,
    closed_form=closed_form,
    formulas=Formulas(
        rounds="2(N-1)",
        beta=r"2 \frac{N-1}{N} M",
        gamma=r"\frac{N-1}{N} M",
        max_sent=r"2 \frac{N-1}{N} M",
    ),
    idea_zh="绕环做一次完整的 AllReduce，人人都得到全部的总和，再各自只留一段。"
    "后半程的字节全是多余的，所以恰好是下界的两倍。",
    wins_zh="从不最快；好处只是不用另写一个算法。",
    used_by=(
        Usage(
            "Gloo（torch 2.13.0 实测）", "gloo/allreduce.cc", "整块做一次；列表的写法每段各做一次"
        ),
    ),
    sources=("pytorch/gloo, gloo/allreduce.cc", "docs/assets/gloo_traffic.json"),
)
