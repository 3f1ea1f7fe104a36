"""What pages may ask about names and backends: what libraries call a primitive, what Gloo did.

The names are ``docs/assets/names.yml``; what Gloo did is ``docs/assets/gloo_calls.json``, written
by ``measure_gloo_calls``; what PyTorch's documentation says of the other backends is
``docs/assets/pytorch_backends.yml``. Registered by ``site_macros``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import yaml

import names
import sources
from collectives.primitives import PRIMITIVES
from names import LIBRARIES, Name, Old

if TYPE_CHECKING:
    from site_macros import Page

NOTHING = "—"

OVERVIEW = tuple(library for library in LIBRARIES if library != "PyTorch 函数式")
"""The libraries of the overview: the functional calls have the names of the others."""


# -------------------------------------------------------------------------------------- names


def library_names(page: Page, primitive: str) -> str:
    """Show what each library calls a primitive, with earlier names and sources, as a table."""
    rows = [
        [name.library, _call(name), f"{_note(name)}。出处：{_links(page, name)}"]
        for name in _names(page, primitive)
    ]
    everything = f"八个原语放在一起看：[API 对照表]({page.link('reference/api.md')})。\n"
    return _boxed("names", _table(["库", "名字", "说明"], rows)) + "\n" + everything


def name_overview(page: Page) -> str:
    """Show primitive by library: the bare names, each primitive leading to its section."""
    rows = []
    for primitive in PRIMITIVES.values():
        row = [f"[{primitive.title_en}](#{primitive.slug})"]
        for library in OVERVIEW:
            calls = [
                f"`{name.short}`"
                for name in _names(page, primitive.slug)
                if name.library == library and name.call
            ]
            row.append("<br>".join(calls) or NOTHING)
        rows.append(row)
    return _table(["原语", *OVERVIEW], rows)


def name_sections(page: Page) -> str:
    """Show one section per primitive: every library's call, note and source, one below another."""
    parts = []
    for primitive in PRIMITIVES.values():
        link = page.link(f"primitives/{primitive.slug}.md")
        parts.append(f"### {primitive.title} {{ #{primitive.slug} }}\n\n[讲解与动画]({link})\n")
        for library in LIBRARIES:
            parts.append(f"**{library}**")
            for name in _names(page, primitive.slug):
                if name.library == library:
                    call = f"{_call(name)}：" if name.call else ""
                    parts.append(f":   {call}{_note(name)}。出处：{_links(page, name)}")
            parts.append("")
    return "\n".join(parts)


def _names(page: Page, primitive: str) -> list[Name]:
    try:
        known = names.read(page.docs)
    except names.NamesError as error:
        raise page.error(str(error)) from None
    if primitive not in known:
        raise page.error(f"没有原语 {primitive!r}；现有：{'、'.join(known)}")
    return known[primitive]


def _call(name: Name) -> str:
    return f"`{name.call}`" if name.call else "没有"


def _note(name: Name) -> str:
    """The note, then the earlier names: those that changed at the same time share a sentence."""
    parts = [name.note]
    changes: dict[str, list[Old]] = {}
    for old in name.old:
        changes.setdefault(old.changed, []).append(old)
    for changed, olds in changes.items():
        listed = "、".join(f"`{_shortened(old.name, name)}`" for old in olds)
        parts.append(f"旧名 {listed}，{changed}")
    return "；".join(parts)


def _shortened(old: str, name: Name) -> str:
    """An earlier name without the module, where that is the module of the call itself."""
    module = name.call.split("(")[0].rpartition(".")[0]
    return old.removeprefix(f"{module}.") if old.count(".") == module.count(".") + 1 else old


def _links(page: Page, name: Name) -> str:
    try:
        found = list(names.sources_of(name, sources.read(page.docs)))
    except sources.SourceError as error:
        raise page.error(str(error)) from None
    return "、".join(f"[{_brief(source.title)}]({source.url})" for source in found)


def _brief(title: str) -> str:
    """A title short enough for a column."""
    return re.sub(r"^pytorch/pytorch#", "pytorch#", title)


# ------------------------------------------------------------------------------------ backends


def gloo_calls_setup(page: Page) -> str:
    """Say when and with what the calls were made."""
    data = _measured(page)
    return f"Gloo 一列试于 {data['date']}，torch {data['torch']}，2 个 rank，CPU。\n"


def backend_source(page: Page) -> str:
    """Link to the table of PyTorch's documentation."""
    source = sources.find(sources.read(page.docs), _official(page)["source"])
    return f"[{source.title}]({source.url})"


def backend_matrix(page: Page) -> str:
    """Show every call: what Gloo did here, and what PyTorch's table says of NCCL and MPI."""
    rows = _official(page)["rows"]
    numbers: dict[str, int] = {}
    parts = []
    groups: dict[str, list[dict[str, str]]] = {}
    for call in _measured(page)["calls"]:
        groups.setdefault(call["group"], []).append(call)
    for group, calls in groups.items():
        official = [rows.get(call["name"].split(" / ")[0]) for call in calls]
        # Where the table of the documentation has no row at all, its columns are left out.
        said = {"NCCL": "nccl", "MPI": "mpi"} if any(official) else {}
        table = [
            [_call_name(call["name"]), _outcome(call, numbers)]
            + [_said(row, backend) for backend in said.values()]
            for call, row in zip(calls, official, strict=True)
        ]
        columns = ["调用", "Gloo（实测）", *(f"{name}（没有在本站运行）" for name in said)]
        parts.append(f"### {group}\n\n{_boxed('matrix', _table(columns, table))}")
    errors = "".join(f"{number}. `{error}`\n" for error, number in numbers.items())
    return "\n".join(parts) + f"\n### 报错的原文\n\n{errors}"


def _call_name(name: str) -> str:
    """The name with what torch calls it as code, and what is said beside it as text."""
    calls, _, variant = name.partition("，")
    shown = " / ".join(f"`{call}`" for call in calls.split(" / "))
    return f"{shown}，{variant}" if variant else shown


def _outcome(call: dict[str, str], numbers: dict[str, int]) -> str:
    if call["result"] != "right":
        return f"错 {numbers.setdefault(call['result'], len(numbers) + 1)}"
    return "✓，会警告" if "warning" in call else "✓"


def _said(row: dict[str, bool] | None, backend: str) -> str:
    if row is None:
        return NOTHING
    return "✓" if row[backend] else "不支持"


def _measured(page: Page) -> dict[str, Any]:
    path = page.docs / "assets" / "gloo_calls.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def _official(page: Page) -> dict[str, Any]:
    path = page.docs / "assets" / "pytorch_backends.yml"
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data


def _boxed(kind: str, table: str) -> str:
    """A table that the stylesheet lays out in a way of its own."""
    return f'<div class="{kind}" markdown="1">\n\n{table}\n</div>\n'


def _table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


MACROS: tuple[Callable[..., str], ...] = (
    library_names,
    name_overview,
    name_sections,
    gloo_calls_setup,
    backend_source,
    backend_matrix,
)
"""Every macro of this module; ``site_macros`` fills in the page."""
