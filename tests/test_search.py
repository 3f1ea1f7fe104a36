"""The search: what a reader asks for, in whatever words, brings up the right page first."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

import search_aliases
from built_site import ROOT, Site
from collectives.primitives import PRIMITIVES
from conftest import Visitor

DOCS = ROOT / "docs"

EXPECTED = {
    "primitives/broadcast/": (
        "广播",
        "Broadcast",
        "bcast",
        "ncclBroadcast",
        "MPI_Bcast",
        "pbroadcast",
    ),
    "primitives/scatter/": (
        "散发",
        "Scatter",
        "散射",
    ),
    "primitives/gather/": (
        "收集",
        "Gather",
        "聚集",
    ),
    "primitives/reduce/": (
        "归约",
        "Reduce",
        "规约",
    ),
    "primitives/allgather/": (
        "全收集",
        "AllGather",
        "全聚集",
        "all_gather",
        "allgather",
        "all-gather",
        "torch.distributed.all_gather",
        "MPI_Allgather",
        "HcclAllGather",
    ),
    "primitives/reducescatter/": (
        "归约散发",
        "ReduceScatter",
        "规约散发",
        "reduce-scatter",
        "reduce scatter",
        "reduce_scatter",
        "reducescatter",
        "reduce_scatter_tensor",
        "ncclReduceScatter",
        "HcclReduceScatter",
        "psum_scatter",
    ),
    "primitives/allreduce/": (
        "全归约",
        "AllReduce",
        "全规约",
        "all_reduce",
        "allreduce",
        "all-reduce",
        "all reduce",
        "dist.all_reduce",
        "ncclAllReduce",
        "jax psum",
        "psum",
        "ring allreduce",
    ),
    "primitives/alltoall/": (
        "全交换",
        "All-to-All",
        "全对全",
        "alltoall",
        "all_to_all",
        "all to all",
        "all_to_all_single",
        "MPI_Alltoall",
    ),
    "faq/": (
        "all_gather_into_tensor",
        "_all_gather_base",
    ),
    "algorithms/ring/": (
        "环形",
        "环状算法",
    ),
    "algorithms/tree/": (
        "二项树",
        "双二叉树",
    ),
    "algorithms/halving-doubling/": (
        "递归倍增",
        "递归折半",
        "递归减半",
    ),
    "algorithms/pairwise/": ("成对交换",),
    "algorithms/bruck-pat/": ("Bruck",),
    "algorithms/pipeline/": ("流水线",),
    "algorithms/hierarchical/": ("分层",),
    "cost/model/": (
        "时延",
        "延迟",
        "代价模型",
    ),
    "cost/bandwidth/": (
        "总线带宽",
        "busbw",
        "algbw",
    ),
    "training/data/": (
        "数据并行",
        "ZeRO",
    ),
    "training/model/": (
        "张量并行",
        "专家并行",
    ),
    "run/launching/": ("torchrun",),
    "run/multi-node/": ("多机",),
    "failures/hang/": ("卡住",),
    "reference/backends/": ("后端",),
    "reference/bibliography/": ("参考文献",),
    "terminology/": ("术语",),
    "reference/schedule-format/": ("日程文件",),
    "reference/player/": ("嵌入",),
    "start/processes/": ("进程组",),
    "run/beyond/": (
        "send recv",
        "DeviceMesh",
    ),
}
"""Page -> the queries that must find it first."""


def first_page(page: Page, words: str) -> str:
    """Type words into the search, in place of what stands there; return the page on top."""
    box = page.locator(".md-search__input")
    items = page.locator(".md-search-result__item")
    box.fill("")
    box.press("End")
    expect(items).to_have_count(0)
    box.fill(words)
    # An input method ends with a key, and the search listens for keys.
    box.press("End")
    expect(items.first, words).to_be_visible()
    return str(items.first.locator("a").first.evaluate("link => link.origin + link.pathname"))


def test_every_query_finds_its_page_first(site: Site, visit: Visitor):
    page = visit()
    page.keyboard.press("/")
    expect(page.locator(".md-search__input")).to_be_focused()
    queries = [(words, path) for path, listed in EXPECTED.items() for words in listed]
    assert len({words for words, _ in queries}) == len(queries) >= 40
    for slug, primitive in PRIMITIVES.items():
        assert {primitive.title_zh, primitive.title_en} <= set(EXPECTED[f"primitives/{slug}/"])
    wrong = {}
    for words, path in queries:
        found = first_page(page, words)
        if found != site.url + path:
            wrong[words] = found
    assert wrong == {}


def test_the_box_keeps_what_the_reader_typed(visit: Visitor):
    page = visit()
    page.keyboard.press("/")
    assert first_page(page, "全规约").endswith("/primitives/allreduce/")
    shown = page.locator(".md-search__input").evaluate(
        "box => Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').get.call(box)"
    )
    assert shown == "全规约"


# -------------------------------------------------------------------------------- terminology


def test_every_term_has_its_english_a_definition_and_a_page_that_explains_it():
    terms = search_aliases.terms(DOCS)
    page = (DOCS / "terminology.md").read_text(encoding="utf-8")
    assert len(terms) == page.count("\n:   ") >= 50
    for anchor, term in terms.items():
        assert term.head, anchor
        assert re.search("[A-Za-z]", term.english), anchor
        definition, _, explained = term.text.partition("细讲：")
        assert len(definition) > 10, anchor
        assert re.fullmatch(r"\[[^]]+\]\([^)]+\)。", explained), anchor


def test_most_terms_have_other_words_for_them_and_each_leads_to_one_term():
    words = search_aliases.words(DOCS)
    assert len(words) >= 30
    terms = {term.head for term in search_aliases.terms(DOCS).values()}
    assert set(words.values()) <= terms
    # Replacing one alias never brings another one in.
    assert not [word for word in words if any(word in term for term in terms)]


def test_the_word_list_of_the_search_is_the_terms_and_what_pages_are_called():
    """What is not in it is cut anywhere, and a query for it finds pages with its pieces."""
    listed = {
        line.split()[0]
        for line in (ROOT / "scripts" / "search_terms.txt").read_text(encoding="utf-8").splitlines()
    }
    page = (DOCS / "terminology.md").read_text(encoding="utf-8")
    bold = {
        word
        for words in re.findall(r"\*\*(.+?)\*\*", page)
        for run in search_aliases.CHINESE.findall(words)
        for word in run.split("与")
        if len(word) > 1
    }
    titles = "".join(
        re.findall(r"^title: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)[0]
        for path in DOCS.rglob("*.md")
        if path != DOCS / "index.md"
    )
    assert bold <= listed
    assert [word for word in listed - bold if word not in titles] == []


def test_every_name_of_a_primitive_is_known_to_the_search():
    names = search_aliases.primitive_names(DOCS)
    for name, title in {
        "allreduce": "AllReduce",
        "ncclallreduce": "AllReduce",
        "bcast": "Broadcast",
        "psumscatter": "ReduceScatter",
        "归约": "Reduce",
    }.items():
        assert names[name] == title
