"""ReduceScatter as the original demo does it: N times Reduce, one for each destination.

Every Reduce is a binomial tree. Source: the demo itself; torchcomms reduces one after another in
the same way for uneven sizes (meta-pytorch/torchcomms, pull request 405).
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.building_blocks import binomial_reduce_rounds
from collectives.cost import Cost
from collectives.primitives import REDUCESCATTER, ceil_log2
from collectives.schedule import COPY, Buffer, Round, Schedule, Transfer


def n_reduces(n: int) -> Schedule:
    """For j = 0..N-1: copy chunk j to ``scratch``, reduce it to rank j, which keeps it as output.

    N ceil(log2 N) communication rounds and N + 1 local ones.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "reducescatter/n_reduces")
    blocks = REDUCESCATTER.blocks(n)
    chunk = blocks // n
    rounds = []
    for j in range(n):
        local = [
            Transfer(r, r, COPY, "input_list", j * chunk, "scratch", 0, chunk) for r in range(n)
        ]
        caption = f"每个 rank 把第 {j} 段复制一份（clone），准备归约到 rank {j}。"
        if j > 0:
            local.append(Transfer(j - 1, j - 1, COPY, "scratch", 0, "output", 0, chunk))
            caption = (
                f"rank {j - 1} 把归约好的段存为 output；"
                f"每个 rank 再把第 {j} 段复制一份，准备归约到 rank {j}。"
            )
        rounds.append(Round("local", caption, tuple(local)))
        rounds += binomial_reduce_rounds(n, "scratch", chunk, root=j, what=f"第 {j} 段")
    rounds.append(
        Round(
            "local",
            f"rank {n - 1} 把归约好的段存为 output。",
            (Transfer(n - 1, n - 1, COPY, "scratch", 0, "output", 0, chunk),),
        )
    )
    return Schedule(
        "reducescatter",
        "n_reduces",
        n,
        None,
        "single",
        blocks,
        (*REDUCESCATTER.buffers(n, blocks), Buffer("scratch", "scratch", chunk)),
        "tree",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """N L alpha + L M (beta + gamma): optimal in volume, far from it on the busiest port."""
    levels = ceil_log2(n)
    return Cost(n * levels, Fraction(levels), Fraction(levels), share(n), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="reducescatter",
    slug="n_reduces",
    title_zh="N 次 Reduce",
    title_en="N reduces",
    order=9,
    family="bruck-pat",
    layout="tree",
    build=n_reduces,
    closed_form=closed_form,
    formulas=Formulas(
        rounds=r"N \lceil \log_2 N \rceil",
        beta=r"\lceil \log_2 N \rceil M",
        gamma=r"\lceil \log_2 N \rceil M",
        max_sent=r"\frac{N-1}{N} M",
    ),
    idea_zh="依次做 N 次 Reduce，第 j 次把第 j 段归约到 rank j。每个 rank 发的总量不多，"
    "可是一次只有一棵树在干活，其余端口闲着。",
    wins_zh="从不最快；它说明 ReduceScatter 的定义，也能在没有原生 reduce_scatter 的旧版本上用。",
    used_by=(Usage("本站的 reducescatter_cpu_demo.py", "docs/demos/reducescatter_cpu_demo.py"),),
    sources=("docs/demos/reducescatter_cpu_demo.py",),
)
