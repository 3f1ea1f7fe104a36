"""PAT ReduceScatter: the PAT AllGather run backwards, adding instead of copying.

Source: Jeaugey, arXiv 2506.20252, 2025; NVIDIA/nccl ``src/include/collectives.h``, PatRSAlgorithm.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.building_blocks import runs
from collectives.cost import Cost
from collectives.primitives import REDUCESCATTER, ceil_log2
from collectives.schedule import COPY, REDUCE, Buffer, Round, Schedule, Transfer


def pat(n: int) -> Schedule:
    """A local clone, then ceil(log2 N) rounds at distance 1, 2, 4, ..., and the own chunk out.

    Chunk c is reduced by a binomial tree rooted at c; the N trees run side by side, each one rank
    further on, so that every rank sends one message per round.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "reducescatter/pat")
    blocks = REDUCESCATTER.blocks(n)
    chunk = blocks // n
    rounds = [
        Round(
            "local",
            "每个 rank 把 input_list 复制到 scratch，后面就在副本上累加。",
            tuple(Transfer(r, r, COPY, "input_list", 0, "scratch", 0, blocks) for r in range(n)),
        )
    ]
    for i in range(ceil_log2(n)):
        distance = 1 << i
        transfers = []
        for r in range(n):
            leaving = [
                (r - offset - distance) % n
                for offset in range(0, n, 2 * distance)
                if offset + distance < n
            ]
            for start, count in runs(leaving, chunk):
                transfers.append(
                    Transfer(
                        r, (r - distance) % n, REDUCE, "scratch", start, "scratch", start, count
                    )
                )
        rounds.append(
            Round(
                "reduce-scatter",
                f"每个 rank r 把该往前走的几段部分和合成一个消息，发给 rank r−{distance}，"
                "对方累加。",
                tuple(transfers),
            )
        )
    rounds.append(
        Round(
            "local",
            "每个 rank r 从副本里取出归约好的第 r 段，存为 output。",
            tuple(Transfer(r, r, COPY, "scratch", r * chunk, "output", 0, chunk) for r in range(n)),
        )
    )
    return Schedule(
        "reducescatter",
        "pat",
        n,
        None,
        "single",
        blocks,
        (*REDUCESCATTER.buffers(n, blocks), Buffer("scratch", "scratch", blocks)),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """ceil(log2 N) alpha + (N - 1)/N M (beta + gamma), fully aggregated."""
    return Cost(ceil_log2(n), share(n), share(n), share(n), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="reducescatter",
    slug="pat",
    title_zh="并行聚合树",
    title_en="PAT",
    order=4,
    family="bruck-pat",
    layout="ring",
    build=pat,
    closed_form=closed_form,
    formulas=Formulas(
        rounds=r"\lceil \log_2 N \rceil",
        beta=r"\frac{N-1}{N} M",
        gamma=r"\frac{N-1}{N} M",
        max_sent=r"\frac{N-1}{N} M",
        note_zh="这里是完全聚合的情形。NCCL 按缓冲区大小决定聚合多少，聚合得少时轮数更多。",
    ),
    idea_zh="N 次二项树 Reduce 错开一位同时做，每轮的段合成一个消息。和「N 次 Reduce」字节一样多，"
    "却因为大家一起干活，只要 ⌈log₂N⌉ 轮。",
    wins_zh="小消息、节点很多的时候。NCCL 只在每节点一个 GPU 时用它。",
    used_by=(
        Usage("NCCL 2.30", "src/include/collectives.h（PatRSAlgorithm）", "每节点一个 GPU 时"),
    ),
    sources=("Jeaugey, arXiv 2506.20252, 2025", "NVIDIA/nccl, src/include/collectives.h"),
)
