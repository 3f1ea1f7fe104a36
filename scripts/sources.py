"""The sources of the site: read from ``docs/assets/sources.yml``, found again on the pages.

A page names a source by its address, or, where it has none, in words that the source's ``named``
matches in the page's section of references. Threads of a tracker need no entry: their address says
what they are. ``bibliography_macros`` makes the page of references from this.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urldefrag

import yaml

FILE = "assets/sources.yml"
"""The sources, inside docs/."""

GROUPS = {
    "papers": "论文与标准",
    "code": "库的源码",
    "docs": "官方文档",
    "tools": "工具",
    "threads": "讨论帖",
}
"""The groups in the order of the bibliography, each with its heading."""

REFERENCES = re.compile(r"^## 参考$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^( *)(`{3,}).*?^\1\2`*$", re.MULTILINE | re.DOTALL)
GITHUB = re.compile(
    r"https://github\.com/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)/(?:issues|pull)/(?P<number>\d+)"
)
STACK_OVERFLOW = re.compile(r"https://stackoverflow\.com/questions/(?P<number>\d+)\b\S*")


class SourceError(ValueError):
    """The list of sources contradicts itself or a page; the message is one Chinese sentence."""


@dataclass(frozen=True)
class Source:
    """A source: what it is called, and how a page names it."""

    id: str
    group: str
    title: str
    url: str = ""
    named: str = ""


@functools.cache
def read(docs: Path) -> dict[str, Source]:
    """Return the sources by id.

    Raises:
        SourceError: a field is missing or unknown, or a source stands twice.
    """
    found: dict[str, Source] = {}
    addresses: set[str] = set()
    for raw in yaml.safe_load((docs / FILE).read_text(encoding="utf-8")):
        try:
            source = Source(**raw)
        except TypeError as error:
            raise SourceError(f"{FILE}：{raw} 的字段不对：{error}") from None
        if source.group not in GROUPS or source.group == "threads":
            raise SourceError(f"{FILE}：{source.id} 的 group 不认识：{source.group}")
        if not source.url and not source.named:
            raise SourceError(f"{FILE}：{source.id} 既没有 url 也没有 named")
        if source.id in found or source.url in addresses:
            raise SourceError(f"{FILE}：{source.id} 出现了两次")
        found[source.id] = source
        addresses |= {source.url} - {""}
    return found


def thread(url: str) -> Source | None:
    """Return the source that a thread of a tracker is; None for any other address."""
    if match := GITHUB.fullmatch(urldefrag(url)[0]):
        title = f"{match['owner']}/{match['name']}#{match['number']}"
        return Source(title, "threads", title, urldefrag(url)[0])
    if match := STACK_OVERFLOW.fullmatch(urldefrag(url)[0]):
        title = f"Stack Overflow {match['number']}"
        return Source(title, "threads", title, urldefrag(url)[0])
    return None


def find(sources: dict[str, Source], wanted: str) -> Source:
    """Return a source by its id or its address.

    Raises:
        SourceError: it is no thread and not in the list.
    """
    if wanted in sources:
        return sources[wanted]
    address = urldefrag(wanted)[0]
    for source in sources.values():
        if source.url and source.url == address:
            return source
    if found := thread(wanted):
        return found
    raise SourceError(f"{FILE} 里没有 {wanted}")


def addresses(markdown: str) -> Iterator[str]:
    """Yield the addresses outside the code of a page that lead away from it."""
    text = re.sub(r"`[^`\n]*`", "", FENCED.sub("", markdown))
    yield from re.findall(r"\]\((https?://[^)\s]+)\)", text)


def named_in(markdown: str, sources: dict[str, Source]) -> Iterator[Source]:
    """Yield the sources that the section of references names in words."""
    for section in REFERENCES.findall(markdown):
        for source in sources.values():
            if source.named and re.search(source.named, section):
                yield source
