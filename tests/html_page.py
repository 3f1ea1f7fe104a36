"""Reads what a reader sees out of a built page: its links, its anchors and its code blocks."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())  # noqa: SIM905


class Link(NamedTuple):
    """A reference to something else: a tag, its attribute (href or src) and the address."""

    tag: str
    address: str


class CodeBlock(NamedTuple):
    """A highlighted block: the file name above it and its text, as the browser shows it."""

    title: str
    text: str


class HTMLPage(HTMLParser):
    """One page of the built site.

    Attributes:
        links: every href and src, in document order.
        anchors: every id and name.
        code_blocks: every highlighted block, in document order.
        article: the text of the article.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[Link] = []
        self.anchors: set[str] = set()
        self.code_blocks: list[CodeBlock] = []
        self.article = ""
        self._open: list[tuple[str, str]] = []
        self._title = ""
        self._code: str | None = None
        self.feed(html)
        self.close()

    @classmethod
    def read(cls, file: Path) -> HTMLPage:
        return cls(file.read_text(encoding="utf-8"))

    def _inside(self, tag: str) -> bool:
        return any(name == tag for name, _ in self._open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.anchors.update(attributes[key] for key in ("id", "name") if key in attributes)
        self.links.extend(
            Link(tag, attributes[key]) for key in ("href", "src") if key in attributes
        )
        if tag not in VOID:
            self._open.append((tag, attributes.get("class", "")))
        if tag == "div" and "highlight" in attributes.get("class", "").split():
            self._title = ""
        if tag == "code" and self._inside("pre"):
            self._code = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "code" and self._code is not None:
            self.code_blocks.append(CodeBlock(self._title, self._code))
            self._code = None
        while self._open:
            if self._open.pop()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        if self._code is not None:
            self._code += data
        elif self._open and self._open[-1] == ("span", "filename"):
            self._title += data
        if self._inside("article") and not self._inside("script"):
            self.article += data
