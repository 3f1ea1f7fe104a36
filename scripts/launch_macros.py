"""What pages may ask about starting ranks: tables of the environment that each way gives a rank.

The data are ``docs/assets/launch_environment.json``, written by ``scripts/record_environment.py``
from what really started processes saw. Registered by ``site_macros``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from site_macros import Page

MAIN = (
    *("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"),
    *("LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE"),
)
"""The variables that scripts read, in the order of the tables; the others follow by name."""

NOTHING = "—"

WORDS = {None: "每次不同", "HOSTNAME": "本机名"}
"""How a page says what the record holds in place of a value that is not the same everywhere."""


def launch_setup(page: Page) -> str:
    """Say when and with what the environment was recorded."""
    data = _data(page)
    return f"记录于 {data['date']}，torch {data['torch']}。\n"


def launch_table(page: Page) -> str:
    """Show every variable that one of the three ways to start two ranks gives them."""
    ways = _data(page)["ways"]
    shown = [ways["spawn"], ways["torchrun"], ways["hand"]]
    names = {name for ranks in shown for variables in ranks for name in variables}
    rows = [[f"`{name}`", *(_cell(name, ranks) for ranks in shown)] for name in _in_order(names)]
    return _table(["变量", "mp.spawn", "torchrun", "手动"], rows)


def host_table(page: Page) -> str:
    """Show what the two ranks of each of two hosts see of the variables that scripts read."""
    ranks = _data(page)["ways"]["two_hosts"]
    places = [f"主机 {rank['GROUP_RANK']}，第 {int(rank['LOCAL_RANK']) + 1} 个" for rank in ranks]
    rows = [[f"`{name}`", *(_cell(name, [rank]) for rank in ranks)] for name in MAIN]
    return _table(["变量", *places], rows)


def _data(page: Page) -> dict[str, Any]:
    path = page.docs / "assets" / "launch_environment.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def _in_order(names: set[str]) -> list[str]:
    return [name for name in MAIN if name in names] + sorted(names - set(MAIN))


def _cell(name: str, ranks: Sequence[dict[str, str | None]]) -> str:
    """What the ranks have for a variable; one value when it is the same for all."""
    if any(name not in variables for variables in ranks):
        return NOTHING
    values = [variables[name] for variables in ranks]
    shown = dict.fromkeys(WORDS.get(value) or f"`{value}`" for value in values)
    return "、".join(shown)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


MACROS: tuple[Callable[..., str], ...] = (launch_setup, launch_table, host_table)
"""The macros of this module, see site_macros."""
