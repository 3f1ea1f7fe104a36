"""Reads what a built page says: its headings, its running text, its tables, its players."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import NamedTuple

from html_page import VOID

TEXT = "blockquote br caption dd div dt h1 h2 h3 h4 li math p summary td th"
FRAME = "article aside details dl figure hr ol pre section table tbody thead tr ul"
BLOCKS = frozenset(f"{TEXT} {FRAME}".split())
"""Tags that end a piece of running text."""


class Element(NamedTuple):
    """A piece of an article: the heading it stands under, its tag, its text."""

    section: str
    tag: str
    text: str


class Article(HTMLParser):
    """The article of a built page, cut into blocks of prose.

    Code blocks are left out; a formula in a sentence stands as the letter x, as an inline code span
    stands as its text, so that the space beside them counts.

    Attributes:
        title: the text of the h1.
        headings: the texts of the h2, in order.
        prose: every block of running text, with the h2 it stands under.
        tables: per h2, its tables as rows of cell texts; those inside a player are left out.
        scripts: the inline scripts.
        players: per h2, the src of its players.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.headings: list[str] = []
        self.prose: list[Element] = []
        self.tables: dict[str, list[list[list[str]]]] = {}
        self.scripts: list[str] = []
        self.players: dict[str, list[str]] = {}
        self._open: list[str] = []
        self._text = ""
        self._cell: str | None = None
        self.feed(html)
        self.close()

    @property
    def section(self) -> str:
        return self.headings[-1] if self.headings else ""

    def _inside(self, *tags: str) -> bool:
        return any(tag in self._open for tag in tags)

    def _end_block(self) -> None:
        text = " ".join(self._text.split())
        if text:
            self.prose.append(Element(self.section, self._open[-1] if self._open else "", text))
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        inline_math = tag == "math" and attributes.get("display") != "block"
        if tag in BLOCKS and not inline_math:
            self._end_block()
        if inline_math and self._inside("article"):
            self._add("x")
        if tag not in VOID:
            self._open.append(tag)
        if tag == "a" and "headerlink" in attributes.get("class", ""):
            self._open[-1] = "headerlink"
        if tag == "collective-player":
            self.players.setdefault(self.section, []).append(attributes.get("src", ""))
        if not self._inside("article", "collective-player") or self._inside("collective-player"):
            return
        if tag == "script":
            self.scripts.append("")
        if tag == "table":
            self.tables.setdefault(self.section, []).append([])
        elif tag == "tr" and self.section in self.tables:
            self.tables[self.section][-1].append([])
        elif tag in ("td", "th"):
            self._cell = ""

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS and tag != "math":
            if tag in ("h1", "h2") and self._inside("article"):
                text = " ".join(self._text.split())
                if tag == "h1":
                    self.title = text
                else:
                    self._end_block()
                    self.headings.append(text)
            self._end_block()
        if tag in ("td", "th") and self._cell is not None:
            self.tables[self.section][-1][-1].append(" ".join(self._cell.split()))
            self._cell = None
        while self._open:
            closed = self._open.pop()
            if closed == tag or (closed == "headerlink" and tag == "a"):
                break

    def _add(self, text: str) -> None:
        self._text += text
        if self._cell is not None:
            self._cell += text

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "script" and self._inside("article"):
            self.scripts[-1] += data
        elif self._inside("article") and not self._inside(
            "pre", "math", "script", "style", "svg", "headerlink", "button"
        ):
            self._add(data)
