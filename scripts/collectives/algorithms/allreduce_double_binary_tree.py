"""AllReduce on two binary trees: reduce up and broadcast down both, half of the vector on each.

Source: NVIDIA/nccl ``src/graph/trees.cc`` (ncclGetDtree), ``src/device/all_reduce.h``
(runTreeSplit); Sanders, Speck, Traeff 2009.
"""

from __future__ import annotations

from fractions import Fraction

from collectives.algorithm import ANY_RANKS, Algorithm, Formulas, Usage, chunks_parameter
from collectives.building_blocks import double_tree
from collectives.cost import Cost
from collectives.primitives import ALLREDUCE, ceil_log2
from collectives.schedule import COPY, REDUCE, Round, Schedule, Transfer

CHUNKS = chunks_parameter(lambda n: 2)


def double_binary_tree(n: int, chunks: int = 2) -> Schedule:
    """2 L + k - 1 rounds, L = ceil(log2 N): L up, L down, k chunks one behind the other.

    A rank at depth d sends chunk c up in round c + L - d + 1 and hears it again in round
    c + L + d. Children and parent are served in one round, so more than one port is needed.

    Raises:
        UnsupportedChoice: n is below 2.
    """
    ANY_RANKS.require(n, "allreduce/double_binary_tree")
    levels = ceil_log2(n)
    blocks = 2 * chunks
    trees = double_tree(n)
    rounds = []
    for t in range(1, 2 * levels + chunks):
        up: list[Transfer] = []
        down: list[Transfer] = []
        for half, tree in enumerate(trees):
            for v in range(n):
                parent = tree.parent[v]
                if parent is None:
                    continue
                rising = t - 1 - levels + tree.depth[v]
                if 0 <= rising < chunks:
                    offset = half * chunks + rising
                    up.append(Transfer(v, parent, REDUCE, "tensor", offset, "tensor", offset))
                falling = t - levels - tree.depth[v]
                if 0 <= falling < chunks:
                    offset = half * chunks + falling
                    down.append(Transfer(parent, v, COPY, "tensor", offset, "tensor", offset))
        if up and down:
            phase, caption = "reduce", "两棵树上，后面的块还在往上归约，前面的块已经往下广播。"
        elif up:
            phase, caption = "reduce", "两棵树同时往上归约一层：孩子把部分和交给父亲累加。"
        else:
            phase, caption = "broadcast", "两棵树同时往下广播一层：父亲把总和交给孩子。"
        rounds.append(Round(phase, caption, tuple(up + down)))
    return Schedule(
        "allreduce",
        "double_binary_tree",
        n,
        None,
        "multi",
        blocks,
        ALLREDUCE.buffers(n, blocks),
        "tree",
        tuple(rounds),
        {"chunks": chunks},
    )


def closed_form(n: int, chunks: int) -> Cost:
    """2 L + k - 1 rounds; what is on a port follows from the shape of the trees alone.

    A rank with a parent and c children sends its part of a chunk up and c copies down; bytes and
    additions of a round are the most that any rank has to do in it.
    """
    levels = ceil_log2(n)
    trees = double_tree(n)
    children = [[tree.parent.count(v) for v in range(n)] for tree in trees]
    beta = gamma = 0
    for t in range(1, 2 * levels + chunks):
        busiest = adding = 0
        for v in range(n):
            sent = received = added = 0
            for tree, below in zip(trees, children, strict=True):
                depth, inner = tree.depth[v], tree.parent[v] is not None
                own_up = 0 <= t - 1 - levels + depth < chunks
                own_down = 0 <= t - levels - depth < chunks
                children_up = 0 <= t - levels + depth < chunks
                children_down = 0 <= t - 1 - levels - depth < chunks
                sent += (inner and own_up) + below[v] * children_down
                received += (inner and own_down) + below[v] * children_up
                added += below[v] * children_up
            busiest = max(busiest, sent, received)
            adding = max(adding, added)
        beta += busiest
        gamma += adding
    most = max(
        sum(
            (tree.parent[v] is not None) + below[v]
            for tree, below in zip(trees, children, strict=True)
        )
        for v in range(n)
    )
    return Cost(
        2 * levels + chunks - 1,
        Fraction(beta, 2 * chunks),
        Fraction(gamma, 2 * chunks),
        Fraction(most, 2),
        Fraction(2 * (n - 1)),
    )


ALGORITHM = Algorithm(
    primitive="allreduce",
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
        rounds=r"2 \lceil \log_2 N \rceil + k - 1",
        beta="2 M",
        gamma="M",
        max_sent="2 M",
        note_zh="字节和加法是 k 很大、N ≥ 4 时的极限；k 小时更多，见数出来的值。N = 2、3 时"
        "单个 rank 最多发送 M、3/2 M。一轮里每个 rank 同时与父亲和孩子通信（多端口）。",
        limits=("beta", "gamma", "max_sent"),
    ),
    parameters=(CHUNKS,),
    idea_zh="两棵二叉树各负责一半数据，先往上归约、再往下广播，块与块首尾相接。"
    "一棵树里的叶子是另一棵树里的内部节点，于是每个 rank 的收发都排得满满的。",
    wins_zh="中等消息、节点很多的时候：k 大时字节接近 2M，轮数是对数级。NCCL 的树连接节点，"
    "节点内是一条链。",
    used_by=(
        Usage("NCCL 2.30", "src/graph/trees.cc、src/device/all_reduce.h（runTreeSplit）", "跨节点"),
    ),
    sources=(
        "NVIDIA/nccl, src/graph/trees.cc",
        "Sanders, Speck, Träff, Parallel Computing 35, 2009",
    ),
)
