"""The same tree builds with Zensical, the successor of Material for MkDocs, to the same pages.

What is known to differ stands in CONTRIBUTING.md.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import urljoin

import pytest
import yaml

from built_site import ROOT, Site
from html_page import HTMLPage
from test_head import elements, graph, inline_scripts

THEME = re.compile(r"assets/(javascripts|stylesheets)/|assets/images/favicon\.png")
OF_MKDOCS = {"search/search_index.json", "sitemap.xml.gz"}
OF_ZENSICAL = {"search.json"}

PLAYERS = re.compile(r"<(collective-\w+|training-traffic|schedule-playground)\b([^>]*)>")


@pytest.fixture(scope="module")
def successor(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site as Zensical builds it; it writes beside its sources only, so they are copied."""
    project = tmp_path_factory.mktemp("zensical")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for folder in ("docs", "overrides", "scripts"):
        shutil.copytree(ROOT / folder, project / folder, ignore=ignored)
    shutil.copy(ROOT / "mkdocs.yml", project)
    result = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=project,
        env={**os.environ, "SITE_URL": site.url, "PYTHONPATH": str(project / "scripts")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert result.returncode == 0, result.stdout
    return Site(project / "site", site.url, result.stdout)


def article(site: Site, path: str) -> str:
    """The HTML of a page's article; of a page without a theme, all of it."""
    text = site.file(path).read_text(encoding="utf-8")
    found = re.search(r"<article.*</article>", text, re.DOTALL)
    return found[0] if found else text


def differing(one: Site, other: Site, seen: Callable[[Site, str], Any]) -> list[str]:
    """The pages on which something is not the same."""
    return [path for path in one.paths() if seen(one, path) != seen(other, path)]


def files(site: Site) -> set[str]:
    names = {f.relative_to(site.folder).as_posix() for f in site.folder.rglob("*") if f.is_file()}
    return {name for name in names if not THEME.match(name)}


def test_both_publish_the_same_files(site: Site, successor: Site):
    assert files(site) - files(successor) == OF_MKDOCS
    assert files(successor) - files(site) == OF_ZENSICAL
    for name in files(site) & files(successor):
        if not name.endswith((".html", ".xml")):
            same = (site.folder / name).read_bytes() == (successor.folder / name).read_bytes()
            assert same, name


def test_both_show_the_same_text(site: Site, successor: Site):
    def text(built: Site, path: str) -> object:
        page = HTMLPage(article(built, path))
        return page.article.split(), page.code_blocks

    assert len(site.paths()) > 40
    assert differing(site, successor, text) == []


def test_every_link_in_both_leads_to_the_same_place(site: Site, successor: Site):
    def places(built: Site, path: str) -> list[str]:
        links = HTMLPage(article(built, path)).links
        return [urljoin(site.url + path, link.address) for link in links]

    assert differing(site, successor, places) == []


def test_every_player_in_both_plays_the_same(site: Site, successor: Site):
    def players(built: Site, path: str) -> list[tuple[str, str]]:
        return PLAYERS.findall(article(built, path))

    assert sum(len(players(site, path)) for path in site.paths()) > 60
    assert differing(site, successor, players) == []


def test_both_say_the_same_to_machines(site: Site, successor: Site):
    def said(built: Site, path: str) -> object:
        page = elements(built, path)
        names = ["description", "robots", *(f"og:{name}" for name in ("title", "url", "image"))]
        found = graph(page) if page.meta("og:url") else {}
        return found, [page.meta(name) for name in names]

    assert differing(site, successor, said) == []


def test_the_policy_lets_run_what_stands_in_the_pages_of_both_and_nothing_else(
    site: Site, successor: Site
):
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = yaml.safe_load(text.split("  inline_scripts:\n")[1].split("\n\n")[0])
    found = [
        inline_scripts(elements(built, path))
        for built in (site, successor)
        for path in site.paths()
    ]
    assert set().union(*found) == set(listed)
    assert len(listed) == len(set(listed))


def test_the_version_that_was_compared_is_the_one_that_contributing_names():
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"Zensical {importlib.metadata.version('zensical')}" in contributing
