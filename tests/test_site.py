"""The built site in a real browser: whole, quiet, searchable, and usable by everyone."""

from __future__ import annotations

import gzip
import re
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Response, expect

from built_site import ROOT, Site
from collectives.primitives import PRIMITIVES
from conftest import Visitor

BUDGET = 136_000
"""What a first visit to the page of a primitive may weigh, compressed."""

OF_THE_LOOK = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]
"""Rules of axe whose answer the palette or the width may change."""

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

SEED_BLOCKS = [
    ("Broadcast", "broadcast_cpu_demo.py"),
    ("Scatter", "scatter_cpu_demo.py"),
    ("Gather", "gather_cpu_demo.py"),
    ("Reduce", "reduce_cpu_demo.py"),
    ("AllGather", "allgather_cpu_demo.py"),
    ("ReduceScatter", "reducescatter_cpu_demo.py"),
    ("AllReduce", "allreduce_cpu_demo.py"),
    ("All-to-All", "alltoall_cpu_demo.py"),
]
"""The collapsible blocks of the first page, in the order of the original."""


def page_addresses(site: Site) -> dict[str, str]:
    """The address of every page and where it is inside the site; 404.html stands for any."""
    return {site.url + path: path for path in site.paths()}


def test_no_link_and_no_anchor_is_broken(site: Site):
    pages = {address: site.page(path) for address, path in page_addresses(site).items()}
    broken = []
    for address, page in pages.items():
        for tag, reference in page.links:
            target, fragment = urldefrag(urljoin(address, reference))
            if not target.startswith(site.url):
                # Only a link that a reader follows may leave the site.
                if tag != "a" or not re.match(r"https?://", target):
                    broken.append((address, reference))
                continue
            if not site.file(unquote(target.removeprefix(site.url))).is_file():
                broken.append((address, reference))
            # An address with "=" carries the state of the player, not an anchor.
            elif fragment and "=" not in fragment and target in pages:
                broken += [(address, reference)] * (unquote(fragment) not in pages[target].anchors)
    assert broken == []


def test_following_a_link_swaps_the_page_without_a_reload(site: Site, visit: Visitor):
    page = visit()
    page.evaluate("window.sameDocument = true")
    page.locator(".md-tabs").get_by_text("通信原语").click()
    expect(page.locator("h1")).to_contain_text("Broadcast")
    assert page.url == site.url + "primitives/broadcast/"
    assert page.evaluate("window.sameDocument") is True


# Each palette once and each width once. What the second look cannot change, the first has seen.
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_every_page_is_quiet_fits_its_window_and_violates_no_wcag(
    site: Site, visit: Visitor, width: int, scheme: str
):
    """Quiet: no console error and no request to another host, which `visit` watches for."""
    page = visit(width=width, scheme=scheme)
    faults = []
    for address in page_addresses(site):
        if address == site.url + "embed/":
            continue  # No page of the theme's; test_embed looks at it.
        page.goto(address)
        expect(page.locator("h1")).to_be_visible()
        expect(page.locator("collective-player:not([ready])")).to_have_count(0)
        expect(page.locator("body")).to_have_attribute(
            "data-md-color-scheme", {"light": "default", "dark": "slate"}[scheme]
        )
        open_blocks(page)
        keep_one_token_of_a_kind(page)
        overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        if overflow > 0:
            faults.append(f"{address}: {overflow} px too wide")
        faults += axe_violations(page, WCAG if scheme == "light" else None)
    assert faults == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_the_search_dialog_with_results_violates_no_wcag(visit: Visitor, scheme: str, width: int):
    page = visit(width=width, scheme=scheme)
    search(page, "AllReduce")
    assert axe_violations(page) == []


def open_blocks(page: Page) -> None:
    """Open every collapsible block, so that what it holds is looked at too."""
    page.evaluate("for (const block of document.querySelectorAll('details')) block.open = true")


def keep_one_token_of_a_kind(page: Page) -> None:
    """Join a piece of code with the text around it where one of its colour has been kept already.

    A page has thousands of them, and axe looks at the contrast of each.
    """
    page.evaluate("""() => {
        const seen = new Set();
        for (const token of document.querySelectorAll('.highlight code span[class]')) {
            const around = token.parentElement.closest('[class]').className;
            const kind = `${token.className} in ${around}`;
            if (seen.has(kind)) token.replaceWith(...token.childNodes);
            seen.add(kind);
        }
    }""")


def axe_violations(page: Page, tags: list[str] | None = WCAG) -> list[str]:
    """What axe-core finds on the page as it stands, one sentence for each element.

    Args:
        page: as it is shown now.
        tags: of the rules; None for those that depend on colours and widths alone.
    """
    only = {"type": "tag", "values": tags} if tags else {"type": "rule", "values": OF_THE_LOOK}
    options = {"runOnly": only, "resultTypes": ["violations"]}
    results = Axe().run(page, options=options).response
    return [
        f"{page.url}: {violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in results["violations"]
        for node in violation["nodes"]
    ]


def search(page: Page, words: str) -> list[str]:
    """Type words into the search as a reader does; return the pages found, best first."""
    page.keyboard.press("/")
    box = page.locator(".md-search__input")
    expect(box).to_be_focused()
    box.fill(words)
    # An input method ends with a key, and the search listens for keys.
    box.press("End")
    results = page.locator(".md-search-result__item > a")
    expect(results.first).to_be_visible()
    expect(page.locator(".md-search-result__meta")).to_contain_text("找到")
    return [link.evaluate("link => link.origin + link.pathname") for link in results.all()]


@pytest.mark.parametrize("words", ["反向传播", "二项树", "时延", "带宽", "集合通信", "进程"])
def test_the_search_finds_chinese_terms_inside_sentences(visit: Visitor, words: str):
    page = visit()
    assert search(page, words)
    marked = page.locator(".md-search-result__item mark").all_text_contents()
    assert any(words in text or text in words for text in marked)


def test_a_first_visit_to_the_page_of_a_primitive_stays_light(site: Site, browser: Browser):
    """Everything counts that the browser asks for before the reader does anything."""

    def packed(body: bytes) -> int:
        return len(gzip.compress(body, 9))

    heaviest = max(PRIMITIVES, key=lambda s: packed(site.file(f"primitives/{s}/").read_bytes()))
    context = browser.new_context(viewport={"width": 412, "height": 823})
    page = context.new_page()
    received: list[Response] = []
    page.on("response", lambda response: received.append(response))
    page.goto(f"{site.url}primitives/{heaviest}/")
    page.locator("collective-player[ready]").first.wait_for()
    page.locator(".cp-bar:not(.cp-waiting)").first.wait_for()
    page.wait_for_load_state("networkidle")
    sizes = {
        response.url.removeprefix(site.url): packed(response.body())
        for response in received
        if response.url.startswith(site.url)
    }
    context.close()
    assert {"assets/css/site.css", "assets/player/collective-player.js"} <= set(sizes)
    assert [name for name in sizes if "search_index" in name or "workers/" in name] == []
    assert sum(sizes.values()) <= BUDGET, sizes


def test_words_in_the_address_are_marked_on_the_page(visit: Visitor):
    """The search links to its results so; the index is then fetched without anybody's asking."""
    page = visit("primitives/allreduce/?h=归约")
    expect(page.locator("article mark").first).to_have_text("归约")


def test_a_wrong_address_leads_on_in_chinese(site: Site, visit: Visitor):
    page = visit("no/such/page/")
    expect(page.locator("h1")).to_have_text("找不到这一页")
    (problem,) = visit.problems
    assert "404" in problem
    visit.problems.clear()
    page.locator(".not-found").get_by_text("首页").click()
    expect(page).to_have_url(site.url)
    expect(page.locator("h1")).to_contain_text("集合通信图解")


def test_the_first_page_keeps_every_sentence_and_block_of_the_original(visit: Visitor):
    page = visit()
    article = page.locator("article")
    headings = article.locator("h2").all_text_contents()
    assert [heading.strip("¶") for heading in headings][:2] == ["交互演示", "PyTorch CPU 代码示例"]
    expect(article).to_contain_text("选择通信原语和 GPU 数量后，即可连续播放或逐轮观察。")
    expect(article).to_contain_text(
        "下面的示例使用 PyTorch Distributed 的 Gloo 后端，在单机启动 4 个进程；"
        "保存代码后运行 python 文件名.py 即可。"
    )
    blocks = article.locator("details").all()
    summaries = [block.locator("summary").inner_text() for block in blocks]
    assert summaries == [f"{title}：{demo}" for title, demo in SEED_BLOCKS]
    opened = [block.locator("summary").inner_text() for block in blocks if is_open(block)]
    assert opened == ["AllReduce：allreduce_cpu_demo.py"]


def is_open(block: object) -> bool:
    return bool(block.evaluate("block => block.open"))  # type: ignore[attr-defined]


def test_a_demo_can_be_copied_and_downloaded_exactly_as_it_is(visit: Visitor):
    page = visit()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    source = (ROOT / "docs" / "demos" / "allreduce_cpu_demo.py").read_text(encoding="utf-8")
    block = page.locator("details[open]")
    block.locator(".highlight").first.hover()
    block.locator(".highlight").first.get_by_title("复制").click()
    expect(page.locator(".md-dialog")).to_contain_text("已复制")
    assert page.evaluate("navigator.clipboard.readText()").strip() == source.strip()
    with page.expect_download() as download:
        block.get_by_role("link", name="下载 allreduce_cpu_demo.py").click()
    assert download.value.suggested_filename == "allreduce_cpu_demo.py"
    assert download.value.path().read_text(encoding="utf-8") == source


def test_every_block_of_the_first_page_shows_a_demo_with_its_output(visit: Visitor):
    page = visit()
    for title, demo in SEED_BLOCKS:
        block = page.locator("details").filter(has=page.get_by_text(f"{title}：{demo}", exact=True))
        titles = block.locator(".filename").all_text_contents()
        assert titles[:2] == [demo, "实际输出"]
        assert block.locator("a[download]").first.get_attribute("download") == demo


def test_a_script_that_somebody_slips_into_a_page_does_not_run(site: Site, visit: Visitor):
    """And the one that belongs on a page runs, on whatever page the visit began."""
    page = visit("reference/schedule-format/")
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.hurt = true";
          document.body.append(script);
          const picture = "<img src='.' onerror='window.hurt = true'>";
          document.body.insertAdjacentHTML("beforeend", picture);
        }"""
    )
    page.wait_for_function("document.querySelector('img[onerror]').complete")
    assert page.evaluate("window.hurt") is None
    assert len(visit.problems) == 2
    assert all("Content Security Policy" in problem for problem in visit.problems)
    visit.problems.clear()
    page.evaluate("window.sameDocument = true")
    page.locator(".md-footer").get_by_role("link", name="播放器嵌入指南").or_(
        page.locator(".md-sidebar--primary").get_by_role("link", name="播放器嵌入指南")
    ).first.click()
    page.locator("collective-player[ready]").wait_for()
    assert page.evaluate("window.sameDocument") is True
    page.get_by_role("button", name="跳到结尾", exact=True).last.click()
    expect(page.locator("#example-state")).to_contain_text("步之后")


def test_the_page_follows_the_system_until_the_reader_chooses(visit: Visitor):
    page = visit(scheme="dark")
    body = page.locator("body")
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    page.emulate_media(color_scheme="light")
    expect(body).to_have_attribute("data-md-color-scheme", "default")
    toggle = page.locator("form[data-md-component=palette] label:visible")
    toggle.click()
    expect(page.get_by_label("当前为浅色，点击改用深色")).to_be_checked()
    toggle.click()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    page.reload()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")


def test_formulas_are_drawn_with_the_font_of_the_site(visit: Visitor):
    page = visit("primitives/allreduce/")
    expect(page.locator("math").first).to_be_visible()
    page.evaluate("document.fonts.ready")
    fonts = page.evaluate("[...document.fonts].map((font) => [font.family, font.status])")
    assert ["Site Math", "loaded"] in [[family.strip('"'), status] for family, status in fonts]


def test_a_page_prints_its_code_outputs_and_rounds_whole_and_without_its_frame(visit: Visitor):
    page = visit("primitives/allreduce/", width=794)  # A4, in CSS pixels.
    page.locator("collective-player[ready]").first.wait_for()
    page.emulate_media(media="print")
    for frame in (".md-header", ".md-tabs", ".md-sidebar--primary", ".md-footer", ".cp"):
        expect(page.locator(frame).first).to_be_hidden()
    rounds = page.locator(".cp-rounds").first.locator("tbody tr")
    expect(rounds).to_have_count(6)
    for printed in ("h1", ".cp-rounds", ".figure svg", ".filename >> text=实际输出"):
        expect(page.locator(printed).first).to_be_visible()
    cut = page.evaluate(
        """() => [...document.querySelectorAll('article :is(code, .table-box, table, svg, math)')]
          .filter((node) => node.scrollWidth > node.clientWidth + 1
            && getComputedStyle(node).overflowX !== 'visible'
            || node.getBoundingClientRect().right > innerWidth)
          .map((node) => node.outerHTML.slice(0, 80))"""
    )
    assert cut == []


def test_the_menu_on_a_phone_leads_on_from_a_wrong_address(visit: Visitor):
    page = visit("no/such/page/", width=390)
    visit.problems.clear()
    page.locator(".md-header label[for=__drawer]").click()
    link = page.locator(".md-sidebar--primary").get_by_role("link", name="常见问题")
    expect(link).to_be_in_viewport()
