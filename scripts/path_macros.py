"""What the pages of the path ask for: single counted numbers, and the factors of bus bandwidth.

Registered by ``site_macros``.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from collectives.algorithm import Algorithm, UnsupportedChoice
from collectives.algorithms import REGISTRY, algorithms_of
from collectives.cost import Cost, count_cost
from collectives.primitives import PRIMITIVES
from collectives.schedule import Schedule
from race_macros import LEDGER, machine_named, size_text, time_text
from schedule_macros import size

if TYPE_CHECKING:
    from site_macros import Page

BUS_FACTORS = {
    "broadcast": "1",
    "scatter": r"\frac{N-1}{N}",
    "gather": r"\frac{N-1}{N}",
    "reduce": "1",
    "allgather": r"\frac{N-1}{N}",
    "reducescatter": r"\frac{N-1}{N}",
    "allreduce": r"2\,\frac{N-1}{N}",
    "alltoall": r"\frac{N-1}{N}",
}
"""busbw / algbw of nccl-tests 2.19.6, ``src/*.cu``, functions ``*GetBw``."""

SHOWN_RANKS = (2, 4, 8, 16)
"""The N whose counted factors a page shows; every algorithm that is least anywhere takes them."""


# -------------------------------------------------------------------------------------- counting


def port_traffic(schedule: Schedule) -> Fraction:
    """Return the most that any one rank sends, or receives, over all rounds, in M."""
    sent, received = [0] * schedule.ranks, [0] * schedule.ranks
    for round_ in schedule.rounds:
        for transfer in round_.transfers:
            if transfer.src != transfer.dst:
                sent[transfer.src] += transfer.blocks
                received[transfer.dst] += transfer.blocks
    return Fraction(max(*sent, *received), schedule.blocks)


def least_traffic(primitive: str, ranks: int) -> tuple[Fraction, Algorithm]:
    """Return what the busiest port carries in the algorithm that asks least of it, and that one.

    All algorithms of the registry that work for N are asked, with their default parameters.
    """
    candidates = [a for a in algorithms_of(primitive) if a.valid_ranks(range(ranks, ranks + 1))]
    return min(
        ((port_traffic(algorithm.schedule(ranks)), algorithm) for algorithm in candidates),
        key=lambda pair: pair[0],
    )


# --------------------------------------------------------------------------------------- macros


def counted(page: Page, name: str, ranks: int, field: str, **parameters: int) -> str:
    """Say one number that is counted from a schedule.

    Args:
        page: the page that asks.
        name: ``primitive/algorithm``.
        ranks: N.
        field: "rounds", "beta", "gamma", "max_sent" or "total_sent".
        parameters: of the algorithm; its defaults where left out.
    """
    cost = _cost(page, name, ranks, parameters)
    if field not in Cost._fields:
        raise page.error(f"账单里没有 {field!r}；有 {'、'.join(Cost._fields)}")
    value = getattr(cost, field)
    return str(value) if field == "rounds" else size(value)


def counted_time(
    page: Page, name: str, ranks: int, size: int, machine: str = LEDGER, **parameters: int
) -> str:
    """Say how long an algorithm takes for M = ``size`` bytes on a machine, reductions left out."""
    cost = _cost(page, name, ranks, parameters)
    chosen = machine_named(page, machine)
    return time_text(cost.rounds * chosen.alpha + cost.beta * size / chosen.bandwidth)


def break_even(page: Page, one: str, other: str, ranks: int, machine: str = LEDGER) -> str:
    """Say below which M an algorithm of fewer rounds takes less time than one of fewer bytes."""
    few, least = _cost(page, one, ranks, {}), _cost(page, other, ranks, {})
    if few.rounds >= least.rounds or few.beta <= least.beta:
        raise page.error(f"N = {ranks} 时 {one} 和 {other} 没有分界点")
    chosen = machine_named(page, machine)
    factor = (least.rounds - few.rounds) / (few.beta - least.beta)
    return size_text(factor * chosen.alpha * chosen.bandwidth)


def machine_words(page: Page, machine: str, bandwidth_only: bool = False) -> str:
    """Say α and bandwidth of a machine: ``α = 3.4 µs、370.8 GB/s``."""
    chosen = machine_named(page, machine)
    bandwidth = f"{float(chosen.bandwidth / 10**9):g} GB/s"
    return bandwidth if bandwidth_only else f"α = {time_text(chosen.alpha)}、{bandwidth}"


def busbw_table(page: Page) -> str:
    """Derive the factor of every primitive: nccl-tests' formula beside what schedules count."""
    lines = [
        ["原语", "busbw = algbw ×", *(f"N = {n}" for n in SHOWN_RANKS), "例如"],
        ["---"] * (len(SHOWN_RANKS) + 3),
    ]
    for slug, entry in PRIMITIVES.items():
        least = [least_traffic(slug, n)[0] for n in SHOWN_RANKS]
        example = next(
            algorithm.title_zh
            for algorithm in algorithms_of(slug)
            if all(_reaches(algorithm, n, m) for n, m in zip(SHOWN_RANKS, least, strict=True))
        )
        link = page.link(f"primitives/{slug}.md")
        lines.append(
            [
                f"[{entry.title_en}]({link})",
                f"${BUS_FACTORS[slug]}$",
                *map(str, least),
                example,
            ]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cost(page: Page, name: str, ranks: int, parameters: dict[str, int]) -> Cost:
    if name not in REGISTRY:
        raise page.error(f"没有名为 {name!r} 的算法；现有：{'、'.join(REGISTRY)}")
    try:
        return count_cost(REGISTRY[name].schedule(ranks, **parameters))
    except UnsupportedChoice as error:
        raise page.error(str(error)) from None


def _reaches(algorithm: Algorithm, ranks: int, least: Fraction) -> bool:
    works = bool(algorithm.valid_ranks(range(ranks, ranks + 1)))
    return works and port_traffic(algorithm.schedule(ranks)) == least


MACROS: tuple[Callable[..., str], ...] = (
    counted,
    counted_time,
    break_even,
    machine_words,
    busbw_table,
)
"""Every macro of this module; ``site_macros`` fills in the page."""
