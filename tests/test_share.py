"""Links, code to embed and files of what is on the stage: they hold what one sees."""

from __future__ import annotations

import json
import re
import struct
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Download, Page, expect

from collectives.prove import prove
from collectives.serialize import schedule_from_json
from engines import Engine
from panel_page import (
    ask,
    axe_faults,
    focus_is_inside,
    open_panel,
    panel,
    press,
    scrolls_sideways,
    too_small,
)
from player_bench import ADDRESS, Bench, tag

TITLE = "分享与下载"
RING = "allreduce/ring/n4.json"
SVG = "{http://www.w3.org/2000/svg}"


def said(page: Page) -> str:
    return panel(page).get_by_role("status").inner_text()


def text_of(page: Page, name: str) -> str:
    return panel(page).get_by_label(name, exact=True).input_value()


def download(page: Page, name: str) -> Download:
    with page.expect_download() as waiting:
        press(page, name)
    return waiting.value


def saved(page: Page, name: str) -> tuple[str, bytes]:
    """The name and the content of what a button of the panel saves."""
    file = download(page, name)
    return file.suggested_filename, file.path().read_bytes()


def drawing(page: Page) -> ElementTree.Element:
    return ElementTree.fromstring(saved(page, "下载 SVG")[1])


def words(root: ElementTree.Element) -> list[str]:
    """The texts of an SVG file."""
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def hold_in_flight(page: Page) -> None:
    """Drag the timeline to where blocks are on their way."""
    box = page.locator(".cp-timeline").bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 4, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.23, middle, steps=4)
    page.mouse.up()
    assert ask(page, "p.querySelectorAll('.cp-token').length") > 0


class Tags(HTMLParser):
    """The tags of a piece of HTML with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


# ------------------------------------------------------------------------------------ link and code


def test_the_link_that_is_copied_opens_the_same_picture(bench: Bench):
    # A page that is not served safely has no clipboard of its own.
    page = open_panel(
        bench,
        RING,
        TITLE,
        hash="#op=reduce&algo=binomial&n=8&root=3&round=2&reduce=max",
        script="""Object.defineProperty(navigator, 'clipboard', { value: {
            writeText: async (text) => { window.copied = text; } } })""",
    )
    press(page, "复制链接")
    expect(panel(page).get_by_role("status")).to_contain_text("已复制：链接")
    link = page.evaluate("window.copied")
    shown = ask(page, "p.querySelector('.cp-svg').outerHTML.replace(/cp-\\d+-/g, '')")
    other = bench.ready(bench.body, hash=link.removeprefix(ADDRESS))
    assert ask(other, "p.querySelector('.cp-svg').outerHTML.replace(/cp-\\d+-/g, '')") == shown


@pytest.mark.parametrize(
    "clipboard",
    ["undefined", "{ writeText: () => Promise.reject(new DOMException('no', 'NotAllowedError')) }"],
    ids=["missing", "refused"],
)
def test_without_a_clipboard_the_text_is_selected_and_the_reader_told(bench: Bench, clipboard: str):
    page = open_panel(
        bench,
        RING,
        TITLE,
        script=f"Object.defineProperty(navigator, 'clipboard', {{ value: {clipboard} }})",
    )
    press(page, "复制链接")
    expect(panel(page).get_by_role("status")).to_contain_text("请按 Ctrl+C")
    selected = page.evaluate("""(() => {
        const { value, selectionStart, selectionEnd, readOnly } = document.activeElement;
        return [value.slice(selectionStart, selectionEnd), readOnly];
    })()""")
    assert selected == [text_of(page, "链接"), True]


def test_the_link_and_the_code_follow_the_reader(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    page.get_by_role("button", name="跳到结尾").click()
    page.get_by_role("button", name="矩阵", exact=True).click()
    for name in ("链接", "嵌入代码：iframe"):
        expect(panel(page).get_by_label(name, exact=True)).to_have_value(re.compile("round=6"))
        expect(panel(page).get_by_label(name, exact=True)).to_have_value(re.compile("view=matrix"))
    element = panel(page).get_by_label("嵌入代码：自定义元素", exact=True)
    expect(element).to_have_value(re.compile(r'round="6" view="matrix"'))


def test_the_code_of_the_frame_names_the_state_the_title_and_whom_it_listens_to(bench: Bench):
    page = open_panel(bench, RING, TITLE, hash="#op=broadcast&algo=flat&n=5&root=2&round=1")
    code = text_of(page, "嵌入代码：iframe")
    (frame, attributes), (script, _) = Tags(code).found
    assert (frame, script) == ("iframe", "script")
    assert attributes["src"] == f"{ADDRESS}embed/{page.evaluate('location.hash')}"
    assert attributes["title"]
    assert "Broadcast" in attributes["title"]
    assert int(attributes["height"] or 0) > 500
    assert f'origin === "{ADDRESS.rstrip("/")}"' in code
    assert 'data?.type === "collective-player:height"' in code


def test_the_code_of_the_element_says_the_schedule_and_the_step(bench: Bench):
    page = open_panel(bench, RING, TITLE, hash="#op=reduce&algo=flat&n=5&root=2&round=1")
    tags = Tags(text_of(page, "嵌入代码：自定义元素")).found
    assert [name for name, _ in tags] == ["link", "script", "collective-player"]
    attributes = tags[2][1]
    assert attributes["src"] == f"{ADDRESS}schedules/reduce/flat/n5.json"
    assert (attributes["round"], attributes["root"]) == ("1", "2")
    assert attributes["controls"] == ask(page, "p.getAttribute('controls')")
    assert tags[1][1]["type"] == "module"


def test_what_an_element_cannot_say_is_said_beside_it(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    hint = panel(page).get_by_text("元素打开时是求和")
    expect(hint).to_be_hidden()
    page.get_by_role("combobox", name="归约", exact=True).select_option("max")
    expect(hint).to_be_visible()


# --------------------------------------------------------------------------------------- the files


@pytest.mark.parametrize("view", ["拓扑", "矩阵", "时空"])
def test_a_picture_holds_all_that_is_on_the_stage_in_every_view(bench: Bench, view: str):
    page = open_panel(bench, RING, TITLE)
    page.get_by_role("button", name=view, exact=True).click()
    page.get_by_role("button", name=view, exact=True, pressed=True).wait_for()
    hold_in_flight(page)
    on_stage = page.locator(".cp-stage svg text").all_text_contents()
    root = drawing(page)
    assert words(root)[: len(on_stage)] == on_stage
    moving = page.locator(".cp-token text").all_text_contents()
    assert moving == [word for word in words(root) if word in moving][-len(moving) :]
    caption = words(root)[len(on_stage) :]
    assert "AllReduce" in caption[0]
    assert "4 个 rank" in caption[0]
    assert "第 1 / 6 轮" in caption[0] or "起始状态" in caption[0]
    assert "".join(caption[1:]).endswith(text_of(page, "链接"))


@pytest.mark.parametrize("path", [RING, "scatter/binomial/n8.json", "allgather/ring/n16.json"])
def test_a_picture_needs_nothing_from_outside_of_its_file(bench: Bench, path: str):
    page = open_panel(bench, path, TITLE)
    page.get_by_role("button", name="前进一轮").click()
    root = drawing(page)
    assert {node.tag for node in root.iter()} >= {f"{SVG}title", f"{SVG}desc", f"{SVG}path"}
    for node in root.iter():
        for name, value in node.attrib.items():
            assert name not in ("class", "style", "href"), (node.tag, name)
            assert "var(" not in value, (name, value)
            assert "light-dark" not in value, (name, value)
            assert "url(" not in value or re.fullmatch(r"url\(#[\w-]+\)", value), value
    ids = {node.get("id") for node in root.iter()}
    referred = re.findall(r"url\(#([\w-]+)\)", ElementTree.tostring(root, "unicode"))
    assert set(referred) <= ids
    assert "system-ui" in (root.get("font-family") or "")


def test_a_picture_has_a_title_and_a_description_in_chinese(bench: Bench):
    page = open_panel(bench, RING, TITLE, hash="#op=allreduce&algo=ring&n=4&round=6")
    root = drawing(page)
    title, description = (root.findtext(f"{SVG}{name}") for name in ("title", "desc"))
    assert title
    assert "全归约" in title
    assert description == page.locator(".cp-svg").get_attribute("aria-label")
    assert root.get("aria-labelledby") == "title desc"


def test_the_same_picture_is_drawn_from_the_file_as_on_the_stage(bench: Bench):
    """Rectangles and texts of the file stand where those of the stage stand."""
    page = open_panel(bench, RING, TITLE)
    hold_in_flight(page)
    centres = """(nodes) => nodes.map((node) => {
        const { x, y, width, height } = node.getBoundingClientRect();
        return [x + width / 2, y + height / 2];
    })"""
    stage = page.locator(".cp-svg").bounding_box()
    assert stage
    shown = page.locator(".cp-stage svg text").evaluate_all(centres)
    file = saved(page, "下载 SVG")[1].decode()
    page.evaluate(
        "(text) => { document.body.innerHTML = text.slice(text.indexOf('<svg')); "
        "document.body.style.margin = 0; }",
        file,
    )
    drawn = page.locator("svg text").evaluate_all(centres)
    for (x, y), (left, top) in zip(shown, drawn, strict=False):
        assert abs(x - stage["x"] - left) < 1.5
        assert abs(y - stage["y"] - top) < 3


def test_the_colours_of_a_picture_can_be_chosen(bench: Bench):
    page = open_panel(bench, RING, TITLE, scheme="dark")
    grounds = {}
    for choice in ("和画面一样", "浅色", "深色"):
        press(page, choice)
        ground = drawing(page).find(f"{SVG}rect")
        assert ground is not None
        grounds[choice] = ground.get("fill")
    assert grounds["和画面一样"] == grounds["深色"] != grounds["浅色"] == "#ffffff"
    assert ask(page, "p.querySelector('.cp').style.colorScheme") == ""


def test_a_png_has_twice_the_pixels_and_more_than_one_colour(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    root = drawing(page)
    name, content = saved(page, "下载 PNG")
    assert name == "allreduce-ring-n4-step0.png"
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert (width, height) == (2 * int(root.get("width") or 0), 2 * int(root.get("height") or 0))
    assert len(content) > 20_000


def test_the_schedule_is_saved_as_it_is_published(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    name, content = saved(page, "下载日程 JSON")
    assert (name, content.decode()) == ("allreduce-ring-n4.json", bench.text(RING))
    expect(panel(page).get_by_role("status")).to_contain_text("已下载：allreduce-ring-n4.json")


def test_the_schedule_of_another_root_is_saved_as_it_is_shown_and_proved(bench: Bench):
    page = open_panel(bench, RING, TITLE, hash="#op=scatter&algo=binomial&n=6&root=4")
    name, content = saved(page, "下载日程 JSON")
    assert name == "scatter-binomial-n6-root4.json"
    schedule = schedule_from_json(content.decode())
    assert schedule.root == 4
    prove(schedule)


def test_a_file_says_which_parameters_it_was_made_with(bench: Bench):
    page = open_panel(bench, RING, TITLE, hash="#op=broadcast&algo=chain&n=4&chunks=8&round=3")
    assert download(page, "下载 SVG").suggested_filename == "broadcast-chain-n4-chunks8-step3.svg"


def test_without_the_published_file_the_schedule_is_written(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    page.route("**/schedules/**", lambda route: route.abort())
    content = saved(page, "下载日程 JSON")[1].decode()
    written, published = json.loads(content), bench.data(RING)
    assert written["rounds"] == published["rounds"]
    prove(schedule_from_json(content))


def test_a_schedule_of_ones_own_has_files_but_no_link(bench: Bench):
    """Its names may hold what XML cannot: the picture is a picture all the same."""
    page = open_panel(bench, RING, TITLE)
    own = bench.data(RING)
    own["algorithm"] = "<script>&\u0000\u000b\ud800 ring"
    page.evaluate(
        "(text) => document.querySelector('collective-player').load(text)", json.dumps(own)
    )
    page.get_by_role("button", name="更多", exact=True).click()
    page.locator(".cp-menu").get_by_role("button", name=TITLE, exact=True).click()
    expect(panel(page).get_by_text("不在本站的目录里")).to_be_visible()
    assert panel(page).get_by_role("textbox").count() == 0
    file = download(page, "下载 SVG")
    assert re.fullmatch(r"allreduce-[\w-]+-n4-step0\.svg", file.suggested_filename)
    root = ElementTree.fromstring(file.path().read_bytes())
    assert "<script>&" in (root.findtext(f"{SVG}title") or "")
    assert not list(root.iter(f"{SVG}script"))
    assert json.loads(saved(page, "下载日程 JSON")[1])["algorithm"] == own["algorithm"]


# ------------------------------------------------------------------------------------ for everyone


def test_the_keys_move_the_cursor_in_a_text_and_escape_closes(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    assert focus_is_inside(page)
    panel(page).get_by_label("链接", exact=True).focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert ask(page, "p.round") == 0
    page.keyboard.press("Escape")
    expect(panel(page)).to_have_count(0)
    expect(page.get_by_role("button", name="更多", exact=True)).to_be_focused()


def test_files_that_were_handed_over_are_let_go_when_the_panel_closes(bench: Bench):
    script = """
    window.kept = new Set();
    const [make, drop] = [URL.createObjectURL, URL.revokeObjectURL];
    URL.createObjectURL = (blob) => { const url = make(blob); window.kept.add(url); return url; };
    URL.revokeObjectURL = (url) => { window.kept.delete(url); drop(url); };
    """
    page = open_panel(bench, RING, TITLE, script=script)
    for name in ("下载 SVG", "下载 PNG", "下载日程 JSON"):
        download(page, name)
    assert page.evaluate("window.kept.size") == 3
    press(page, f"关闭：{TITLE}")
    assert page.evaluate("window.kept.size") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_the_panel_fits_and_violates_no_wcag(bench: Bench, scheme: str, width: int):
    page = open_panel(bench, RING, TITLE, scheme=scheme, width=width)
    assert axe_faults(page) == []
    assert too_small(page) == []
    assert not scrolls_sideways(page)


# ---------------------------------------------------------------------------- in every engine

KEEP_FILES = """(() => {
    window.files = [];
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => { window.files.push(blob); return make(blob); };
    HTMLAnchorElement.prototype.click = () => {};
})()"""
"""Files stay in the page; a browser without a reader has nowhere to save them."""


@pytest.mark.parametrize("view", ["拓扑", "矩阵", "时空"])
def test_every_engine_makes_a_picture_of_every_view(engine: Engine, view: str):
    engine.open(tag(RING, "view more"))
    engine.evaluate(KEEP_FILES)
    engine.click(css=".cp-more")
    engine.click(css=".cp-item:last-child")
    engine.wait_for("find('下载 SVG')")
    engine.click(view)
    engine.wait_for(f"find('{view}').getAttribute('aria-pressed') === 'true'")
    # Until the picture is there the buttons below it may still move.
    drawn = {"拓扑": ".cp-card", "矩阵": ".cp-matrix", "时空": ".cp-playhead"}[view]
    engine.wait_for(f"p.querySelector('{drawn}')")
    engine.click("前进一轮")
    engine.wait_for("p.round === 1")
    engine.click("下载 SVG")
    engine.wait_for("window.files.length === 1")
    file = engine.evaluate("window.files[0].text()")
    root = ElementTree.fromstring(file.encode())
    shown = engine.evaluate(
        "[...p.querySelectorAll('.cp-stage svg text')].map((text) => text.textContent)"
    )
    assert words(root)[: len(shown)] == shown
    paints = {node.get(name) for node in root.iter() for name in ("fill", "stroke")} - {None}
    assert all(re.match(r"none$|#[0-9a-f]{6}$|url\(#", paint or "") for paint in paints), paints
    assert len(paints) > 5
    engine.click("下载 PNG")
    # The second file is the picture that the image is made from.
    engine.wait_for("window.files.some(({ type }) => type === 'image/png')")
    size = engine.evaluate("window.files.find(({ type }) => type === 'image/png').size")
    assert size > 10_000


def test_every_engine_copies_or_selects_the_link(engine: Engine):
    engine.open(tag(RING, "view more"))
    engine.click(css=".cp-more")
    engine.click(css=".cp-item:last-child")
    engine.wait_for("find('复制链接')")
    engine.click("复制链接")
    engine.wait_for("/已复制|请按 Ctrl/.test(p.querySelector('.cp-share-said').textContent)")
