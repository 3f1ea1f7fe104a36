"""AllReduce in two levels: inside the nodes, between the nodes, inside the nodes again.

Source: microsoft/msccl-tools ``hierarchical_allreduce`` (BlueConnect's scheme).
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import EQUAL_NODES, RANKS_PER_NODE, Algorithm, Formulas, Usage, share
from collectives.cost import Cost
from collectives.primitives import ALLREDUCE
from collectives.schedule import COPY, REDUCE, Round, Schedule, Transfer


def hierarchical(n: int, node: int | None = None) -> Schedule:
    """Ring reduce-scatter in each node, ring allreduce between ranks of one place, ring allgather.

    Rank r is place r mod s of node r div s. Place l ends the first phase with part l of the
    vector, N/s blocks long; the second phase cuts it into one block per node.

    Raises:
        UnsupportedChoice: N cannot be split into equal nodes.
    """
    EQUAL_NODES.require(n, "allreduce/hierarchical")
    node = node or RANKS_PER_NODE.default(n)
    nodes = n // node
    blocks = ALLREDUCE.blocks(n)
    part = blocks // node
    rounds = []

    def inside(t: int, op: str, shift: int) -> tuple[Transfer, ...]:
        transfers = []
        for r in range(n):
            home, place = divmod(r, node)
            offset = (place - t + shift) % node * part
            right = home * node + (place + 1) % node
            transfers.append(Transfer(r, right, op, "tensor", offset, "tensor", offset, part))
        return tuple(transfers)

    def between(t: int, op: str, shift: int) -> tuple[Transfer, ...]:
        transfers = []
        for r in range(n):
            home, place = divmod(r, node)
            offset = place * part + (home - t + shift) % nodes
            transfers.append(Transfer(r, (r + node) % n, op, "tensor", offset, "tensor", offset))
        return tuple(transfers)

    for t in range(1, node):
        rounds.append(
            Round(
                "reduce-scatter",
                f"节点内的环：每个 rank 把 1/{node} 个向量的部分和发给节点里的右邻居，对方累加。",
                inside(t, REDUCE, 0),
            )
        )
    for t in range(1, nodes):
        rounds.append(
            Round(
                "between",
                "节点间的环，归约：位置相同的 rank 把自己那份里的一块发给下一个节点，对方累加。",
                between(t, REDUCE, 0),
            )
        )
    for t in range(1, nodes):
        rounds.append(
            Round(
                "between",
                "节点间的环，收集：位置相同的 rank 把归约好的一块发给下一个节点。",
                between(t, COPY, 1),
            )
        )
    for t in range(1, node):
        rounds.append(
            Round(
                "allgather",
                f"节点内的环：每个 rank 把归约好的 1/{node} 个向量发给节点里的右邻居。",
                inside(t, COPY, 1),
            )
        )
    return Schedule(
        "allreduce",
        "hierarchical",
        n,
        None,
        "single",
        blocks,
        ALLREDUCE.buffers(n, blocks),
        "groups",
        tuple(rounds),
        {"node": node},
    )


def closed_form(n: int, node: int) -> Cost:
    """2(s - 1) + 2(N/s - 1) rounds; the bytes of the ring, but most of them inside the nodes."""
    rounds = 2 * (node - 1) + 2 * (n // node - 1)
    return Cost(rounds, 2 * share(n), share(n), 2 * share(n), Fraction(2 * (n - 1)))


ALGORITHM = Algorithm(
    primitive="allreduce",
    slug="hierarchical",
    title_zh="分层",
    title_en="Hierarchical",
    order=6,
    family="hierarchical",
    layout="groups",
    build=hierarchical,
    closed_form=closed_form,
    rank_rule=EQUAL_NODES,
    formulas=Formulas(
        rounds=r"2(s-1) + 2(\frac{N}{s} - 1)",
        beta=r"2 \frac{N-1}{N} M",
        gamma=r"\frac{N-1}{N} M",
        max_sent=r"2 \frac{N-1}{N} M",
        note_zh="其中节点之间每个 rank 只传 2(N/s − 1)/N · M，其余都在节点内。",
    ),
    parameters=(RANKS_PER_NODE,),
    idea_zh="先在节点内归约散发，每张卡只剩 1/s 的数据要跨节点。跨节点归约之后，再在节点内收集齐。",
    wins_zh="节点间比节点内慢得多、每张卡各有网卡的时候：每块网卡只走 1/s 的数据，"
    "轮数也比一个大环少。",
    used_by=(Usage("MSCCL", "hierarchical_allreduce", "BlueConnect 的做法"),),
    sources=("microsoft/msccl-tools, hierarchical_allreduce",),
)
