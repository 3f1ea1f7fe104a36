"""The bundle of the player, ``docs/assets/player/``, and whether it is still true to its sources.

Pages load the bundle. It is committed, so that building the site needs no Node; beside it,
``sources.json`` says what it was made from. Where the sources have changed since, a strict build
fails and `mkdocs serve` shows the sources instead. ``make player`` bundles again.
"""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

BUNDLE = "assets/player"
"""Folder of the bundle inside docs/, and on the site."""

MANIFEST = "sources.json"

ENTRIES = ("collective-player", "site", "embed")
"""The modules of docs/assets/js that pages load: the player, what this site has beside it, and what
the page embed/ has beside it."""

CHOICES = ("choices", "catalog", "catalog-file", "styles")
"""What a player with choices loads once its first picture is on the way."""

STALE = "播放器的源文件改过：运行 make player 重新打包"

log = logging.getLogger("mkdocs.player")
"""MkDocs counts the warnings of its own loggers, and a strict build fails when there is one."""


def stylesheets(docs: Path) -> list[Path]:
    """Return the stylesheets of the player: all but the one of the site around it."""
    return sorted(path for path in (docs / "assets/css").glob("*.css") if path.name != "site.css")


def digest(docs: Path) -> str:
    """Return the SHA-256 of everything the bundle is made from, names included."""
    total = hashlib.sha256()
    for path in (*sorted((docs / "assets/js").rglob("*.js")), *stylesheets(docs)):
        total.update(f"{path.relative_to(docs).as_posix()}\n".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def is_fresh(docs: Path) -> bool:
    """Whether the bundle was made from the sources as they are now."""
    try:
        manifest = json.loads((docs / BUNDLE / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("sha256") == digest(docs)


def warn_when_stale(docs: Path) -> None:
    """Say that the bundle is out of date; a strict build fails by it."""
    if not is_fresh(docs):
        log.warning(STALE)


def choose_for(page: Any, docs: Path) -> None:
    """Tell the template, through the page's metadata, to load the sources of a stale bundle."""
    if not is_fresh(docs):
        page.meta["player_sources"] = True
