"""What the registry knows of an algorithm: names, valid N, closed form, users, sources."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from collectives.cost import Cost
from collectives.primitives import PRIMITIVES, Primitive
from collectives.schedule import Schedule, relabel_root


class UnsupportedChoice(ValueError):
    """An N, root or parameter that the algorithm does not have. ``str()`` is a Chinese sentence."""


@dataclass(frozen=True)
class RankRule:
    """Which numbers of ranks an algorithm works for, and why not the others.

    ``reason_zh`` says why other N are off; ``None`` where every N from 2 is fine.
    """

    allows: Callable[[int], bool]
    reason_zh: str | None = None

    def require(self, n: int, name: str) -> None:
        """Raise :class:`UnsupportedChoice`, naming the value and the rule, if ``n`` is off."""
        if n < 2:
            raise UnsupportedChoice(f"{name} 不支持 N = {n}：至少要有 2 个 rank。")
        if not self.allows(n):
            raise UnsupportedChoice(f"{name} 不支持 N = {n}：{self.reason_zh}")


ANY_RANKS = RankRule(lambda n: True)
POWER_OF_TWO = RankRule(
    lambda n: n & (n - 1) == 0, "伙伴按编号异或来配，N 不是 2 的幂时有的伙伴不存在。"
)
EVEN_RANKS = RankRule(lambda n: n % 2 == 0, "rank 要两两成对，N 必须是偶数。")


@dataclass(frozen=True)
class Parameter:
    """A number beside N that the schedule depends on.

    ``choices(n)`` are the values offered at N ranks, ascending, never empty where N is valid;
    ``default(n)`` is one of them. ``symbol`` stands for it in formulas.
    """

    name: str
    symbol: str
    title_zh: str
    choices: Callable[[int], tuple[int, ...]]
    default: Callable[[int], int]


def chunks_parameter(default: Callable[[int], int]) -> Parameter:
    """The number of pipeline chunks k: 1, 2, 4, 8 and the default."""
    return Parameter(
        name="chunks",
        symbol="k",
        title_zh="流水块数 k",
        choices=lambda n: tuple(sorted({1, 2, 4, 8, default(n)})),
        default=default,
    )


def node_sizes(n: int) -> tuple[int, ...]:
    """The s with 1 < s < n that divide n: ranks per node, for at least two nodes."""
    return tuple(s for s in range(2, n) if n % s == 0)


#: Ranks per node s; by default as many as fit a node of eight.
RANKS_PER_NODE = Parameter(
    name="node",
    symbol="s",
    title_zh="每节点 rank 数 s",
    choices=node_sizes,
    default=lambda n: max((s for s in node_sizes(n) if s <= 8), default=node_sizes(n)[0]),
)
EQUAL_NODES = RankRule(
    lambda n: bool(node_sizes(n)),
    "N 要能平分成至少两个节点、每个节点至少两个 rank，所以不能是素数。",
)


@dataclass(frozen=True)
class Formulas:
    """The closed form as LaTeX in N, M and the parameters' symbols, shown beside counted numbers.

    Where it matters, P is the largest power of two that is at most N, and F is 0 if N = P, else 1.
    ``limits`` names the fields that hold only as the first parameter grows without bound, and
    ``powers_of_two_only`` says that the formulas are for such N alone;
    ``note_zh`` says what the formula leaves out.
    """

    rounds: str
    beta: str
    gamma: str
    max_sent: str
    note_zh: str = ""
    limits: tuple[str, ...] = ()
    powers_of_two_only: bool = False


@dataclass(frozen=True)
class Usage:
    """A library that runs the algorithm, with the source file that was read."""

    library: str
    source: str
    note_zh: str = ""


@dataclass(frozen=True)
class Algorithm:
    """One entry of the registry. Each algorithm module defines one, named ``ALGORITHM``.

    ``build(n, **parameters)`` returns the schedule for root 0 and raises
    :class:`UnsupportedChoice`. ``closed_form(n, **parameters)`` is the cost by formula, which
    tests hold against the counted one. ``order`` sorts the algorithms of one primitive; the one
    with ``opens`` is shown first. ``family`` is the page ``docs/algorithms/<family>.md`` that
    explains it.
    """

    primitive: str
    slug: str
    title_zh: str
    title_en: str
    order: int
    family: str
    layout: str
    build: Callable[..., Schedule]
    closed_form: Callable[..., Cost]
    formulas: Formulas
    idea_zh: str
    wins_zh: str
    used_by: tuple[Usage, ...] = ()
    sources: tuple[str, ...] = ()
    opens: bool = False
    ports: str = "single"
    rank_rule: RankRule = ANY_RANKS
    parameters: tuple[Parameter, ...] = ()

    @property
    def name(self) -> str:
        """``primitive/slug``."""
        return f"{self.primitive}/{self.slug}"

    @property
    def primitive_entry(self) -> Primitive:
        """The primitive it carries out."""
        return PRIMITIVES[self.primitive]

    @property
    def title(self) -> str:
        """Chinese first, English in full-width brackets, as the player's menu shows it."""
        return f"{self.title_zh}（{self.title_en}）"

    def valid_ranks(self, candidates: range) -> list[int]:
        """Those of ``candidates`` that the algorithm works for."""
        return [n for n in candidates if n >= 2 and self.rank_rule.allows(n)]

    def resolve(self, n: int, chosen: Mapping[str, int]) -> dict[str, int]:
        """All parameters at N ranks, with defaults filled in.

        Raises:
            UnsupportedChoice: N, a parameter's name or its value is not one the algorithm has.
        """
        self.rank_rule.require(n, self.name)
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in chosen:
            if name not in known:
                have = "、".join(known) or "没有参数"
                raise UnsupportedChoice(f"{self.name} 没有参数 {name}（{have}）。")
        values = {}
        for name, parameter in known.items():
            value = chosen.get(name, parameter.default(n))
            if value not in parameter.choices(n):
                offered = "、".join(map(str, parameter.choices(n)))
                raise UnsupportedChoice(
                    f"{self.name} 在 N = {n} 时 {name} 不能是 {value}，可选 {offered}。"
                )
            values[name] = value
        return values

    def combinations(self, n: int) -> list[dict[str, int]]:
        """Every combination of parameters at N ranks; one empty one where there are none."""
        names = [parameter.name for parameter in self.parameters]
        offered = [parameter.choices(n) for parameter in self.parameters]
        return [dict(zip(names, values, strict=True)) for values in itertools.product(*offered)]

    def schedule(self, n: int, root: int = 0, **parameters: int) -> Schedule:
        """The schedule for N ranks and a root, not yet proved.

        Raises:
            UnsupportedChoice: N, root or a parameter is not one the algorithm has.
        """
        schedule = self.build(n, **self.resolve(n, parameters))
        if not self.primitive_entry.rooted:
            if root != 0:
                raise UnsupportedChoice(f"{self.name} 没有根，root 只能是 0，不能是 {root}。")
            return schedule
        if not 0 <= root < n:
            raise UnsupportedChoice(
                f"{self.name} 在 N = {n} 时没有 rank {root}，根应在 0 到 {n - 1}。"
            )
        return relabel_root(schedule, root, self.primitive_entry.rank_indexed)

    def cost(self, n: int, **parameters: int) -> Cost:
        """The closed form at N ranks, parameters filled in with their defaults."""
        return self.closed_form(n, **self.resolve(n, parameters))


def share(n: int) -> Fraction:
    """(N - 1) / N, the part of M that is not already in place."""
    return Fraction(n - 1, n)
