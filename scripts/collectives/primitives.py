"""The eight primitives: their buffers, the state they start from and the state they must reach.

Buffers carry the names of the PyTorch call's own arguments (torch.distributed, 2.13). Block
numbers are indices into M, the size that nccl-tests reports for the primitive
(nccl-tests, ``src/*.cu``, ``*GetCollByteCount``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from collectives.schedule import Buffer


class Block(NamedTuple):
    """What one block of a buffer holds: block ``origin`` of M, as contributed by some ranks.

    ``contributors`` is a bit mask: bit r is set when rank r's contribution is in. A set is enough
    for the multiset of the model, because a second count of the same rank is refused at once.
    """

    origin: int
    contributors: int

    def ranks(self) -> list[int]:
        """The contributing ranks, ascending."""
        return [r for r in range(self.contributors.bit_length()) if self.contributors >> r & 1]


#: Content of one buffer on one rank; ``None`` is undefined data in a start state and
#: "nothing is required here" in an end state.
Content = list["Block | None"]


class LowerBound(NamedTuple):
    """What no one-port schedule can beat: rounds, and beta and gamma in fractions of M.

    Sources: Chan, Heimlich, Purkayastha, van de Geijn, CCPE 2007; Patarasuk and Yuan, JPDC 69(2),
    2009 for AllReduce.
    """

    rounds: int
    beta: Fraction
    gamma: Fraction


class LowerBoundFormulas(NamedTuple):
    """The bounds as LaTeX, for the pages; tests hold them against :class:`LowerBound`."""

    rounds: str
    beta: str
    gamma: str


def ceil_log2(n: int) -> int:
    """The smallest L with 2**L >= n, for n >= 1."""
    return (n - 1).bit_length()


@dataclass(frozen=True)
class Primitive:
    """One collective operation, as the eight PyTorch demos define it.

    ``blocks(n)`` is the number of blocks that the algorithms of the primitive cut M into unless
    they need another one. ``buffers(n, blocks)`` are its own buffers, without scratch.
    ``start(n, blocks, root, rank)`` and ``end(n, blocks, root, rank)`` give the content of each of
    them that the rank has; ``value(block, rank, n, blocks)`` is the number that the demo puts
    into block ``block`` on behalf of rank ``rank``. ``rank_indexed`` are the buffers whose chunk c
    belongs to rank c.
    """

    slug: str
    title_zh: str
    title_en: str
    rooted: bool
    reduces: bool
    size_zh: str
    blocks: Callable[[int], int]
    buffers: Callable[[int, int], tuple[Buffer, ...]]
    start: Callable[[int, int, int, int], dict[str, Content]]
    end: Callable[[int, int, int, int], dict[str, Content]]
    value: Callable[[int, int, int, int], int]
    lower_bound: Callable[[int], LowerBound]
    lower_bound_formulas: LowerBoundFormulas
    rank_indexed: frozenset[str] = frozenset()

    @property
    def title(self) -> str:
        """The title as engineers say it: English first, Chinese in full-width brackets."""
        return f"{self.title_en}（{self.title_zh}）"


def _undefined(count: int) -> Content:
    return [None] * count


def _from_one(blocks: range, rank: int) -> Content:
    return [Block(block, 1 << rank) for block in blocks]


def _from_all(blocks: range, n: int) -> Content:
    return [Block(block, (1 << n) - 1) for block in blocks]


def _chunk(blocks: int, n: int, index: int) -> range:
    size = blocks // n
    return range(index * size, (index + 1) * size)


def _gathered(n: int, blocks: int) -> Content:
    return [Block(block, 1 << block // (blocks // n)) for block in range(blocks)]


def _bound(beta: int, gamma: int) -> Callable[[int], LowerBound]:
    """Bounds that are ceil(log2 N) rounds and whole multiples of (N - 1) / N."""

    def lower_bound(n: int) -> LowerBound:
        share = Fraction(n - 1, n)
        return LowerBound(ceil_log2(n), beta * share, gamma * share)

    return lower_bound


_ROUNDS = r"\lceil \log_2 N \rceil"
_SHARE = r"\frac{N-1}{N} M"


BROADCAST = Primitive(
    slug="broadcast",
    title_zh="广播",
    title_en="Broadcast",
    rooted=True,
    reduces=False,
    size_zh="要广播的整个向量",
    blocks=lambda n: 3,
    buffers=lambda n, blocks: (Buffer("tensor", "inout", blocks),),
    start=lambda n, blocks, root, rank: {
        "tensor": _from_one(range(blocks), root) if rank == root else _undefined(blocks)
    },
    end=lambda n, blocks, root, rank: {"tensor": _from_one(range(blocks), root)},
    value=lambda block, rank, n, blocks: block + 1,
    lower_bound=lambda n: LowerBound(ceil_log2(n), Fraction(1), Fraction(0)),
    lower_bound_formulas=LowerBoundFormulas(_ROUNDS, "M", "0"),
)

SCATTER = Primitive(
    slug="scatter",
    title_zh="散发",
    title_en="Scatter",
    rooted=True,
    reduces=False,
    size_zh="根的发送缓冲区（N 段合起来）",
    blocks=lambda n: 2 * n,
    buffers=lambda n, blocks: (
        Buffer("scatter_list", "input", blocks, on_root_only=True),
        Buffer("output_tensor", "output", blocks // n),
    ),
    start=lambda n, blocks, root, rank: {
        **({"scatter_list": _from_one(range(blocks), root)} if rank == root else {}),
        "output_tensor": _undefined(blocks // n),
    },
    end=lambda n, blocks, root, rank: {
        **({"scatter_list": _undefined(blocks)} if rank == root else {}),
        "output_tensor": _from_one(_chunk(blocks, n, rank), root),
    },
    value=lambda block, rank, n, blocks: block,
    lower_bound=_bound(beta=1, gamma=0),
    lower_bound_formulas=LowerBoundFormulas(_ROUNDS, _SHARE, "0"),
    rank_indexed=frozenset({"scatter_list"}),
)

GATHER = Primitive(
    slug="gather",
    title_zh="收集",
    title_en="Gather",
    rooted=True,
    reduces=False,
    size_zh="根的接收缓冲区（N 段合起来）",
    blocks=lambda n: 2 * n,
    buffers=lambda n, blocks: (
        Buffer("my_chunk", "input", blocks // n),
        Buffer("gather_list", "output", blocks, on_root_only=True),
    ),
    start=lambda n, blocks, root, rank: {
        "my_chunk": _from_one(_chunk(blocks, n, rank), rank),
        **({"gather_list": _undefined(blocks)} if rank == root else {}),
    },
    end=lambda n, blocks, root, rank: {
        "my_chunk": _undefined(blocks // n),
        **({"gather_list": _gathered(n, blocks)} if rank == root else {}),
    },
    value=lambda block, rank, n, blocks: rank,
    lower_bound=_bound(beta=1, gamma=0),
    lower_bound_formulas=LowerBoundFormulas(_ROUNDS, _SHARE, "0"),
    rank_indexed=frozenset({"gather_list"}),
)

REDUCE = Primitive(
    slug="reduce",
    title_zh="归约",
    title_en="Reduce",
    rooted=True,
    reduces=True,
    size_zh="一个 rank 的整个向量",
    blocks=lambda n: n,
    buffers=lambda n, blocks: (Buffer("tensor", "inout", blocks),),
    start=lambda n, blocks, root, rank: {"tensor": _from_one(range(blocks), rank)},
    end=lambda n, blocks, root, rank: {
        "tensor": _from_all(range(blocks), n) if rank == root else _undefined(blocks)
    },
    value=lambda block, rank, n, blocks: rank + 1,
    lower_bound=lambda n: LowerBound(ceil_log2(n), Fraction(1), Fraction(n - 1, n)),
    lower_bound_formulas=LowerBoundFormulas(_ROUNDS, "M", _SHARE),
)

ALLGATHER = Primitive(
    slug="allgather",
    title_zh="全收集",
    title_en="AllGather",
    rooted=False,
    reduces=False,
    size_zh="一个 rank 的输出（N 段合起来）",
    blocks=lambda n: 2 * n,
    buffers=lambda n, blocks: (
        Buffer("my_chunk", "input", blocks // n),
        Buffer("gather_list", "output", blocks),
    ),
    start=lambda n, blocks, root, rank: {
        "my_chunk": _from_one(_chunk(blocks, n, rank), rank),
        "gather_list": _undefined(blocks),
    },
    end=lambda n, blocks, root, rank: {
        "my_chunk": _undefined(blocks // n),
        "gather_list": _gathered(n, blocks),
    },
    value=lambda block, rank, n, blocks: rank,
    lower_bound=_bound(beta=1, gamma=0),
    lower_bound_formulas=LowerBoundFormulas(_ROUNDS, _SHARE, "0"),
)

REDUCESCATTER = Primitive(
    slug="reducescatter",
    title_zh="归约散发",
    title_en="ReduceScatter",
    rooted=False,
    reduces=True,
    size_zh="一个 rank 的输入（N 段合起来）",
    blocks=lambda n: 2 * n,
    buffers=lambda n, blocks: (
        Buffer("input_list", "input", blocks),
        Buffer("output", "output", blocks // n),
    ),
    start=lambda n, blocks, root, rank: {
        "input_list": _from_one(range(blocks), rank),
        "output": _undefined(blocks // n),
    },
    end=lambda n, blocks, root, rank: {
        "input_list": _undefined(blocks),
        "output": _from_all(_chunk(blocks, n, rank), n),
    },
    value=lambda block, rank, n, blocks: 10 * rank + block // (blocks // n),
    lower_bound=_bound(beta=1, gamma=1),
    lower_bound_formulas=LowerBoundFormulas(_ROUNDS, _SHARE, _SHARE),
)

ALLREDUCE = Primitive(
    slug="allreduce",
    title_zh="全归约",
    title_en="AllReduce",
    rooted=False,
    reduces=True,
    size_zh="一个 rank 的整个向量",
    blocks=lambda n: n,
    buffers=lambda n, blocks: (Buffer("tensor", "inout", blocks),),
    start=lambda n, blocks, root, rank: {"tensor": _from_one(range(blocks), rank)},
    end=lambda n, blocks, root, rank: {"tensor": _from_all(range(blocks), n)},
    value=lambda block, rank, n, blocks: rank + 1,
    lower_bound=_bound(beta=2, gamma=1),
    lower_bound_formulas=LowerBoundFormulas(_ROUNDS, r"2\,\frac{N-1}{N} M", _SHARE),
)

ALLTOALL = Primitive(
    slug="alltoall",
    title_zh="全交换",
    title_en="All-to-All",
    rooted=False,
    reduces=False,
    size_zh="一个 rank 的发送缓冲区（N 段合起来，含留给自己的一段）",
    blocks=lambda n: 2 * n,
    buffers=lambda n, blocks: (
        Buffer("input_tensor", "input", blocks),
        Buffer("output_tensor", "output", blocks),
    ),
    start=lambda n, blocks, root, rank: {
        "input_tensor": _from_one(range(blocks), rank),
        "output_tensor": _undefined(blocks),
    },
    end=lambda n, blocks, root, rank: {
        "input_tensor": _undefined(blocks),
        "output_tensor": [
            Block(block, 1 << source) for source in range(n) for block in _chunk(blocks, n, rank)
        ],
    },
    value=lambda block, rank, n, blocks: 10 * rank + block // (blocks // n),
    lower_bound=_bound(beta=1, gamma=0),
    lower_bound_formulas=LowerBoundFormulas(_ROUNDS, _SHARE, "0"),
)

#: The eight, in the order of the original page. The only list of them.
PRIMITIVES: dict[str, Primitive] = {
    primitive.slug: primitive
    for primitive in (
        BROADCAST,
        SCATTER,
        GATHER,
        REDUCE,
        ALLGATHER,
        REDUCESCATTER,
        ALLREDUCE,
        ALLTOALL,
    )
}
