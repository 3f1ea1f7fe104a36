"""The page for other people's pages: one player, small, quiet, and it tells how high it is."""

from __future__ import annotations

import gzip
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, Response, expect

from built_site import Site
from conftest import Visitor
from engines import Engine
from panel_page import axe_faults

EMBED = "embed/"
STATE = "#op=reduce&algo=binomial&n=8&root=3&round=2"
BUDGET = 40_000


def state(page: Page) -> Any:
    """What is shown: step, number of ranks, and what they hold."""
    return page.locator("collective-player").first.evaluate(
        "p => [p.round, p.ranks, p.stateAt(p.round)]"
    )


@pytest.fixture
def around() -> Iterator[tuple[str, dict[str, str]]]:
    """Another site: its address, and the texts of its pages, which a test writes."""
    pages: dict[str, str] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(urlsplit(self.path).path, "").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        # By its name it is another origin than the site, which is served by its number.
        yield f"http://localhost:{server.server_port}/", pages
        server.shutdown()


def embedded(page: Page, visit: Visitor) -> FrameLocator:
    """The player in the first frame of a page, drawn."""
    frame = page.frame_locator("iframe").first
    frame.locator("collective-player[ready]").wait_for()
    # Two sites are at work here, which elsewhere would be one too many.
    visit.problems[:] = [text for text in visit.problems if "another host" not in text]
    return frame


def height(page: Page) -> int:
    return int(page.locator("iframe").first.evaluate("(frame) => frame.offsetHeight"))


def test_the_page_shows_the_state_in_its_address_and_nothing_else(visit: Visitor):
    page = visit(EMBED + STATE)
    page.locator("collective-player[ready]").wait_for()
    expect(page.locator("collective-player .cp-title")).to_contain_text("第 2 / 3 轮")
    page.locator(".cp-bar:not(.cp-waiting)").wait_for()
    shown = state(page)
    other = visit("primitives/reduce/" + STATE)
    other.locator("collective-player[ready]").first.wait_for()
    expect(other.locator(".cp-title").first).to_contain_text("第 2 / 3 轮")
    other.locator(".cp-bar:not(.cp-waiting)").first.wait_for()
    assert state(other) == shown
    assert page.locator("body > :not(link)").count() == 1
    assert page.locator("main").inner_text().endswith("在《集合通信图解》中打开")
    box = page.locator("collective-player").bounding_box()
    assert box
    assert (box["x"], box["y"], box["width"]) == (0, 0, 1280)


def test_the_whole_page_is_small_and_comes_from_one_host(site: Site, browser: Browser):
    context = browser.new_context()
    page = context.new_page()
    received: list[Response] = []
    page.on("response", lambda response: received.append(response))
    page.goto(site.url + EMBED)
    page.locator("collective-player[ready]").wait_for()
    page.wait_for_load_state("networkidle")
    sizes = {r.url: len(gzip.compress(r.body(), 9)) for r in received if r.status == 200}
    assert {urlsplit(url).netloc for url in sizes} == {urlsplit(site.url).netloc}
    assert any(url.endswith("n4.json") for url in sizes)
    assert any(url.endswith("catalog.json") for url in sizes)
    context.close()
    assert sum(sizes.values()) <= BUDGET, sizes


def test_without_the_choices_the_address_still_says_what_is_shown(visit: Visitor):
    page = visit(f"{EMBED}?controls=none{STATE}")
    page.locator("collective-player[ready]").wait_for()
    expect(page.locator("collective-player .cp-title")).to_contain_text("第 2 / 3 轮")
    expect(page.locator(".cp-bar")).to_be_hidden()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.cp-bar') === null")
    expect(page.get_by_role("button", name="播放", exact=True)).to_be_visible()


@pytest.mark.parametrize(
    ("wish", "system", "dark"),
    [
        ("?theme=dark", "light", True),
        ("?theme=light", "dark", False),
        ("?theme=auto", "dark", True),
        ("", "dark", True),
        ("", "light", False),
        ("?theme=<script>", "light", False),
    ],
)
def test_the_palette_is_the_one_that_is_asked_for(
    visit: Visitor, wish: str, system: str, dark: bool
):
    page = visit(EMBED + wish, scheme=system)
    page.locator("collective-player[ready]").wait_for()
    ground = page.locator(".cp").evaluate("(node) => getComputedStyle(node).backgroundColor")
    assert (ground == "rgb(17, 24, 39)") is dark
    # Around the player nothing covers the page that it stands in.
    for node in ("html", "body", "main"):
        assert (
            page.locator(node).evaluate("(node) => getComputedStyle(node).backgroundColor")
            == "rgba(0, 0, 0, 0)"
        )


@pytest.mark.parametrize("width", [1280, 390])
def test_the_code_from_the_share_panel_makes_a_frame_as_high_as_its_content(
    visit: Visitor, around: tuple[str, dict[str, str]], width: int
):
    address, pages = around
    page = visit("primitives/allreduce/#op=allreduce&algo=ring&n=8&root=0&round=3", width=width)
    page.locator("collective-player[ready]").first.wait_for()
    page.get_by_role("button", name="更多", exact=True).click()
    page.locator(".cp-menu").get_by_role("button", name="分享与下载", exact=True).click()
    code = page.get_by_label("嵌入代码：iframe", exact=True).input_value()
    pages["/"] = f"<!doctype html><link rel='icon' href='data:,'><title>别处</title>{code}"
    page.goto(address)
    frame = embedded(page, visit)
    expect(frame.locator(".cp-title")).to_contain_text("第 3 / 14 轮")
    page.wait_for_function("document.querySelector('iframe').height !== '100'")
    inside = frame.locator("body").evaluate("(body) => body.scrollHeight")
    assert abs(height(page) - inside) <= 1
    before = height(page)
    frame.get_by_role("button", name="更多", exact=True).click()
    frame.locator(".cp-menu").get_by_role("button", name="状态表", exact=True).click()
    page.wait_for_function(f"document.querySelector('iframe').offsetHeight > {before + 50}")
    embedded(page, visit)


def test_the_frame_of_the_guide_is_as_high_as_its_content(
    site: Site, visit: Visitor, around: tuple[str, dict[str, str]]
):
    address, pages = around
    blocks = {block.title: block.text for block in site.page("reference/player/").code_blocks}
    host = urlsplit(site.url)
    code = blocks["iframe.html"]
    assert code.count("https://example.org") == 2
    code = code.replace("https://example.org/", site.url)
    code = code.replace("https://example.org", f"{host.scheme}://{host.netloc}")
    pages["/"] = f"<!doctype html><link rel='icon' href='data:,'><title>别处</title>{code}"
    page = visit("embed/")
    page.goto(address)
    frame = embedded(page, visit)
    expect(frame.locator(".cp-title")).to_contain_text("第 3 / 6 轮")
    page.wait_for_function("document.querySelector('iframe').height !== '900'")
    assert abs(height(page) - frame.locator("body").evaluate("(body) => body.scrollHeight")) <= 1


def test_a_height_from_another_origin_is_not_taken(
    visit: Visitor, around: tuple[str, dict[str, str]]
):
    address, pages = around
    page = visit("primitives/allreduce/")
    page.locator("collective-player[ready]").first.wait_for()
    page.get_by_role("button", name="更多", exact=True).click()
    page.locator(".cp-menu").get_by_role("button", name="分享与下载", exact=True).click()
    code = page.get_by_label("嵌入代码：iframe", exact=True).input_value()
    frame = re.sub(r'src="[^"]*"', 'src="/stranger"', code)
    pages["/"] = f"<!doctype html><link rel='icon' href='data:,'><title>别处</title>{frame}"
    pages["/stranger"] = (
        "<script>parent.postMessage({ type: 'collective-player:height', height: 9 }, '*')</script>"
    )
    page.goto(address)
    page.wait_for_load_state("networkidle")
    assert height(page) > 500
    embedded_problems = [text for text in visit.problems if "another host" not in text]
    visit.problems[:] = embedded_problems


def test_the_code_of_the_element_plays_on_another_page(site: Site, visit: Visitor):
    page = visit("primitives/reduce/" + STATE)
    page.locator("collective-player[ready]").first.wait_for()
    page.get_by_role("button", name="更多", exact=True).click()
    page.locator(".cp-menu").get_by_role("button", name="分享与下载", exact=True).click()
    code = page.get_by_label("嵌入代码：自定义元素", exact=True).input_value()
    shown = state(page)
    address = f"{site.url}somebody-elses-page.html"
    page.route(
        address,
        lambda route: route.fulfill(body=f"<!doctype html>{code}", content_type="text/html"),
    )
    page.goto(address)
    page.locator("collective-player[ready]").wait_for()
    expect(page.locator(".cp-title")).to_contain_text("第 2 / 3 轮")
    assert state(page) == shown


def test_the_link_leads_to_the_page_of_what_is_shown_at_the_same_step(site: Site, visit: Visitor):
    page = visit(EMBED + STATE)
    page.locator("collective-player[ready]").wait_for()
    link = page.get_by_role("link", name="在《集合通信图解》中打开")
    page.get_by_role("combobox", name="通信原语").select_option("gather")
    page.locator(".cp-title").get_by_text("起始状态").wait_for()
    page.get_by_role("button", name="跳到结尾").click()
    assert link.get_attribute("target") == "_blank"
    assert link.get_attribute("rel") == "noopener"
    with page.context.expect_page() as opening:
        link.click()
    opened = opening.value
    opened.locator("collective-player[ready]").first.wait_for()
    assert opened.url.split("#")[0] == f"{site.url}primitives/gather/"
    assert state(opened) == state(page)


@pytest.mark.parametrize("hash", ["#op=nonsense", "#op=../../evil&n=-1", "#op=<img>&n=9999999"])
def test_a_malformed_address_leads_nowhere_else(site: Site, visit: Visitor, hash: str):
    page = visit(EMBED + hash)
    page.locator("collective-player[ready]").wait_for()
    link = page.get_by_role("link", name="在《集合通信图解》中打开")
    link.focus()
    target = link.evaluate("(node) => node.href")
    assert target.startswith(f"{site.url}primitives/allreduce/#op=allreduce&")


def test_without_scripts_a_sentence_leads_to_the_site(visit: Visitor):
    page = visit(EMBED, javascript=False)
    expect(page.get_by_text("这个动画要用 JavaScript 播放")).to_be_visible()
    page.get_by_role("link", name="《集合通信图解》", exact=True).click()


def test_search_engines_are_asked_to_pass_by_and_browsers_are_told_what_it_is(site: Site):
    html = site.file(EMBED).read_text(encoding="utf-8")
    assert '<html lang="zh">' in html
    assert '<meta name="robots" content="noindex">' in html
    assert re.search(r"<title>[^<]+</title>", html)
    assert '<meta name="viewport"' in html
    assert re.findall(r'(?:src|href)="\.\./assets/(?:js|css)/', html) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_the_page_violates_no_wcag_and_fits(visit: Visitor, scheme: str, width: int):
    page = visit(EMBED, scheme=scheme, width=width)
    page.locator("collective-player[ready]").wait_for()
    assert axe_faults(page) == []
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")


def test_every_engine_tells_the_page_around_how_high_it_is(engine: Engine):
    engine.open(
        "<script>addEventListener('message', ({ data }) => { window.told = data; })</script>"
        f"<iframe title='x' width='700' height='100' src='/embed/index.html{STATE}'></iframe>",
        ready=False,
    )
    inside = "document.querySelector('iframe').contentDocument"
    engine.wait_for(f"{inside}?.querySelector('collective-player[ready]')")
    engine.wait_for(f"window.told?.height === Math.ceil({inside}.body.offsetHeight)")
    assert engine.evaluate("window.told.type") == "collective-player:height"
    assert engine.evaluate("window.told.height") > 500
    title = f"{inside}.querySelector('.cp-title').textContent"
    engine.wait_for(f"{title}.startsWith('第 2 / 3 轮')")
