"""What a reader may type into the search for a word of this site: written for the search's module.

Two tables, both from what is said elsewhere: ``WORDS``, the aliases of the terminology page, each
with the term; and ``NAMES``, what libraries call a primitive and ways to spell it, each with the
primitive's own name. ``docs/assets/search/search-message.js`` reads them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import names
from collectives.primitives import PRIMITIVES

OUTPUT = "assets/search/aliases.js"
"""The module, inside docs/."""

TERM = re.compile(
    r"^\*\*(?P<head>.+?)\*\*(?P<english>（[^）]+）)? \{ #(?P<id>[\w-]+) \}\n:   (?P<text>.+)$",
    re.MULTILINE,
)
ALIASES = re.compile(r"也(?:叫|写作)([^，。]+)")
CHINESE = re.compile("[\u3400-\u9fff]+")
LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")


class Term(NamedTuple):
    """An entry of the terminology page: the word, its English, and what is said of it."""

    head: str
    english: str
    text: str


def terms(docs: Path) -> dict[str, Term]:
    """Return every term of the terminology page by its anchor, in their order.

    A site without that page has no terms.
    """
    page = docs / "terminology.md"
    found: dict[str, Term] = {}
    for match in TERM.finditer(page.read_text(encoding="utf-8") if page.exists() else ""):
        head = LINK.sub(r"\1", match["head"])
        english = (match["english"] or "").strip("（）")
        if not english:
            # A primitive: its English name comes first, the Chinese in brackets.
            english, _, head = head.rstrip("）").partition("（")
        found[match["id"]] = Term(head, english, match["text"])
    return found


def words(docs: Path) -> dict[str, str]:
    """Return the aliases, each with the term; longer ones first, for they hold shorter ones."""
    found = {
        alias: term.head
        for term in terms(docs).values()
        for listed in ALIASES.findall(term.text)
        for alias in CHINESE.findall(listed)
    }
    return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))


def spelling(name: str) -> str:
    """A name without what people spell in different ways: case, hyphens, underscores, spaces."""
    return re.sub(r"[-_\s]", "", name).lower()


def primitive_names(docs: Path) -> dict[str, str]:
    """Return every spelling of a primitive and every present name of it, with its own name."""
    found: dict[str, str] = {}
    titles = [primitive.title_zh for primitive in PRIMITIVES.values()]
    for slug, entries in names.read(docs).items():
        primitive = PRIMITIVES[slug]
        for name in (primitive.title_en, *(entry.short for entry in entries if entry.call)):
            found[spelling(name)] = primitive.title_en
            found[re.sub(r"^(?:nccl|mpi|hccl)", "", spelling(name))] = primitive.title_en
        if sum(title.startswith(primitive.title_zh) for title in titles) > 1:
            # The search cannot tell this name from the longer one that begins with it.
            found[primitive.title_zh] = primitive.title_en
    return found


def text(docs: Path) -> str:
    """Return the module."""
    tables = {"WORDS": words(docs), "NAMES": primitive_names(docs)}
    parts = [
        f"/** @type {{Record<string, string>}} */\nexport const {name} = "
        f"{json.dumps(table, ensure_ascii=False, indent=2)};\n"
        for name, table in tables.items()
    ]
    return "// Written by scripts/search_aliases.py at every build.\n\n" + "\n".join(parts)


def generate(docs: Path) -> None:
    """Write the module, if it is not there as it should be."""
    path = docs / OUTPUT
    wanted = text(docs)
    if not path.exists() or path.read_text(encoding="utf-8") != wanted:
        path.write_text(wanted, encoding="utf-8", newline="\n")
