"""What pages may ask about races of algorithms: the race itself, and its results in words.

Every number is counted from a schedule that was proved, and stays an exact fraction until it is
written. ``docs/assets/js/race.js`` says the same in the browser, in the same words; a test holds
the two together. Registered by ``site_macros``.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from collectives.algorithm import Algorithm, UnsupportedChoice
from collectives.algorithms import REGISTRY
from collectives.cost import Cost, count_cost
from collectives.prove import prove
from generate_schedules import published_ranks
from schedule_macros import TRAFFIC, size

if TYPE_CHECKING:
    from site_macros import Page

LEDGER = "ledger"
"""The machine that a race opens with."""

PLOTTED = (Fraction(1000), Fraction(10**10))
"""The smallest and the largest M that the race shows, in bytes."""


class Machine(NamedTuple):
    """Seconds of a round without its bytes, and bytes per second of a port."""

    alpha: Fraction
    bandwidth: Fraction


class Lane(NamedTuple):
    """An algorithm in a race, with its counted cost."""

    name: str
    cost: Cost

    def seconds(self, machine: Machine, size: Fraction) -> Fraction:
        """Return how long it takes for M = ``size`` bytes."""
        return self.cost.rounds * machine.alpha + self.cost.beta * size / machine.bandwidth


class Crossing(NamedTuple):
    """Where the lead changes: M = factor * alpha * bandwidth, the fastest below and above it."""

    factor: Fraction
    before: list[Lane]
    after: list[Lane]


# --------------------------------------------------------------------------------------- macros


def race(page: Page, primitive: str, ranks: int, algorithms: str, size: int = 1_000_000) -> str:
    """Show a race, with a table of its results for readers without scripts, print and search.

    Args:
        page: the page that asks.
        primitive: its slug, such as "allreduce".
        ranks: the number of ranks to open with.
        algorithms: two to four slugs with spaces between them.
        size: M to open with, in bytes.
    """
    lanes = _lanes(page, primitive, ranks, algorithms)
    machine = machine_named(page, LEDGER)
    rows = "".join(
        f'<tr><th scope="row">{html.escape(lane.name)}</th><td>{lane.cost.rounds}</td>'
        f"<td>{share_text(lane.cost.beta)}</td>"
        f"<td>{time_text(lane.seconds(machine, Fraction(size)))}</td></tr>"
        for lane in lanes
    )
    caption = (
        f"{_title(primitive)}，{ranks} 个 GPU，M = {size_text(Fraction(size))}，"
        f"α = {time_text(machine.alpha)}，带宽 {machine.bandwidth / 10**9} GB/s"
    )
    catalog = html.escape(page.url_of("assets/schedules/catalog.json"))
    return (
        f'<div class="cp-figure" markdown="0"><collective-race catalog="{catalog}" '
        f'primitive="{primitive}" ranks="{ranks}" algorithms="{html.escape(algorithms)}" '
        f'bytes="{size}"><table class="cp-rounds"><caption>{caption}</caption><thead><tr>'
        f'<th scope="col">算法</th><th scope="col">轮数</th><th scope="col">{TRAFFIC}</th>'
        f'<th scope="col">用时</th></tr></thead><tbody>{rows}</tbody></table>'
        "</collective-race></div>\n"
    )


def race_order(
    page: Page, primitive: str, ranks: int, algorithms: str, size: int, machine: str = LEDGER
) -> str:
    """Say who arrives first at M = ``size`` bytes on a machine, and when the others do."""
    lanes = _lanes(page, primitive, ranks, algorithms)
    return order_sentence(lanes, machine_named(page, machine), Fraction(size), ranks)


def race_crossings(
    page: Page, primitive: str, ranks: int, algorithms: str, machine: str = LEDGER
) -> str:
    """Say where the lead changes on a machine, one item of a list for each sentence."""
    lanes = _lanes(page, primitive, ranks, algorithms)
    sentences = crossing_sentences(lanes, machine_named(page, machine))
    return "".join(f"- {sentence}\n" for sentence in sentences)


def race_table(page: Page, primitive: str, ranks: int, algorithms: str, size: int) -> str:
    """Show how long each algorithm takes at M = ``size`` bytes on every machine."""
    lanes = _lanes(page, primitive, ranks, algorithms)
    lines = [["机器", *(lane.name for lane in lanes)], ["---"] * (len(lanes) + 1)]
    for entry in _machines(page):
        machine = machine_named(page, entry["slug"])
        times = [time_text(lane.seconds(machine, Fraction(size))) for lane in lanes]
        lines.append([entry["title"], *times])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def race_machines(page: Page) -> str:
    """Show the machines to choose from, each with what its numbers are and where they are from."""
    lines = [["预设", "α", "带宽"], ["---"] * 3]
    notes = []
    for entry in _machines(page):
        lines.append([entry["title"], f"{entry['microseconds']} µs", f"{entry['gigabytes']} GB/s"])
        links = "；".join(f"[{source['text']}]({source['url']})" for source in entry["sources"])
        notes.append(
            f"- **{entry['title']}**：{entry['about']}{f'来源：{links}。' if links else ''}"
        )
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return table + "\n\n" + "\n".join(notes) + "\n"


# ------------------------------------------------------------------------------------- counting


def leaders(lanes: Sequence[Lane]) -> tuple[list[Lane], list[Crossing]]:
    """Return the fastest for the smallest M, and where the lead changes as M grows.

    A time is a straight line, rounds * alpha + beta * M, so a lead once lost never comes back.
    """

    def alike(lane: Lane) -> list[Lane]:
        line = (lane.cost.rounds, lane.cost.beta)
        return [other for other in lanes if (other.cost.rounds, other.cost.beta) == line]

    lead = min(lanes, key=lambda lane: (lane.cost.rounds, lane.cost.beta))
    first, crossings = alike(lead), []
    while flatter := [lane for lane in lanes if lane.cost.beta < lead.cost.beta]:
        factor, _, _, after = min(
            (
                Fraction(lane.cost.rounds - lead.cost.rounds) / (lead.cost.beta - lane.cost.beta),
                lane.cost.beta,
                index,
                lane,
            )
            for index, lane in enumerate(flatter)
        )
        crossings.append(Crossing(factor, alike(lead), alike(after)))
        lead = after
    return first, crossings


# ---------------------------------------------------------------------------------------- words


def significant(value: Fraction, digits: int = 3) -> Fraction:
    """Round to some significant decimal digits, halves up."""
    if value == 0:
        return value
    unit = Fraction(1)
    while value >= unit * 10**digits:
        unit *= 10
    while value < unit * 10 ** (digits - 1):
        unit /= 10
    return Fraction(int(value / unit + Fraction(1, 2))) * unit


def _with_unit(value: Fraction, units: Sequence[tuple[Fraction, str]]) -> str:
    rounded = significant(value)
    scale, unit = next(
        ((scale, unit) for scale, unit in reversed(units) if rounded >= scale), units[0]
    )
    # At most twelve decimal places, which is more than three digits of the smallest unit need.
    text = f"{float(significant(value / scale)):.12f}".rstrip("0").rstrip(".")
    return f"{text} {unit}"


def size_text(size: Fraction) -> str:
    """Write a number of bytes: ``600 KB``."""
    units = ("B", "KB", "MB", "GB", "TB")
    return _with_unit(size, [(Fraction(1000**i), unit) for i, unit in enumerate(units)])


def time_text(seconds: Fraction) -> str:
    """Write a duration: ``65 µs``."""
    if seconds == 0:
        return "0"
    units = ("ns", "µs", "ms", "s")
    return _with_unit(seconds, [(Fraction(1000**i, 10**9), unit) for i, unit in enumerate(units)])


def share_text(share: Fraction) -> str:
    """Write a fraction of M: ``7/4 M``."""
    return size(share)


def joined(*parts: str) -> str:
    """Put parts together, with a space where Chinese meets Latin letters or digits."""
    text = "".join(f"{part}\0" for part in parts if part)[:-1]
    text = re.sub(r"(?<=[一-鿿])\0(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])\0(?=[一-鿿])", " ", text)
    return text.replace("\0", "")


def _names(lanes: Sequence[Lane]) -> str:
    return "、".join(lane.name for lane in lanes)


def order_sentence(lanes: Sequence[Lane], machine: Machine, size: Fraction, ranks: int) -> str:
    """Say who arrives first and when the others do."""
    said: list[str] = []
    in_order = sorted(lanes, key=lambda lane: lane.seconds(machine, size))
    for seconds, group in groupby(in_order, key=lambda lane: lane.seconds(machine, size)):
        together = list(group)
        who, when, many = _names(together), time_text(seconds), len(together) > 1
        if said:
            said.append(joined(who, "都是" if many else "", f" {when}"))
        else:
            said.append(f"{joined(who, '同时' if many else '', '先到')}，{when}")
    return f"{ranks} 个 GPU、{size_text(size)}：{'；'.join(said)}。"


def crossing_sentences(lanes: Sequence[Lane], machine: Machine) -> list[str]:
    """Say where the lead changes, one sentence each, and who never has it."""
    first, crossings = leaders(lanes)
    led = [*first, *(lane for crossing in crossings for lane in crossing.after)]
    never = [lane for lane in lanes if lane not in led]
    sentences = []
    for crossing in crossings:
        at = crossing.factor * machine.alpha * machine.bandwidth
        outside = "" if PLOTTED[0] <= at <= PLOTTED[1] else "（在图外）"
        sentences.append(
            f"交叉点 {size_text(at)}{outside}：{joined('更大时', _names(crossing.after), '快')}，"
            f"{joined('更小时', _names(crossing.before), '快')}。这里 M = {crossing.factor} × α/β。"
        )
    if not crossings:
        sentences.append(
            f"没有交叉点：{joined('不论多大，都没有比', _names(first), '更快的')}。"
            if never
            else "没有交叉点：不论多大，用时都一样。"
        )
    elif never:
        sentences.append(f"{joined(_names(never), '在哪个大小上都不是最快')}。")
    return sentences


# ------------------------------------------------------------------------------------- plumbing


def _title(primitive: str) -> str:
    return next(a for a in REGISTRY.values() if a.primitive == primitive).primitive_entry.title


def _algorithm(page: Page, name: str, ranks: int) -> Algorithm:
    if name not in REGISTRY:
        raise page.error(f"没有名为 {name!r} 的算法；现有：{'、'.join(REGISTRY)}")
    algorithm = REGISTRY[name]
    if ranks not in published_ranks(algorithm):
        raise page.error(f"{name} 没有 N = {ranks} 的日程文件，不能参加比较")
    return algorithm


def _lanes(page: Page, primitive: str, ranks: int, algorithms: str) -> list[Lane]:
    slugs = algorithms.split()
    if not 2 <= len(slugs) <= 4 or len(set(slugs)) != len(slugs):
        raise page.error(f"比较要 2 到 4 个不同的算法，这里是 {algorithms!r}")
    lanes = []
    for slug in slugs:
        algorithm = _algorithm(page, f"{primitive}/{slug}", ranks)
        try:
            schedule = prove(algorithm.schedule(ranks)).schedule
        except UnsupportedChoice as error:
            raise page.error(str(error)) from None
        lanes.append(Lane(algorithm.title_zh, count_cost(schedule)))
    return lanes


def _machines(page: Page) -> list[dict[str, Any]]:
    """The list in machines.js, which is JSON between its first "= [" and the last "]"."""
    text = (page.docs / "assets" / "js" / "machines.js").read_text(encoding="utf-8")
    found = re.search(r"export const MACHINES = (\[.*\]);", text, re.DOTALL)
    try:
        machines: list[dict[str, Any]] = json.loads(found[1] if found else "")
    except ValueError as error:
        raise page.error(f"读不了 assets/js/machines.js：{error}") from None
    return machines


def machine_named(page: Page, slug: str) -> Machine:
    """Return a machine of the list in machines.js."""
    for entry in _machines(page):
        if entry["slug"] == slug:
            alpha, bandwidth = (Fraction(str(entry[key])) for key in ("microseconds", "gigabytes"))
            return Machine(alpha / 10**6, bandwidth * 10**9)
    known = "、".join(entry["slug"] for entry in _machines(page))
    raise page.error(f"没有名为 {slug!r} 的预设；现有：{known}")


MACROS: tuple[Callable[..., str], ...] = (
    race,
    race_order,
    race_crossings,
    race_table,
    race_machines,
)
"""Every macro of this module; ``site_macros`` fills in the page."""
