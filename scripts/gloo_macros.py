"""What pages may ask of what was measured on Gloo: players, and tables of traffic and of types.

The traffic is ``docs/assets/gloo_traffic.json``, written by ``measure_gloo_traffic``; the types are
``docs/assets/gloo_types.json``, written by ``measure_gloo_types``. A name in the traffic is held
against the registry once more before it is shown: a page cannot claim that an algorithm has the
measured traffic when it has not. Registered by ``site_macros``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from collectives.algorithms import REGISTRY
from collectives.primitives import PRIMITIVES
from gloo_traffic import Pairs, matches, sent_by_rank
from schedule_macros import player, size

if TYPE_CHECKING:
    from site_macros import Page

SHOWN_RANKS = 4
"""The N whose traffic is shown pair by pair."""


def gloo_setup(page: Page) -> str:
    """Say where, when and with what the traffic was measured."""
    data = _data(page)
    ranks = [int(n) for n in next(iter(data["calls"].values()))["ranks"]]
    return (
        f"测于 {data['date']}，torch {data['torch']}，{data['machine']}，"
        f"N = {min(ranks)} 到 {max(ranks)}。\n"
    )


def gloo_overview(page: Page) -> str:
    """List every call with the algorithm that has its traffic, and the most that a rank sends."""
    lines = [
        f"| 调用 | 登记表里流量相同的算法 | N = {SHOWN_RANKS} 时最多的 rank 发送 | 发给谁 |",
        "| --- | --- | --- | --- |",
    ]
    for name, call in _data(page)["calls"].items():
        pairs = _pairs(call, SHOWN_RANKS)
        most = max(sent_by_rank(pairs, SHOWN_RANKS))
        algorithm = _algorithm_link(page, call)
        lines.append(
            f"| `{name}` | {algorithm} | {_amount(most)} | {_partners(pairs, SHOWN_RANKS)} |"
        )
    return "\n".join(lines) + "\n"


def gloo_player(page: Page, call: str, ranks: int = SHOWN_RANKS) -> str:
    """Play the algorithm that has the traffic of a call.

    Args:
        page: the page that asks.
        call: the name of the function in torch.distributed, such as "all_reduce".
        ranks: the number of ranks to open with.
    """
    entry = _call(page, call)
    if entry["algorithm"] is None:
        raise page.error(f"{call} 的流量与登记表里的任何算法都不同，没有可放的动画")
    return player(page, entry["algorithm"], ranks, controls="ranks root op view")


def gloo_table(page: Page, *calls: str) -> str:
    """Show for every N what each rank sends in a call, or in several calls that send the same."""
    entries = [_call(page, call) for call in calls]
    for entry in entries[1:]:
        if any(_pairs(entry, int(n)) != _pairs(entries[0], int(n)) for n in entries[0]["ranks"]):
            raise page.error(f"{'、'.join(calls)} 的流量不同，不能放进同一张表")
    several = len(calls) > 1
    heads = [f"`{call}` 的消息" if several else "消息" for call in calls]
    lines = [
        f"| N | 各 rank 发送 | 合计 | {' | '.join(heads)} |",
        f"| --- | --- | --- |{' --- |' * len(calls)}",
    ]
    for n in map(int, entries[0]["ranks"]):
        pairs = _pairs(entries[0], n)
        messages = [
            str(sum(count for *_, count in entry["ranks"][str(n)]["pairs"])) for entry in entries
        ]
        total = _amount(sum(pairs.values(), Fraction(0)))
        lines.append(f"| {n} | {_sent(pairs, n)} | {total} | {' | '.join(messages)} |")
    verdict = (
        "登记表里没有哪个算法的流量与此相同。"
        if entries[0]["algorithm"] is None
        else "每个 N 上，每一对 rank 之间的字节都与上面的日程相等。"
    )
    return "\n".join(lines) + f"\n\n{verdict}消息条数是全部 rank 的合计。\n"


def gloo_pairs(page: Page, call: str) -> str:
    """Show who wrote how much to whom at N = 4: a row for each sender."""
    pairs = _pairs(_call(page, call), SHOWN_RANKS)
    ranks = range(SHOWN_RANKS)
    lines = [
        f"| N = {SHOWN_RANKS}，写的一方 | "
        + " | ".join(f"rank {rank} 收" for rank in ranks)
        + " |",
        "| --- |" + " --- |" * SHOWN_RANKS,
    ]
    for src in ranks:
        cells = [
            "—" if src == dst else _amount(pairs.get((src, dst), Fraction(0))) for dst in ranks
        ]
        lines.append(f"| **rank {src}** | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def gloo_bytes(page: Page, call: str, ranks: int, m: int) -> str:
    """Say how many bytes the busiest sender of a call sends for an M of so many bytes."""
    most = max(sent_by_rank(_pairs(_call(page, call), ranks), ranks)) * m
    if most.denominator != 1:
        raise page.error(f"{call} 在 N = {ranks} 时发送的份额乘以 {m} 字节不是整数")
    return str(most)


def gloo_types(page: Page) -> str:
    """Show which reduction operators Gloo takes for which dtypes, errors numbered below.

    Neighbouring operators that fare the same with every dtype share a column.
    """
    data = _read(page, "gloo_types.json", "measure_gloo_types.py")
    numbers: dict[str, int] = {}

    def cell(result: str) -> str:
        if result == "right":
            return "✓"
        kind = re.sub(r"(?<=Op\.)\w+|(?<=RedOpType\.)\w+|(?<=output type )\w+", "…", result)
        return f"错 {numbers.setdefault(kind, len(numbers) + 1)}"

    columns: list[tuple[list[str], dict[str, str]]] = []
    for operation, results in data["results"].items():
        cells = {dtype: cell(result) for dtype, result in results.items()}
        if len(columns) > 1 and columns[-1][1] == cells:
            columns[-1][0].append(operation)
        else:
            columns.append(([operation], cells))
    lines = [
        f"| 类型 | {' | '.join('、'.join(names) for names, _ in columns)} |",
        "| --- |" + " --- |" * len(columns),
    ]
    lines += [
        f"| `{dtype}` | {' | '.join(cells[dtype] for _, cells in columns)} |"
        for dtype in columns[0][1]
    ]
    errors = "".join(f"{number}. `{error}`\n" for error, number in numbers.items())
    setup = f"试于 {data['date']}，torch {data['torch']}，2 个 rank。「错」后面的编号："
    return "\n".join(lines) + f"\n\n{setup}\n\n{errors}"


# ------------------------------------------------------------------------------------- the data


def _read(page: Page, file: str, writer: str) -> dict[str, Any]:
    try:
        data: dict[str, Any] = json.loads((page.docs / "assets" / file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise page.error(f"读不了 assets/{file}：{error}；先运行 scripts/{writer}") from None
    return data


def _data(page: Page) -> dict[str, Any]:
    data = _read(page, "gloo_traffic.json", "measure_gloo_traffic.py")
    for name, call in data["calls"].items():
        _compare(page, name, call)
    return data


def _compare(page: Page, name: str, call: dict[str, Any]) -> None:
    """Hold the recorded names against the registry of today."""
    found = matches(call["primitive"], {int(n): _pairs(call, int(n)) for n in call["ranks"]})
    if [match.algorithm for match in found] != call["same_traffic"] or (
        call["algorithm"] is not None
        and (call["algorithm"], call["mirrored"]) not in [tuple(match) for match in found]
    ):
        raise page.error(
            f"assets/gloo_traffic.json 里 {name} 的算法与登记表不符；"
            "重新运行 scripts/measure_gloo_traffic.py"
        )


def _call(page: Page, name: str) -> dict[str, Any]:
    calls = _data(page)["calls"]
    if name not in calls:
        raise page.error(f"没有测过 {name!r}；现有：{'、'.join(calls)}")
    entry: dict[str, Any] = calls[name]
    return entry


def _pairs(call: dict[str, Any], ranks: int) -> Pairs:
    return {(a, b): Fraction(amount) for a, b, amount, _ in call["ranks"][str(ranks)]["pairs"]}


# ------------------------------------------------------------------------------------ the words


def _algorithm_link(page: Page, call: dict[str, Any]) -> str:
    primitive = PRIMITIVES[call["primitive"]].title_en
    if call["algorithm"] is None:
        return f"{primitive}：没有"
    algorithm = REGISTRY[call["algorithm"]]
    link = page.link(f"algorithms/{algorithm.family}.md")
    return f"{primitive}：[{algorithm.title_zh}]({link})" + (
        "，方向相反" if call["mirrored"] else ""
    )


def _amount(amount: Fraction) -> str:
    """A fraction of M that does not break before its unit."""
    return size(amount).replace(" ", "\u00a0")


def _sent(pairs: Pairs, ranks: int) -> str:
    """What each rank sends, ranks that send the same put together, those that send nothing last."""
    by_amount: dict[Fraction, list[int]] = {}
    for rank, amount in enumerate(sent_by_rank(pairs, ranks)):
        by_amount.setdefault(amount, []).append(rank)
    if len(by_amount) == 1:
        return f"每个 {_amount(next(iter(by_amount)))}"
    idle = "；其余不发" if by_amount.pop(Fraction(0), None) else ""
    parts = [
        # A word joiner keeps the amount beside its ranks where the column is narrow.
        f"rank\u00a0{_numbers(members)}：\u2060{_amount(amount)}"
        for amount, members in by_amount.items()
    ]
    return "；".join(parts) + idle


def _numbers(members: list[int]) -> str:
    """Ascending numbers, three and more neighbours as a range: ``0、2–5``."""
    runs: list[list[int]] = []
    for member in members:
        if runs and runs[-1][-1] == member - 1:
            runs[-1].append(member)
        else:
            runs.append([member])
    return "、".join(
        f"{run[0]}–{run[-1]}" if len(run) > 2 else "、".join(map(str, run)) for run in runs
    )


def _partners(pairs: Pairs, ranks: int) -> str:
    """Whom ranks write to, in words where the traffic looks the same from every rank."""
    for words, wanted in (
        ("右邻居", {(r, (r + 1) % ranks) for r in range(ranks)}),
        ("左邻居", {(r, (r - 1) % ranks) for r in range(ranks)}),
        ("其余每个 rank", {(a, b) for a in range(ranks) for b in range(ranks) if a != b}),
        ("根直接发给每个 rank", {(0, r) for r in range(1, ranks)}),
        ("每个 rank 直接发给根", {(r, 0) for r in range(1, ranks)}),
    ):
        if set(pairs) == wanted:
            return words
    return "、".join(f"{a}→{b}" for a, b in pairs)


MACROS: tuple[Callable[..., str], ...] = (
    gloo_setup,
    gloo_overview,
    gloo_player,
    gloo_table,
    gloo_pairs,
    gloo_bytes,
    gloo_types,
)
"""Every macro of this module; ``site_macros`` fills in the page."""
