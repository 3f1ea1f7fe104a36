"""What machines read of a page: its sentence, its place, its picture, and what it may load."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import struct
from collections.abc import Iterator
from fnmatch import fnmatch
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree

import pytest

import cards
from built_site import MOUNT, ROOT, Site
from collectives.primitives import PRIMITIVES
from figure_macros import before_and_after

NOT_A_PAGE = {"404.html", "embed/"}
"""What search engines are asked to pass by."""

CARD_BUDGET = 60_000


class Elements(HTMLParser):
    """The elements of a page in document order, a script with its text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.all: list[tuple[str, dict[str, str], str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, {name: value or "" for name, value in attrs}, ""))

    def handle_endtag(self, tag: str) -> None:
        self.all.append((f"/{tag}", {}, ""))

    def handle_data(self, data: str) -> None:
        tag, attributes, text = self.all[-1] if self.all else ("", {}, "")
        if tag in ("script", "title"):
            self.all[-1] = (tag, attributes, text + data)

    def named(self, tag: str, **wanted: str) -> Iterator[tuple[dict[str, str], str]]:
        """Elements of a tag with some attributes, each with its text."""
        for name, attributes, text in self.all:
            if name == tag and wanted.items() <= attributes.items():
                yield attributes, text

    def meta(self, name: str) -> str | None:
        """What a <meta> says; None where there is no such element, an error where there are two."""
        key = "property" if name.startswith("og:") else "name"
        found = [attributes["content"] for attributes, _ in self.named("meta", **{key: name})]
        assert len(found) < 2, name
        return found[0] if found else None


def elements(site: Site, path: str) -> Elements:
    return Elements(site.file(path).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pages(site: Site) -> dict[str, Elements]:
    """Every page that is meant to be found, by its address inside the site."""
    return {path: elements(site, path) for path in site.paths() if path not in NOT_A_PAGE}


def graph(page: Elements) -> dict[str, Any]:
    """The structured data of a page by type."""
    ((_, text),) = page.named("script", type="application/ld+json")
    data = json.loads(text)
    assert data["@context"] == "https://schema.org"
    return {item["@type"]: item for item in data["@graph"]}


def png_size(file: Path) -> tuple[int, int]:
    head = file.read_bytes()[:24]
    assert head.startswith(b"\x89PNG\r\n\x1a\n")
    assert head[12:16] == b"IHDR"
    return struct.unpack(">II", head[16:])


# ----------------------------------------------------------------------------- sentence and place


def test_every_page_says_in_a_sentence_of_its_own_what_is_on_it(pages: dict[str, Elements]):
    said = {path: page.meta("description") or "" for path, page in pages.items()}
    assert {path: text for path, text in said.items() if not 20 <= len(text) <= 160} == {}
    assert len(set(said.values())) == len(said)


def test_every_page_says_at_which_address_it_is_to_be_found(site: Site, pages: dict[str, Elements]):
    for path, page in pages.items():
        ((canonical, _),) = page.named("link", rel="canonical")
        assert canonical["href"] == page.meta("og:url") == site.url + path
        assert page.meta("robots") is None


def test_the_site_map_names_exactly_the_pages(site: Site, pages: dict[str, Elements]):
    root = ElementTree.parse(site.folder / "sitemap.xml").getroot()
    spaces = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    assert {node.text for node in root.findall("s:url/s:loc", spaces)} == {
        site.url + path for path in pages
    }


def test_search_engines_are_asked_to_pass_by_what_is_no_page(site: Site):
    for path in NOT_A_PAGE:
        page = elements(site, path)
        assert page.meta("robots") == "noindex"
        assert page.meta("og:url") is None


def test_the_page_for_a_wrong_address_leads_to_every_part_of_the_site_from_any_depth(
    site: Site, pages: dict[str, Elements]
):
    page = elements(site, "404.html")
    # It is shown at addresses of any depth: a relative one would lead nowhere.
    for tag, attributes, _ in page.all:
        for address in (attributes.get("href"), attributes.get("src")):
            if address is not None and not address.startswith("#"):
                assert address.startswith(MOUNT), (tag, address)
    text = site.file("404.html").read_text(encoding="utf-8")
    listed = re.findall(
        r'href="([^"]+)"', text.split('<div class="not-found">')[1].split("</ul>")[0]
    )
    listed = [urljoin(MOUNT, address) for address in listed]
    assert {address.removeprefix(MOUNT) for address in listed} <= set(pages)
    tabs = [
        attributes["href"]
        for attributes, _ in elements(site, "").named("a")
        if attributes.get("class") == "md-tabs__link"
    ]
    assert {urljoin(MOUNT, address) for address in tabs} == set(listed)
    assert list(page.named("input", **{"class": "md-search__input"}))


# ------------------------------------------------------------------------------- structured data


def test_structured_data_says_what_the_page_says_and_nothing_of_others(
    site: Site, pages: dict[str, Elements]
):
    for path, page in pages.items():
        found = graph(page)
        assert set(found) == (
            {"WebSite", "WebPage"} if not path else {"WebSite", "TechArticle", "BreadcrumbList"}
        )
        article = found["TechArticle" if path else "WebPage"]
        assert article["url"] == article["@id"] == site.url + path
        assert article["headline"] == page.meta("og:title")
        assert article["description"] == page.meta("description") == page.meta("og:description")
        assert article["image"] == page.meta("og:image")
        assert article["isPartOf"]["@id"] == found["WebSite"]["@id"]
        ((_, title),) = page.named("title")
        assert title.startswith(article["headline"])
        addresses = re.findall(r'"(https?://[^"]+)"', json.dumps(found))
        assert addresses
        assert [address for address in addresses if not address.startswith(site.url)] == []


def test_the_trail_of_a_page_leads_to_it_from_the_first_page(
    site: Site, pages: dict[str, Elements]
):
    for path, page in pages.items():
        if not path:
            continue
        trail = graph(page)["BreadcrumbList"]["itemListElement"]
        assert [step["position"] for step in trail] == list(range(1, len(trail) + 1))
        assert all(step["@type"] == "ListItem" and step["name"] for step in trail)
        steps = [step["item"].removeprefix(site.url) for step in trail]
        assert steps[0] == ""
        assert steps[-1] == path
        assert set(steps) <= set(pages)
    names = [
        s["name"] for s in graph(pages["primitives/gather/"])["BreadcrumbList"]["itemListElement"]
    ]
    assert names == ["集合通信图解", "通信原语", "Gather（收集）"]


# --------------------------------------------------------------------------------------- pictures


def test_every_page_has_a_card_that_a_primitive_shares_with_nobody(
    site: Site, pages: dict[str, Elements]
):
    for path, page in pages.items():
        name = path.split("/")[1] if path.startswith("primitives/") else "site"
        address = page.meta("og:image") or ""
        assert address == f"{site.url}{cards.FOLDER}/{name}.png"
        size = png_size(site.folder / address.removeprefix(site.url))
        assert size == (cards.WIDTH, cards.HEIGHT)
        assert (page.meta("og:image:width"), page.meta("og:image:height")) == ("1200", "630")
        assert page.meta("twitter:card") == "summary_large_image"
        assert page.meta("og:image:alt") == cards.words(name)


def test_every_card_was_made_from_what_its_page_shows_now_and_is_light():
    """Otherwise run scripts/take_cards.py and look at what it wrote."""
    assert cards.stale(ROOT) == []
    folder = ROOT / "docs" / cards.FOLDER
    assert {file.name for file in folder.iterdir()} == {
        *(f"{name}.png" for name in cards.NAMES),
        cards.MANIFEST,
    }
    for name in cards.NAMES:
        assert (folder / f"{name}.png").stat().st_size < CARD_BUDGET


def test_a_card_is_stale_once_a_sentence_a_colour_or_a_picture_has_changed(tmp_path: Path):
    for file in (
        "mkdocs.yml",
        "docs/assets/css/site.css",
        *(f"docs/primitives/{slug}.md" for slug in PRIMITIVES),
    ):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    shutil.copytree(ROOT / "docs" / cards.FOLDER, tmp_path / "docs" / cards.FOLDER)
    assert cards.stale(tmp_path) == []

    def replace(file: str, old: str, new: str) -> None:
        text = (tmp_path / file).read_text(encoding="utf-8")
        assert old in text
        (tmp_path / file).write_text(text.replace(old, new), encoding="utf-8")

    replace("docs/primitives/gather.md", "description: Gather 把", "description: Gather 会把")
    (tmp_path / "docs" / cards.FOLDER / "reduce.png").unlink()
    assert cards.stale(tmp_path) == ["gather", "reduce"]
    replace("docs/assets/css/site.css", "light-dark(#1d6ec9", "light-dark(#1d6ec8")
    assert cards.stale(tmp_path) == list(cards.NAMES)


@pytest.mark.parametrize("slug", PRIMITIVES)
def test_the_page_of_a_primitive_draws_before_and_after_with_the_numbers_in_words(
    pages: dict[str, Elements], slug: str
):
    ((svg, _),) = (
        found
        for found in pages[f"primitives/{slug}/"].named("svg", role="img")
        if "之前" in found[0].get("aria-label", "")
    )
    for rank, sides in enumerate(before_and_after(PRIMITIVES[slug])):
        for cells in sides:
            numbers = "、".join(cell.text for cell in cells if cell.text)
            assert numbers in svg["aria-label"].split(f"rank {rank}，")[1].split("；")[0]


# ------------------------------------------------------------------------ what a page may load


def policy(page: Elements) -> dict[str, list[str]]:
    """The Content-Security-Policy of a page by directive."""
    ((found, _),) = page.named("meta", **{"http-equiv": "Content-Security-Policy"})
    return {
        name: values for name, *values in (part.split() for part in found["content"].split(";"))
    }


def inline_scripts(page: Elements) -> set[str]:
    """The hashes of the scripts that a browser would run and that stand in the page itself."""
    return {
        "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for attributes, text in page.named("script")
        if "src" not in attributes and attributes.get("type") in (None, "module", "text/javascript")
    }


def test_every_page_names_its_own_host_and_nothing_else_as_the_source_of_scripts(site: Site):
    for path in site.paths():
        allowed = policy(elements(site, path))
        assert allowed["default-src"] == ["'self'"]
        scripts = allowed.get("script-src", allowed["default-src"])
        assert scripts[0] == "'self'"
        assert [one for one in scripts[1:] if not re.fullmatch(r"'sha256-[\w+/]{43}='", one)] == []
        assert (allowed["object-src"], allowed["base-uri"]) == (["'none'"], ["'self'"])
        # The player's page is made for the frames of others; no page is closed to them.
        assert "frame-ancestors" not in allowed


def test_every_script_that_stands_in_a_page_is_one_of_those_that_may_run(site: Site):
    """What is missing here belongs into `inline_scripts` in mkdocs.yml."""
    found = set()
    for path in site.paths():
        page = elements(site, path)
        allowed = policy(page).get("script-src", [])
        assert {f"'{one}'" for one in inline_scripts(page)} <= set(allowed), path
        found |= inline_scripts(page)
    assert found


def test_the_policy_stands_before_everything_that_it_governs(site: Site):
    for path in site.paths():
        text = site.file(path).read_text(encoding="utf-8")
        before = text.split('http-equiv="Content-Security-Policy"')[0]
        assert not re.search(r"<script|stylesheet|<style|<img", before), path


def test_no_page_has_a_handler_in_an_attribute_or_a_script_for_an_address(site: Site):
    for path in site.paths():
        for tag, attributes, _ in elements(site, path).all:
            assert [name for name in attributes if name.startswith("on")] == [], (path, tag)
            for address in (attributes.get("href", ""), attributes.get("src", "")):
                assert not address.strip().lower().startswith(("javascript:", "data:")), path


def test_a_link_to_elsewhere_never_hands_over_the_window(site: Site):
    """One that opens a new window says noopener; no other can reach this one."""
    opened = 0
    for path in site.paths():
        for attributes, _ in elements(site, path).named("a"):
            if attributes.get("target"):
                assert "noopener" in attributes.get("rel", "").split(), (path, attributes)
                opened += 1
            address = urlsplit(attributes.get("href", ""))
            assert address.scheme in ("", "https") or attributes["href"].startswith(site.url), path
    assert opened


# ------------------------------------------------------------------------- where things come from

NOTICE = "assets/licenses.txt"


def notices(site: Site) -> list[dict[str, str]]:
    """The sections of the notice by key; the text of the licence has none."""
    _, *sections = site.file(NOTICE).read_text(encoding="utf-8").split("=" * 78 + "\n")
    found = []
    for section in sections:
        head, _, text = section.partition("\n\n")
        keys = dict(line.split("：", 1) for line in head.splitlines())
        found.append({**keys, "": text.strip()})
    return found


def test_everything_that_came_from_elsewhere_has_its_licence_beside_it(site: Site):
    sections = notices(site)
    for section in sections:
        assert set(section) - {"文件"} == {"名称", "许可证", "来源", ""}
        assert len(section[""]) > 15, section["名称"]
    patterns = [pattern for section in sections for pattern in section.get("文件", "").split()]
    ours = {file.relative_to(ROOT / "docs") for file in (ROOT / "docs").rglob("*")}
    fonts = {".woff2", ".woff", ".ttf", ".otf"}
    foreign = [
        file.relative_to(site.folder)
        for file in sorted((site.folder / "assets").rglob("*"))
        if file.is_file() and (file.relative_to(site.folder) not in ours or file.suffix in fonts)
    ]
    assert len(foreign) > 30
    unnamed = [str(f) for f in foreign if not any(fnmatch(f.as_posix(), one) for one in patterns)]
    assert unnamed == []
    names = [file.as_posix() for file in foreign]
    idle = [one for one in patterns if not any(fnmatch(name, one) for name in names)]
    assert idle == []


def test_every_package_inside_a_script_or_a_stylesheet_of_the_theme_is_named(site: Site):
    text = site.file(NOTICE).read_text(encoding="utf-8")
    packages = {
        name
        for source_map in (site.folder / "assets").rglob("*.map")
        for source in json.loads(source_map.read_text(encoding="utf-8"))["sources"]
        for name in re.findall(r"node_modules/((?:@[^/]+/)?[^/]+)/", source)
    }
    assert {"rxjs", "lunr"} <= packages
    assert [name for name in sorted(packages) if name not in text] == []


def test_every_page_leads_to_the_licences(site: Site, pages: dict[str, Elements]):
    for path, page in pages.items():
        links = {urljoin(site.url + path, a.get("href", "")) for a, _ in page.named("a")}
        assert site.url + NOTICE in links, path
