"""The bibliography: every source that a page names, with the pages that name it.

Found in the text of the pages themselves, and in what the macros put on them; the titles are those
of ``docs/assets/sources.yml``. Registered by ``site_macros``.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

import failure_macros
import names_macros
import race_macros
import sources
import training_macros
from sources import GROUPS, Source

if TYPE_CHECKING:
    from site_macros import Page

SELF = "reference/bibliography.md"

SOURCED: dict[str, Callable[..., str]] = {
    macro.__name__: macro
    for macro in (
        *(failure_macros.failure_entries, failure_macros.silent_failures),
        *(names_macros.library_names, names_macros.name_sections, names_macros.backend_source),
        race_macros.race_machines,
        training_macros.model_source,
    )
}
"""The macros whose output names sources."""

ENOUGH = 3
"""From so many threads on, a tracker has a heading of its own."""

CALL = re.compile(r"\{\{\s*(\w+)\((.*?)\)\s*\}\}")


def bibliography(page: Page, group: str) -> str:
    """List the sources of one group, each with the pages that name it.

    Args:
        page: the page that asks.
        group: one of sources.GROUPS.
    """
    if group not in GROUPS:
        raise page.error(f"没有 {group!r} 这一组；现有：{'、'.join(GROUPS)}")
    used = _used(page)
    wanted = [source for source in used if source.group == group]
    if group != "threads":
        return "".join(_line(page, source, used[source]) for source in sorted(wanted, key=_title))
    trackers: dict[str, list[Source]] = {}
    for source in sorted(wanted, key=lambda source: (_tracker(source).lower(), _number(source))):
        trackers.setdefault(_tracker(source), []).append(source)
    sections: dict[str, list[Source]] = {}
    for tracker, threads in trackers.items():
        heading = tracker if len(threads) >= ENOUGH else "其他仓库"
        sections.setdefault(heading, []).extend(threads)
    return "\n".join(
        f"### {heading}\n\n" + "".join(_line(page, source, used[source]) for source in threads)
        for heading, threads in sorted(sections.items(), key=lambda section: -len(section[1]))
    )


def bibliography_counts(page: Page) -> str:
    """Say how many sources of each group there are."""
    found = [source.group for source in _used(page)]
    parts = [f"{heading} {found.count(group)} 条" for group, heading in GROUPS.items()]
    return f"共 {len(found)} 条：{'、'.join(parts)}。"


def _line(page: Page, source: Source, where: list[str]) -> str:
    shown = f"[{source.title}]({source.url})" if source.url else source.title
    places = "；".join(
        f"[{_page_title(page.docs / name)}]({page.link(name)})" for name in dict.fromkeys(where)
    )
    return f"- {shown}。用于：{places}\n"


def _title(source: Source) -> str:
    return source.title.lower()


def _tracker(source: Source) -> str:
    return source.title.split("#")[0] if "#" in source.title else "Stack Overflow"


def _number(source: Source) -> int:
    return int(re.split(r"[# ]", source.title)[-1])


def _page_title(path: Path) -> str:
    found = re.search(r"^title: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else path.stem


@functools.cache
def _used(page: Page) -> dict[Source, list[str]]:
    """Every source that is used, with the pages that do, in the order of their paths.

    Every group asks for them; the modules are imported afresh at every build, so nothing stays.
    """
    try:
        known = sources.read(page.docs)
        used: dict[Source, list[str]] = {source: [] for source in known.values()}
        for path in sorted(page.docs.rglob("*.md")):
            name = path.relative_to(page.docs).as_posix()
            if name == SELF:
                continue
            for source in sources_on(page, name, path.read_text(encoding="utf-8"), known):
                used.setdefault(source, []).append(name)
    except sources.SourceError as error:
        raise page.error(str(error)) from None
    if idle := [source.id for source in used if not used[source]]:
        raise page.error(f"{sources.FILE} 里这些来源没有一页用到：{'、'.join(idle)}")
    return used


def sources_on(page: Page, name: str, text: str, known: dict[str, Source]) -> Iterator[Source]:
    """Yield the sources that a page names.

    Args:
        page: the page that asks.
        name: the other page, inside docs/.
        text: its Markdown.
        known: the sources by id.

    Raises:
        SourceError: it leads to something that the list does not have.
    """
    yield from sources.named_in(text, known)
    for address in sources.addresses(_expanded(page, name, text)):
        try:
            yield sources.find(known, urldefrag(address)[0])
        except sources.SourceError as error:
            raise sources.SourceError(f"{name}：{error}") from None


def _expanded(page: Page, name: str, text: str) -> str:
    """The text with the calls that name sources replaced by what they return."""

    def returned(match: re.Match[str]) -> str:
        if match[1] not in SOURCED:
            return ""
        arguments = ast.literal_eval(f"({match[2]},)") if match[2] else ()
        return SOURCED[match[1]](page._replace(source=name), *arguments)

    return CALL.sub(returned, text)


MACROS: tuple[Callable[..., str], ...] = (bibliography, bibliography_counts)
"""Every macro of this module; ``site_macros`` fills in the page."""
