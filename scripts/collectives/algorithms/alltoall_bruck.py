"""Bruck's All-to-All: store and forward, so that log2 N rounds are enough.

Source: Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997; pmodels/mpich
``alltoall_intra_brucks.c``.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage
from collectives.building_blocks import runs
from collectives.cost import Cost
from collectives.primitives import ALLTOALL, ceil_log2
from collectives.schedule import COPY, Buffer, Round, Schedule, Transfer


def bruck(n: int) -> Schedule:
    """A local rotation, ceil(log2 N) rounds, and a local rotation backwards.

    Slot j of ``scratch`` holds the chunk that has j steps to go in all; in the round of bit i
    every slot whose number has that bit moves 2**i ranks on.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "alltoall/bruck")
    blocks = ALLTOALL.blocks(n)
    chunk = blocks // n
    ready = []
    for r in range(n):
        head = (n - r) * chunk
        ready.append(Transfer(r, r, COPY, "input_tensor", r * chunk, "scratch", 0, head))
        if r:
            ready.append(Transfer(r, r, COPY, "input_tensor", 0, "scratch", head, r * chunk))
    rounds = [
        Round(
            "local",
            "每个 rank r 先把输入旋转 r 段：scratch 的第 j 位是要走 j 步的那一段。",
            tuple(ready),
        )
    ]
    for i in range(ceil_log2(n)):
        distance = 1 << i
        slots = [j for j in range(n) if j & distance]
        rounds.append(
            Round(
                "exchange",
                f"编号里含 {distance} 的位置都要走这一步：合成一个消息发给 rank r+{distance}，"
                "位置不变。",
                tuple(
                    Transfer(r, (r + distance) % n, COPY, "scratch", start, "scratch", start, count)
                    for r in range(n)
                    for start, count in runs(slots, chunk)
                ),
            )
        )
    rounds.append(
        Round(
            "local",
            "第 j 位现在是 rank r−j 发来的段：在本地倒着放回去，让第 s 段是 rank s 发来的。",
            tuple(
                Transfer(
                    r, r, COPY, "scratch", j * chunk, "output_tensor", (r - j) % n * chunk, chunk
                )
                for r in range(n)
                for j in range(n)
            ),
        )
    )
    return Schedule(
        "alltoall",
        "bruck",
        n,
        None,
        "single",
        blocks,
        (*ALLTOALL.buffers(n, blocks), Buffer("scratch", "scratch", blocks)),
        "ring",
        tuple(rounds),
    )


def closed_form(n: int) -> Cost:
    """ceil(log2 N) alpha + the sum over j < N of popcount(j) / N M beta."""
    sent = Fraction(sum(bin(j).count("1") for j in range(n)), n)
    return Cost(ceil_log2(n), sent, Fraction(0), sent, n * sent)


ALGORITHM = Algorithm(
    primitive="alltoall",
    slug="bruck",
    title_zh="Bruck 算法",
    title_en="Bruck",
    order=4,
    family="bruck-pat",
    layout="ring",
    build=bruck,
    closed_form=closed_form,
    formulas=Formulas(
        rounds=r"\lceil \log_2 N \rceil",
        beta=r"\frac{\log_2 N}{2} M",
        gamma="0",
        max_sent=r"\frac{\log_2 N}{2} M",
        note_zh="字节的公式对 2 的幂成立。一般是 0 到 N−1 各数二进制里 1 的个数之和，再除以 N。",
        powers_of_two_only=True,
    ),
    idea_zh="要走 j 步的段按 j 的二进制分几次走：每轮把含某一位的段合成一个消息往前送。"
    "只要 ⌈log₂N⌉ 轮，代价是一段要被转手好几次。",
    wins_zh="消息很短、N 很大的时候（MPICH 在 256 字节以内、N ≥ 8 时用它）。",
    used_by=(
        Usage("MPICH", "alltoall_intra_brucks.c", "不超过 256 字节且 N ≥ 8"),
        Usage("Open MPI", "coll_base_alltoall.c（modified_bruck）"),
    ),
    sources=(
        "Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997",
        "pmodels/mpich, src/mpi/coll/alltoall/alltoall_intra_brucks.c",
    ),
)
