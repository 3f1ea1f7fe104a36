#!/usr/bin/env python3
"""``make player``: bundle and minify the player into ``docs/assets/player/``.

The bundle is a function of its sources and of ``package-lock.json`` alone: the same bytes on every
machine. It is committed together with the sources it was made from.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import node_tools
import player_bundle

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


class BundleError(RuntimeError):
    """The sources cannot be bundled; the message is the bundler's."""


def bundle(docs: Path, target: Path) -> None:
    """Bundle the player of a docs folder into an existing folder, with its manifest.

    Args:
        docs: the folder that holds assets/js and assets/css.
        target: where the files go; others that lie there stay.

    Raises:
        BundleError: a module cannot be read, or says something a bundle cannot keep.
        node_tools.ToolMissing: Node, the bundler or the minifier is not installed.
    """
    for name in ("rolldown", "lightningcss"):
        node_tools.package(name)
    # Taken before: an edit made meanwhile leaves the bundle stale, never wrongly fresh.
    digest = player_bundle.digest(docs)
    entries = [docs / "assets/js" / f"{name}.js" for name in player_bundle.ENTRIES]
    script = Path(__file__).with_suffix(".mjs")
    result = subprocess.run(
        [node_tools.node(), script, docs, target, *entries, *player_bundle.stylesheets(docs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if result.returncode:
        raise BundleError(result.stdout)
    manifest = json.dumps({"sha256": digest}, indent=2) + "\n"
    (target / player_bundle.MANIFEST).write_text(manifest, encoding="utf-8", newline="\n")


def update(docs: Path) -> list[Path]:
    """Bring the bundle of a docs folder up to date and return its files.

    Files that would stay the same are left alone, or `mkdocs serve` would build once more.
    """
    target = docs / player_bundle.BUNDLE
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        bundle(docs, Path(scratch))
        made = {path.name: path.read_bytes() for path in Path(scratch).iterdir()}
    for path in target.iterdir():
        if path.name not in made:
            path.unlink()
    for name, content in made.items():
        path = target / name
        if not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)
    return sorted(target / name for name in made)


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="把播放器打包进 docs/assets/player/。")
    parser.parse_args(arguments)
    try:
        files = update(DOCS)
    except (BundleError, node_tools.ToolMissing) as error:
        print(error, file=sys.stderr)
        return 1
    for path in files:
        if path.name != player_bundle.MANIFEST:
            content = path.read_bytes()
            print(f"{path.name:<28} {len(content):>7} {len(gzip.compress(content, 9)):>7} gzip")
    return 0


if __name__ == "__main__":
    sys.exit(main())
