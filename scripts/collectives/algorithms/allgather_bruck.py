"""Bruck's AllGather: collect chunks r, r+1, r+2, ... in doubling runs, then rotate them into place.

Source: Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997; pmodels/mpich
``allgather_intra_brucks.c``.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import ALLGATHER, ceil_log2
from collectives.schedule import COPY, Buffer, Round, Schedule, Transfer


def bruck(n: int) -> Schedule:
    """ceil(log2 N) rounds and a local rotation.

    ``scratch`` of rank r holds the chunks of ranks r, r + 1, r + 2, ... in this order; the last
    round sends only the chunks that are still missing.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "allgather/bruck")
    blocks = ALLGATHER.blocks(n)
    chunk = blocks // n
    rounds = []
    for i in range(ceil_log2(n)):
        distance = 1 << i
        count = min(distance, n - distance)
        transfers = [
            Transfer(
                r,
                (r - distance) % n,
                COPY,
                "scratch" if i else "my_chunk",
                0,
                "scratch",
                distance * chunk,
                count * chunk,
            )
            for r in range(n)
        ]
        caption = f"每个 rank r 把手里最前面的 {count} 段发给 rank r−{distance}，对方接在末尾。"
        if i == 0:
            transfers += [
                Transfer(r, r, COPY, "my_chunk", 0, "scratch", 0, chunk) for r in range(n)
            ]
            caption = "每个 rank r 把自己的段发给 rank r−1；自己的段排在 scratch 的第 0 位。"
        rounds.append(Round("allgather", caption, tuple(transfers)))
    rotation = []
    for r in range(n):
        head = (n - r) * chunk
        rotation.append(Transfer(r, r, COPY, "scratch", 0, "gather_list", r * chunk, head))
        if r:
            rotation.append(Transfer(r, r, COPY, "scratch", head, "gather_list", 0, r * chunk))
    rounds.append(
        Round(
            "local",
            "每个 rank r 手里的次序是 r、r+1、r+2……：本地旋转 r 段，让第 j 段回到第 j 位。",
            tuple(rotation),
        )
    )
    return Schedule(
        "allgather",
        "bruck",
        n,
        None,
        "single",
        blocks,
        (*ALLGATHER.buffers(n, blocks), Buffer("scratch", "scratch", blocks)),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """ceil(log2 N) alpha + (N - 1)/N M beta, for every N; the rotation is local."""
    return Cost(ceil_log2(n), share(n), Fraction(0), share(n), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="allgather",
    slug="bruck",
    title_zh="Bruck 算法",
    title_en="Bruck",
    order=3,
    family="bruck-pat",
    layout="ring",
    build=bruck,
    closed_form=closed_form,
    formulas=Formulas(
        rounds=r"\lceil \log_2 N \rceil",
        beta=r"\frac{N-1}{N} M",
        gamma="0",
        max_sent=r"\frac{N-1}{N} M",
    ),
    idea_zh="每轮向左边相隔 1、2、4……的 rank 发送手里的一段前缀，对方接在末尾。"
    "N 不是 2 的幂也只要 ⌈log₂N⌉ 轮，最后在本地旋转一次。",
    wins_zh="短消息、N 不是 2 的幂的时候；代价是多一次本地搬运。",
    used_by=(
        Usage("MPICH", "allgather_intra_brucks.c", "N 不是 2 的幂且总量小于 81920 字节"),
        Usage("Open MPI", "coll_base_allgather.c（k_bruck）"),
    ),
    sources=(
        "Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997",
        "pmodels/mpich, src/mpi/coll/allgather/allgather_intra_brucks.c",
    ),
)
