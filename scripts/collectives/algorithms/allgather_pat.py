"""PAT AllGather: N binomial trees side by side, far distances first, chunks land in place.

Source: Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale,
arXiv 2506.20252, 2025; NVIDIA/nccl ``src/include/collectives.h``, PatAGAlgorithm.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.building_blocks import runs
from collectives.cost import Cost
from collectives.primitives import ALLGATHER, ceil_log2
from collectives.schedule import COPY, Round, Schedule, Transfer


def pat(n: int) -> Schedule:
    """ceil(log2 N) rounds at distance 2**(L-1), ..., 1, all chunks of a round in one message.

    Chunk s is spread by a binomial tree rooted at s: holders are the ranks at even multiples of
    the distance from s.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "allgather/pat")
    blocks = ALLGATHER.blocks(n)
    chunk = blocks // n
    rounds: list[Round] = []
    for i in reversed(range(ceil_log2(n))):
        distance = 1 << i
        transfers = []
        for r in range(n):
            held = [
                (r - offset) % n for offset in range(0, n, 2 * distance) if offset + distance < n
            ]
            for start, count in runs(held, chunk):
                own = not rounds
                transfers.append(
                    Transfer(
                        r,
                        (r + distance) % n,
                        COPY,
                        "my_chunk" if own else "gather_list",
                        0 if own else start,
                        "gather_list",
                        start,
                        count,
                    )
                )
        caption = f"每个 rank r 把手里的段合成一个消息，发给 rank r+{distance}。"
        if not rounds:
            transfers += [
                Transfer(r, r, COPY, "my_chunk", 0, "gather_list", r * chunk, chunk)
                for r in range(n)
            ]
            caption = f"先走最远的一步：每个 rank r 把自己的段发给 rank r+{distance}。"
        rounds.append(Round("allgather", caption, tuple(transfers)))
    return Schedule(
        "allgather",
        "pat",
        n,
        None,
        "single",
        blocks,
        ALLGATHER.buffers(n, blocks),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """ceil(log2 N) alpha + (N - 1)/N M beta, fully aggregated."""
    return Cost(ceil_log2(n), share(n), Fraction(0), share(n), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="allgather",
    slug="pat",
    title_zh="并行聚合树",
    title_en="PAT",
    order=5,
    family="bruck-pat",
    layout="ring",
    build=pat,
    closed_form=closed_form,
    formulas=Formulas(
        rounds=r"\lceil \log_2 N \rceil",
        beta=r"\frac{N-1}{N} M",
        gamma="0",
        max_sent=r"\frac{N-1}{N} M",
        note_zh="这里是完全聚合的情形。NCCL 按缓冲区大小决定聚合多少，"
        "聚合得少时轮数更多；N = 5、9、17、33 时它比 ⌈log₂N⌉ 多一个消息。",
    ),
    idea_zh="每个 rank 的段各走一棵二项树，N 棵树错开一位，同时往前走，每轮的段合成一个消息。"
    "先走远路、后走近路：远的一步只带一段，段也直接落在该在的位置，不用旋转。",
    wins_zh="小消息、节点很多的时候。NCCL 只在每节点一个 GPU 时用它，8 卡单机上跑的不是它。",
    used_by=(
        Usage("NCCL 2.30", "src/include/collectives.h（PatAGAlgorithm）", "每节点一个 GPU 时"),
    ),
    sources=("Jeaugey, arXiv 2506.20252, 2025", "NVIDIA/nccl, src/include/collectives.h"),
)
