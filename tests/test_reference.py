"""The reference: every name is looked up or called, every source is listed with its pages."""

from __future__ import annotations

import html
import importlib
import inspect
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

import pytest
import yaml

import bibliography_macros
import measure_gloo_calls as calling
import names
import sources
from article import Article
from built_site import ROOT, Site
from collectives.primitives import PRIMITIVES
from names import Name
from site_macros import Page

DOCS = ROOT / "docs"
NAMES = [name for entries in names.read(DOCS).values() for name in entries]
OF_PYTORCH = [name for name in NAMES if name.call.startswith("torch.")]
MEASURED: dict[str, Any] = json.loads(calling.RESULTS.read_text(encoding="utf-8"))
BY_NAME = {call["name"]: call for call in MEASURED["calls"]}
OFFICIAL = yaml.safe_load((DOCS / "assets" / "pytorch_backends.yml").read_text(encoding="utf-8"))

each_pytorch_name = pytest.mark.parametrize("name", OF_PYTORCH, ids=lambda name: name.call)


def resolved(name: str) -> Any:
    """What a dotted name stands for."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def as_measured(name: str) -> str:
    """A name of torch as the measurement has it."""
    return name.removeprefix("torch.distributed.")


# -------------------------------------------------------------------------------------- names


@each_pytorch_name
def test_a_name_of_pytorch_exists_with_the_parameters_that_the_page_shows(name: Name):
    function, _, shown = name.call.rstrip(")").partition("(")
    parameters = list(inspect.signature(resolved(function)).parameters)
    listed = shown.split(", ")
    assert listed == [parameter for parameter in parameters if parameter in listed]


@each_pytorch_name
def test_a_name_of_pytorch_was_called_and_gave_no_warning(name: Name):
    call = BY_NAME[as_measured(name.call.split("(")[0])]
    assert call["result"] == calling.RIGHT
    assert "warning" not in call


def test_every_old_name_was_called_still_works_and_warned():
    old = [former.name for name in NAMES for former in name.old]
    assert len(old) >= 8
    for former in old:
        call = BY_NAME[as_measured(former)]
        assert call["result"] == calling.RIGHT
        assert former in call["warning"]


@pytest.mark.parametrize(
    ("library", "named"),
    [
        ("NCCL", r"nccl[A-Z]\w+"),
        ("MPI", r"MPI_[A-Z]\w+"),
        ("HCCL", r"Hccl[A-Z]\w+"),
        ("JAX", r"jax\.lax\.\w+\([\w, ]+\)"),
    ],
)
def test_a_name_looks_like_one_of_its_library(library: str, named: str):
    calls = [name.call for name in NAMES if name.library == library and name.call]
    assert len(calls) >= 5
    assert [call for call in calls if not re.fullmatch(named, call)] == []


@pytest.mark.parametrize("slug", PRIMITIVES)
def test_the_page_of_a_primitive_shows_every_name_of_the_list_each_with_a_source(
    site: Site, slug: str
):
    article = Article(site.file(f"primitives/{slug}/").read_text(encoding="utf-8"))
    (table,) = article.tables["各家叫法"]
    wanted = names.read(DOCS)[slug]
    assert [row[0] for row in table[1:]] == [name.library for name in wanted]
    assert [row[1] for row in table[1:]] == [name.call or "没有" for name in wanted]
    assert all(re.search("出处：.", row[2]) for row in table[1:])


def test_the_page_of_names_shows_every_call_and_every_old_name(site: Site):
    text = html.unescape(
        re.sub(r"<[^>]+>", "", site.file("reference/api/").read_text(encoding="utf-8"))
    )
    for name in NAMES:
        assert name.call in text
        for former in name.old:
            assert former.name.rpartition(".")[2] in text


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw.pop("reduce"),
        lambda raw: raw["reduce"].pop(),
        lambda raw: raw["reduce"][0].update(library="OpenCL"),
        lambda raw: raw["reduce"][0].update(colour="red"),
        lambda raw: raw["reduce"][0].pop("sources"),
    ],
)
def test_a_list_of_names_with_a_mistake_is_refused(damage: Any, tmp_path: Path):
    raw = yaml.safe_load((DOCS / names.FILE).read_text(encoding="utf-8"))
    damage(raw)
    (tmp_path / "assets").mkdir()
    (tmp_path / names.FILE).write_text(yaml.safe_dump(raw, allow_unicode=True), encoding="utf-8")
    with pytest.raises(names.NamesError):
        names.read(tmp_path)


# ----------------------------------------------------------------------------------- backends


def test_every_call_made_again_comes_out_as_recorded():
    again = calling.measure()
    assert list(again) == list(BY_NAME)
    for name, outcome in again.items():
        recorded = {key: BY_NAME[name].get(key) for key in ("result", "warning")}
        assert {key: outcome.get(key) for key in recorded} == recorded, name


def test_the_matrix_says_when_and_on_which_torch(site: Site):
    pinned = re.search(r'"torch==([\d.]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert pinned
    assert MEASURED["torch"].split("+")[0] == pinned[1]
    prose = Article(site.file("reference/backends/").read_text(encoding="utf-8")).prose
    said = f"试于 {MEASURED['date']}，torch {MEASURED['torch']}"
    assert any(said in element.text for element in prose)


def test_no_call_gives_a_wrong_value_without_an_error():
    results = [call["result"] for call in MEASURED["calls"]]
    assert not [result for result in results if result.startswith(calling.WRONG)]


def test_a_call_that_leaves_something_else_is_not_called_right():
    nothing = calling.Call(calling.COLLECTIVE, lambda rank: [1.0], ([2.0], [2.0]))
    assert calling.attempt(nothing, 0) == {"result": "wrong: [1.0]"}


def test_the_measurement_agrees_with_the_table_of_the_documentation_where_both_speak():
    measured = {call.split(" / ")[0] for call in BY_NAME} | {"recv"}
    assert set(OFFICIAL["rows"]) <= measured
    for row, said in OFFICIAL["rows"].items():
        outcome = BY_NAME["send / recv" if row in ("send", "recv") else row]
        assert said["gloo"] == (outcome["result"] == calling.RIGHT), row


def test_the_matrix_shows_every_call_and_every_error(site: Site):
    page = site.file("reference/backends/").read_text(encoding="utf-8")
    article = Article(page)
    tables = [table for section in article.tables.values() for table in section]
    shown = {row[0]: row[1:] for table in tables for row in table[1:]}
    assert list(shown) == list(BY_NAME)
    for name, call in BY_NAME.items():
        assert shown[name][0].startswith("✓") == (call["result"] == calling.RIGHT), name
        assert ("会警告" in shown[name][0]) == ("warning" in call), name
    assert shown["reduce_scatter"][1:] == ["✓", "不支持"]
    for call in MEASURED["calls"]:
        if call["result"] != calling.RIGHT:
            assert html.escape(call["result"], quote=False) in page
    heads = {head for table in tables for head in table[0] if "NCCL" in head or "MPI" in head}
    assert heads == {"NCCL（没有在本站运行）", "MPI（没有在本站运行）"}


# ------------------------------------------------------------------------------- bibliography

BIBLIOGRAPHY = "reference/bibliography/"


def article_html(site: Site, path: str) -> str:
    page = site.file(path).read_text(encoding="utf-8")
    found = re.search(r"<article.*?</article>", page, re.DOTALL)
    return found[0] if found else ""


def links(text: str) -> list[str]:
    return [html.unescape(link) for link in re.findall(r'<a [^>]*?href="([^"]+)"', text)]


def test_the_bibliography_has_every_external_link_of_every_page_with_that_page(site: Site):
    wanted: dict[str, set[str]] = defaultdict(set)
    for path in site.paths():
        if path not in (BIBLIOGRAPHY, "404.html", "embed/"):
            for link in links(article_html(site, path)):
                if re.match(r"https?://", link) and not link.startswith(site.url):
                    wanted[urldefrag(link)[0]].add(site.url + path)
    listed: dict[str, set[str]] = {}
    for item in re.findall(r"<li>(.*?)</li>", article_html(site, BIBLIOGRAPHY), re.DOTALL):
        first, *rest = links(item)
        if first.startswith("http"):
            assert first not in listed, f"{first} stands twice"
            listed[first] = {urljoin(site.url + BIBLIOGRAPHY, link) for link in rest}
    assert len(wanted) > 150
    for address, pages in wanted.items():
        assert pages <= listed.get(address, set()), address


OWN = re.compile(
    r"实测|记录|测量程序|实现：|机器可读|tests/|\]\((?!https?:)|[α-ω] = |测试保证", re.IGNORECASE
)
"""How a line says that the site itself is the source."""


def test_every_line_of_every_section_of_references_is_in_the_bibliography_or_the_sites_own():
    known = sources.read(DOCS)
    base = Page(bibliography_macros.SELF, BIBLIOGRAPHY, DOCS)
    unknown = []
    seen = 0
    for path in sorted(DOCS.rglob("*.md")):
        name = path.relative_to(DOCS).as_posix()
        for section in sources.REFERENCES.findall(path.read_text(encoding="utf-8")):
            for line in re.findall(r"^- .*", section, re.MULTILINE):
                seen += 1
                text = f"## 参考\n\n{line}\n"
                found = list(bibliography_macros.sources_on(base, name, text, known))
                if not found and not OWN.search(line):
                    unknown.append(f"{name}: {line}")
    assert seen > 150
    assert unknown == []


def test_a_page_that_links_to_what_the_list_does_not_know_stops_the_build():
    base = Page(bibliography_macros.SELF, BIBLIOGRAPHY, DOCS)
    text = "见[某处](https://example.org/never-listed)。"
    with pytest.raises(sources.SourceError, match=r"cost/model\.md.*never-listed"):
        list(bibliography_macros.sources_on(base, "cost/model.md", text, sources.read(DOCS)))


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("https://github.com/pytorch/pytorch/pull/186123", "pytorch/pytorch#186123"),
        ("https://github.com/NVIDIA/nccl/issues/12#issuecomment-1", "NVIDIA/nccl#12"),
        ("https://stackoverflow.com/questions/15049190/difference", "Stack Overflow 15049190"),
    ],
)
def test_a_thread_needs_no_entry(address: str, title: str):
    assert sources.find({}, address).title == title
