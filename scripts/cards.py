"""The cards that feeds and messengers show for a link to a page: one for each primitive, one more.

A card shows the picture of ``figure_macros``, which comes from the schedule, and the first sentence
of the page's description. Feeds take PNG only, so ``take_cards`` photographs the cards in a browser
and the pictures are committed; beside them ``sources.json`` says what each was made from.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

import yaml

from collectives.primitives import PRIMITIVES, Primitive
from figure_macros import RANKS, picture, picture_words

FOLDER = "assets/images/cards"
"""Folder of the pictures inside docs/, and on the site."""

MANIFEST = "sources.json"

WIDTH, HEIGHT = 1200, 630
"""The size that feeds ask for."""

SITE = "site"
"""The card of every page that is not the page of a primitive."""

NAMES = (SITE, *PRIMITIVES)

STYLE = f"""
* {{ box-sizing: border-box; margin: 0; }}
body {{
  background: var(--site-page); color: var(--site-ink); display: flex; flex-direction: column;
  font-family: "Noto Sans CJK SC", "Noto Sans SC", "PingFang SC", "Microsoft YaHei", sans-serif;
  height: {HEIGHT}px; padding: 52px 64px 44px; width: {WIDTH}px;
}}
h1 {{ font-size: 60px; font-weight: 700; line-height: 1.2; }}
p {{ color: var(--site-muted); font-size: 28px; line-height: 1.5; margin-top: 10px;
  text-wrap: balance; }}
.figure {{ flex: 1; margin-top: 28px; min-height: 0; }}
.figure svg {{ height: 100%; max-width: none; width: auto; }}
.figures {{
  display: grid; gap: 34px 28px; grid-template-columns: repeat(4, 1fr); margin-top: 30px;
}}
.figures .figure {{ margin: 0; }}
.figures svg {{ height: 136px; max-width: 100%; }}
.figures b {{ display: block; font-size: 24px; margin-bottom: 8px; }}
footer {{ color: var(--site-accent); font-size: 26px; font-weight: 700; position: absolute;
  right: 64px; top: 64px; }}
"""


def name_of(source: str) -> str:
    """Return the card of a page, by the page's path inside docs/."""
    folder, _, file = source.partition("/")
    slug = file.removesuffix(".md")
    return slug if folder == "primitives" and slug in PRIMITIVES else SITE


def choose_for(page: Any, source: str) -> None:
    """Tell the template, through the page's metadata, which card the page has."""
    name = name_of(source)
    page.meta["card"] = {
        "file": f"{FOLDER}/{name}.png",
        "alt": words(name),
        "width": WIDTH,
        "height": HEIGHT,
    }


def words(name: str) -> str:
    """Say what is on a card."""
    if name == SITE:
        titles = "、".join(primitive.title_en for primitive in PRIMITIVES.values())
        return f"八个集合通信原语在 {RANKS} 个 rank 上的前后状态：{titles}。"
    return picture_words(PRIMITIVES[name])


def markup(name: str, root: Path) -> str:
    """Return a card as a web page that needs nothing else.

    Args:
        name: one of NAMES.
        root: the folder of mkdocs.yml.
    """
    body = _site_card(root) if name == SITE else _primitive_card(PRIMITIVES[name], root)
    css = (root / "docs/assets/css/site.css").read_text(encoding="utf-8")
    style = _section(css, "colours") + _section(css, "before and after, drawn") + STYLE
    return (
        f'<!doctype html><html lang="zh"><meta charset="utf-8"><style>{style}</style>'
        f'<body data-md-color-scheme="default">{body}</body></html>\n'
    )


def _site_card(root: Path) -> str:
    name, sentence = _site(root)
    boxes = "".join(
        f'<div class="figure"><b>{html.escape(primitive.title_en)}</b>{picture(primitive)}</div>'
        for primitive in PRIMITIVES.values()
    )
    return f'<h1>{html.escape(name)}</h1><p>{sentence}</p><div class="figures">{boxes}</div>'


def _primitive_card(primitive: Primitive, root: Path) -> str:
    text = (root / f"docs/primitives/{primitive.slug}.md").read_text(encoding="utf-8")
    description = yaml.safe_load(text.split("---\n")[1])["description"]
    sentence, _, _ = description.partition("。")
    site, _ = _site(root)
    return (
        f"<h1>{html.escape(primitive.title)}</h1><p>{html.escape(sentence)}。</p>"
        f'<div class="figure">{picture(primitive)}</div><footer>{site}</footer>'
    )


def _site(root: Path) -> tuple[str, str]:
    """Name and sentence of the site, out of a file that only MkDocs can read as a whole."""
    text = (root / "mkdocs.yml").read_text(encoding="utf-8")
    found = [re.search(rf"(?m)^site_{key}: (.+)$", text) for key in ("name", "description")]
    name, sentence = (html.escape(match[1]) for match in found if match)
    return name, sentence


def _section(css: str, title: str) -> str:
    """Return the part of a stylesheet below a headline."""
    parts = re.split(r"/\* -{20,} (.+?) \*/", css)
    return parts[parts.index(title) + 1]


def digest(name: str, root: Path) -> str:
    """Return the SHA-256 of what a card is made from."""
    return hashlib.sha256(markup(name, root).encode()).hexdigest()


def stale(root: Path) -> list[str]:
    """Return the cards whose picture was not made from what they would show now."""
    folder = root / "docs" / FOLDER
    try:
        made_from = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        made_from = {}
    return [
        name
        for name in NAMES
        if made_from.get(name) != digest(name, root) or not (folder / f"{name}.png").is_file()
    ]
