"""Broadcast down two trees at once, half of the vector down each, in pipelined chunks.

Source: Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and
scan, Parallel Computing 35, 2009.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, chunks_parameter
from collectives.building_blocks import double_tree_below_root
from collectives.cost import Cost
from collectives.primitives import BROADCAST, ceil_log2
from collectives.schedule import COPY, Round, Schedule, Transfer

CHUNKS = chunks_parameter(lambda n: 2)


def double_binary_tree(n: int, chunks: int = 2) -> Schedule:
    """L + k - 1 rounds; a rank at depth d of a tree receives its chunk c in round c + d.

    The first k blocks go down one tree, the other k down the other. A rank sends to both children
    of the tree in which it is inside, so it needs more than one port.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "broadcast/double_binary_tree")
    blocks = 2 * chunks
    trees = double_tree_below_root(n)
    rounds = []
    for t in range(1, ceil_log2(n) + chunks):
        transfers = []
        for half, tree in enumerate(trees):
            for child in range(1, n):
                parent, chunk = tree.parent[child], t - tree.depth[child]
                if parent is not None and 0 <= chunk < chunks:
                    offset = half * chunks + chunk
                    transfers.append(
                        Transfer(parent, child, COPY, "tensor", offset, "tensor", offset)
                    )
        rounds.append(
            Round(
                "broadcast",
                "两棵树同时往下传一层：前一半走第一棵，后一半走第二棵；在一棵树里转发的 rank，"
                "在另一棵树里只收不发。",
                tuple(transfers),
            )
        )
    return Schedule(
        "broadcast",
        "double_binary_tree",
        n,
        0,
        "multi",
        blocks,
        BROADCAST.buffers(n, blocks),
        "tree",
        tuple(rounds),
        {"chunks": chunks},
    )


def closed_form(n: int, chunks: int) -> Cost:
    """(L + k - 1)(alpha + M beta / k) with all ports in use; one round is half empty at times.

    That round is the last one of N = 3, and the second one of N = 2**j + 1 when k = 1.
    """
    rounds = ceil_log2(n) + chunks - 1
    beta = Fraction(rounds, chunks)
    if n == 3 or (chunks == 1 and n > 3 and (n - 1) & (n - 2) == 0):
        beta -= Fraction(1, 2 * chunks)
    return Cost(rounds, beta, Fraction(0), Fraction(1), Fraction(n - 1))


ALGORITHM = Algorithm(
    primitive="broadcast",
    slug="double_binary_tree",
    title_zh="双二叉树",
    title_en="Double binary tree",
    order=5,
    family="tree",
    layout="tree",
    ports="multi",
    build=double_binary_tree,
    closed_form=closed_form,
    formulas=Formulas(
        rounds=r"\lceil \log_2 N \rceil + k - 1",
        beta=r"\frac{\lceil \log_2 N \rceil + k - 1}{k} M",
        gamma="0",
        max_sent="M",
        note_zh="一轮里每个 rank 可以同时向两个孩子发、从两个父亲收（多端口）。"
        "N = 3，或 k = 1 且 N = 2 的幂加 1 时，有一轮只装了一半，比公式少半块。",
        limits=("beta",),
    ),
    parameters=(CHUNKS,),
    idea_zh="一棵二叉树里有一半 rank 是叶子，只收不发。再放一棵叶子和内部节点互换的树，"
    "各传一半数据，"
    "人人都既收又发。",
    wins_zh="数据大、N 也大的时候：轮数是对数级，字节数又接近 M。NCCL 的 Broadcast 不用它。",
    used_by=(Usage("Open MPI", "coll_base_bcast.c（split_bintree）", "同一思路的近亲"),),
    sources=("Sanders, Speck, Träff, Parallel Computing 35, 2009",),
)
