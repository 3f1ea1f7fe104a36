"""Broadcast along a pipelined chain: cut the vector, pass the chunks on one behind the other.

Source: NVIDIA/nccl ``src/device/broadcast.h`` (its only kernel algorithm, called Ring); Open MPI
``coll_base_bcast.c``, pipeline and chain.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, chunks_parameter
from collectives.cost import Cost
from collectives.primitives import BROADCAST
from collectives.schedule import COPY, Round, Schedule, Transfer

CHUNKS = chunks_parameter(lambda n: 3)


def chain(n: int, chunks: int = 3) -> Schedule:
    """N + k - 2 rounds; in round t the rank at distance i from the root sends chunk t - 1 - i.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "broadcast/chain")
    blocks = BROADCAST.blocks(n) if chunks == 1 else chunks
    size = blocks // chunks
    rounds = []
    for t in range(1, n + chunks - 1):
        senders = [i for i in range(n - 1) if 0 <= t - 1 - i < chunks]
        rounds.append(
            Round(
                "broadcast",
                f"链上有 {len(senders)} 个 rank 同时在发：每个都把手里最新的一块交给下一个 rank。"
                if len(senders) > 1
                else "链上有一个 rank 在发，把手里最新的一块交给下一个 rank。",
                tuple(
                    Transfer(
                        i,
                        i + 1,
                        COPY,
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
        "broadcast",
        "chain",
        n,
        0,
        "single",
        blocks,
        BROADCAST.buffers(n, blocks),
        "line",
        tuple(rounds),
        {"chunks": chunks},
    )


def closed_form(n: int, chunks: int) -> Cost:
    """(N + k - 2)(alpha + M beta / k)."""
    rounds = n + chunks - 2
    return Cost(rounds, Fraction(rounds, chunks), Fraction(0), Fraction(1), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="broadcast",
    slug="chain",
    title_zh="流水线链",
    title_en="Pipelined chain",
    order=3,
    family="pipeline",
    layout="line",
    build=chain,
    closed_form=closed_form,
    formulas=Formulas(rounds="N+k-2", beta=r"\frac{N+k-2}{k} M", gamma="0", max_sent="M"),
    parameters=(CHUNKS,),
    idea_zh="所有 rank 排成一条链，向量切成 k 块，前一块还在路上，后一块就跟着出发。"
    "k 足够大时，每个 rank 只收一遍、发一遍。",
    wins_zh="数据很大而 N 不大的时候；链越长，填满流水线的轮数越多。",
    used_by=(
        Usage("NCCL 2.30", "src/device/broadcast.h", "它的 Broadcast 只有这一种，称作 Ring"),
        Usage("Open MPI", "coll_base_bcast.c（pipeline、chain）"),
    ),
    sources=(
        "NVIDIA/nccl, src/device/broadcast.h",
        "Open MPI, ompi/mca/coll/base/coll_base_bcast.c",
    ),
)
