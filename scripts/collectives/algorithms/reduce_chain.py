"""Reduce along a pipelined chain: root+1, root+2, ..., root, adding on the way.

Source: NVIDIA/nccl ``src/device/reduce.h`` (its only kernel algorithm, called Ring).
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, chunks_parameter
from collectives.cost import Cost
from collectives.primitives import REDUCE as PRIMITIVE
from collectives.schedule import REDUCE, Round, Schedule, Transfer

CHUNKS = chunks_parameter(lambda n: 4)


def chain(n: int, chunks: int = 4) -> Schedule:
    """N + k - 2 rounds; in round t the i-th rank of the chain sends chunk t - 1 - i.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "reduce/chain")
    blocks = PRIMITIVE.blocks(n) if chunks == 1 else chunks
    size = blocks // chunks
    rounds = []
    for t in range(1, n + chunks - 1):
        senders = [i for i in range(n - 1) if 0 <= t - 1 - i < chunks]
        rounds.append(
            Round(
                "reduce",
                f"链上有 {len(senders)} 个 rank 同时在发："
                "每个都把一块的部分和交给下一个 rank 累加。"
                if len(senders) > 1
                else "链上有一个 rank 在发，把一块的部分和交给下一个 rank 累加。",
                tuple(
                    Transfer(
                        i + 1,
                        (i + 2) % n,
                        REDUCE,
                        "tensor",
                        (t - 1 - i) * size,
                        "tensor",
                        (t - 1 - i) * size,
                        size,
                    )
                    for i in senders
                ),
            )
        )
    return Schedule(
        "reduce",
        "chain",
        n,
        0,
        "single",
        blocks,
        PRIMITIVE.buffers(n, blocks),
        "line",
        tuple(rounds),
        {"chunks": chunks},
    )


def closed_form(n: int, chunks: int) -> Cost:
    """(N + k - 2)(alpha + M (beta + gamma) / k)."""
    rounds = n + chunks - 2
    amount = Fraction(rounds, chunks)
    return Cost(rounds, amount, amount, Fraction(1), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="reduce",
    slug="chain",
    title_zh="流水线链",
    title_en="Pipelined chain",
    order=3,
    family="pipeline",
    layout="line",
    build=chain,
    closed_form=closed_form,
    formulas=Formulas(
        rounds="N+k-2",
        beta=r"\frac{N+k-2}{k} M",
        gamma=r"\frac{N+k-2}{k} M",
        max_sent="M",
    ),
    parameters=(CHUNKS,),
    idea_zh="从根的下一个 rank 起排成一条链，向量切成 k 块，一块接一块往根的方向传，"
    "每到一站就累加。"
    "k 足够大时，每个 rank 只发一遍、加一遍。",
    wins_zh="数据很大而 N 不大的时候；链越长，填满流水线的轮数越多。",
    used_by=(Usage("NCCL 2.30", "src/device/reduce.h", "它的 Reduce 只有这一种，称作 Ring"),),
    sources=("NVIDIA/nccl, src/device/reduce.h",),
)
