"""One-shot AllReduce: everyone sends everything to everyone, and adds up for itself.

Source: NVIDIA/nccl symmetric-memory kernels (AGxLL_R); microsoft/msccl-tools ap-1pass.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage
from collectives.cost import Cost
from collectives.primitives import ALLREDUCE
from collectives.schedule import REDUCE, Round, Schedule, Transfer


def one_shot(n: int) -> Schedule:
    """One round over N - 1 ports.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "allreduce/one_shot")
    blocks = ALLREDUCE.blocks(n)
    transfers = tuple(
        Transfer(r, s, REDUCE, "tensor", 0, "tensor", 0, blocks)
        for r in range(n)
        for s in range(n)
        if r != s
    )
    return Schedule(
        "allreduce",
        "one_shot",
        n,
        None,
        "multi",
        blocks,
        ALLREDUCE.buffers(n, blocks),
        "ring",
        (
            Round(
                "allreduce", "每个 rank 把整个向量同时发给所有人，各自把收到的全加起来。", transfers
            ),
        ),
    )


def closed_form(n: int) -> Cost:
    """alpha + (N - 1) M (beta + gamma)."""
    others = Fraction(n - 1)
    return Cost(1, others, others, others, n * others)


ALGORITHM = Algorithm(
    primitive="allreduce",
    slug="one_shot",
    title_zh="单步直达",
    title_en="One-shot",
    order=7,
    family="direct",
    layout="ring",
    ports="multi",
    build=one_shot,
    closed_form=closed_form,
    formulas=Formulas(rounds="1", beta="(N-1) M", gamma="(N-1) M", max_sent="(N-1) M"),
    idea_zh="每个 rank 把整个向量直接给所有人，各自在本地求和。只要一轮，字节却是下界的 N/2 倍。",
    wins_zh="几百 KB 以内、卡之间全互联（NVLink、NVSwitch）的时候，例如推理里的张量并行。",
    used_by=(
        Usage("NCCL 2.30", "对称内存内核 AGxLL_R"),
        Usage("MSCCL", "ap-1pass.xml"),
        Usage("TensorRT-LLM、FlashInfer", "one-shot AllReduce 文档"),
    ),
    sources=("NVIDIA/nccl, symmetric memory kernels", "microsoft/msccl-tools, ap-1pass"),
)
