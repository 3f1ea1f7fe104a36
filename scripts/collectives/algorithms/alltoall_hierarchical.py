"""All-to-All in two steps: collect inside the node, then send whole bundles along rails.

Source: microsoft/msccl-tools ``alltoall_a100_two_step``.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import EQUAL_NODES, RANKS_PER_NODE, Algorithm, Formulas, Usage
from collectives.cost import Cost
from collectives.primitives import ALLTOALL
from collectives.schedule import COPY, Buffer, Round, Schedule, Transfer


def hierarchical(n: int, node: int | None = None) -> Schedule:
    """s - 1 rounds inside the nodes, N/s - 1 rounds between them.

    Rank r is place r mod s of node r div s. First every rank hands its chunks to the rank of its
    node whose place is that of their destination; ``scratch`` there is ordered by destination
    node, then by origin. Then each place sends one bundle of s chunks to every other node.

    Raises:
        UnsupportedChoice: N cannot be split into equal nodes.
    """
    EQUAL_NODES.require(n, "alltoall/hierarchical")
    node = node or RANKS_PER_NODE.default(n)
    nodes = n // node
    blocks = ALLTOALL.blocks(n)
    chunk = blocks // n

    def hand_over(r: int, place: int) -> list[Transfer]:
        home, origin = divmod(r, node)
        mate = home * node + place
        return [
            Transfer(
                r,
                mate,
                COPY,
                "input_tensor",
                (target * node + place) * chunk,
                "output_tensor" if target == home else "scratch",
                (target * node + origin) * chunk,
                chunk,
            )
            for target in range(nodes)
        ]

    rounds = []
    for i in range(1, node):
        transfers = [transfer for r in range(n) for transfer in hand_over(r, (r % node + i) % node)]
        caption = f"节点内：把要去各节点同一位置的段合成一个消息，交给本节点右边第 {i} 个 rank。"
        if i == 1:
            transfers += [transfer for r in range(n) for transfer in hand_over(r, r % node)]
        rounds.append(Round("inside", caption, tuple(transfers)))
    for i in range(1, nodes):
        transfers = []
        for r in range(n):
            home = r // node
            target = (home + i) % nodes
            transfers.append(
                Transfer(
                    r,
                    (r + i * node) % n,
                    COPY,
                    "scratch",
                    target * node * chunk,
                    "output_tensor",
                    home * node * chunk,
                    node * chunk,
                )
            )
        rounds.append(
            Round(
                "between",
                f"节点间：每个 rank 把攒好的 {node} 段打成一包，"
                f"发给右边第 {i} 个节点里同一位置的 rank。",
                tuple(transfers),
            )
        )
    return Schedule(
        "alltoall",
        "hierarchical",
        n,
        None,
        "single",
        blocks,
        (*ALLTOALL.buffers(n, blocks), Buffer("scratch", "scratch", blocks)),
        "groups",
        tuple(rounds),
        {"node": node},
    )


def closed_form(n: int, node: int) -> Cost:
    """(s - 1) + (G - 1) rounds; (2 N - s - G)/N M on every port, G = N/s nodes."""
    nodes = n // node
    sent = Fraction(2 * n - node - nodes, n)
    return Cost(node - 1 + nodes - 1, sent, Fraction(0), sent, n * sent)


ALGORITHM = Algorithm(
    primitive="alltoall",
    slug="hierarchical",
    title_zh="分层两步",
    title_en="Hierarchical",
    order=5,
    family="hierarchical",
    layout="groups",
    build=hierarchical,
    closed_form=closed_form,
    rank_rule=EQUAL_NODES,
    formulas=Formulas(
        rounds=r"s + \frac{N}{s} - 2",
        beta=r"\frac{2 N - s - \frac{N}{s}}{N} M",
        gamma="0",
        max_sent=r"\frac{2 N - s - \frac{N}{s}}{N} M",
        note_zh="跨节点的消息从每个 rank N − s 个小的，变成 N/s − 1 个大的。",
    ),
    parameters=(RANKS_PER_NODE,),
    idea_zh="先在节点内把去往同一位置的段攒到一起，再沿「同位置」的轨道整包发往别的节点。"
    "总字节多一些，跨节点的消息却少得多。",
    wins_zh="节点很多、每段很小的时候：网卡上的消息数从 N−s 降到 N/s−1。",
    used_by=(Usage("MSCCL", "alltoall_a100_two_step"),),
    sources=("microsoft/msccl-tools, alltoall_a100_two_step",),
)
