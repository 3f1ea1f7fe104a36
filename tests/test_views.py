"""The views of a schedule, and what a reader learns of a single block."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from collectives.algorithms import REGISTRY
from collectives.prove import prove, replay
from panel_page import ask, axe_faults, open_panel, panel, press, scrolls_sideways, too_small
from player_bench import Bench, tag

RING = "allreduce/ring/n4.json"
CONTROLS = "primitive algorithm ranks parameters root op view more"
VIEWS = {"topology": "拓扑", "matrix": "矩阵", "spacetime": "时空"}


def opened(bench: Bench, hash: str = "", **options: Any) -> Page:
    return bench.ready(tag(RING, CONTROLS), hash=hash, **options)


def view_button(page: Page, view: str) -> Any:
    views = page.get_by_role("group", name="视图")
    return views.get_by_role("button").filter(has_text=re.compile(f"^{VIEWS[view]}$"))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", [320, 1280])
def test_every_view_plays_to_the_same_end_and_says_so_in_the_address(
    view: str, width: int, bench: Bench
):
    page = opened(bench, width=width, clock=True)
    view_button(page, view).click()
    expect(view_button(page, view)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press(" ")
    page.get_by_role("button", name="播放", exact=True).click()
    page.clock.run_for(1_000)
    page.wait_for_function("document.querySelector('.cp-token') !== null")
    page.clock.run_for(30_000)
    assert ask(page, "[p.round, p.playing]") == [6, False]
    expected = "" if view == "topology" else f"view={view}"
    page.wait_for_function(
        "(view) => location.hash.includes(`round=6${view && '&'}${view}`)", arg=expected
    )
    assert not scrolls_sideways(page)


def test_a_link_opens_the_view_the_values_and_the_speed(bench: Bench):
    page = opened(bench, "#op=allreduce&algo=ring&n=8&round=3&view=matrix&values=symbols&speed=0.5")
    expect(view_button(page, "matrix")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("combobox", name="速度")).to_have_value("0.5")
    page.get_by_role("button", name="更多").click()
    expect(page.get_by_role("button", name="符号")).to_have_attribute("aria-pressed", "true")
    assert "a₀" in page.locator(".cp-card .cp-value").all_text_contents()[0]


def test_past_sixteen_ranks_only_the_matrix_is_left_and_the_others_say_why(bench: Bench):
    page = opened(bench, "#op=allreduce&algo=ring&n=64&view=topology&round=2")
    expect(page.locator(".cp-svg.cp-matrix .cp-card")).to_have_count(64)
    for view in ("topology", "spacetime"):
        button = view_button(page, view)
        expect(button).to_have_attribute("aria-disabled", "true")
        assert "16" in (button.get_attribute("title") or "")
        button.click(force=True)
    assert ask(page, "p.ranks") == 64
    expect(view_button(page, "matrix")).to_have_attribute("aria-pressed", "true")


def test_the_nodes_of_a_cluster_are_drawn_and_named(bench: Bench):
    page = opened(bench, "#op=allreduce&algo=hierarchical&n=8&node=4&round=1")
    assert page.locator(".cp-frame").all_text_contents() == ["节点 0", "节点 1"]
    expect(page.locator(".cp-edges .cp-outer")).not_to_have_count(0)
    between = next(
        i
        for i, r in enumerate(REGISTRY["allreduce/hierarchical"].schedule(8, node=4).rounds)
        if r.phase == "between"
    )
    ask(page, f"p.round = {between + 1}")
    expect(page.locator(".cp-arrows .cp-outer")).to_have_count(8)


def test_the_window_of_the_space_time_view_follows_the_clock(bench: Bench):
    page = opened(bench, "#op=allreduce&algo=ring&n=16&view=spacetime&round=0", width=390)
    inside = """() => {
        const stage = document.querySelector('.cp-stage').getBoundingClientRect();
        const { left } = document.querySelector('.cp-playhead').getBoundingClientRect();
        return left >= stage.left && left <= stage.right;
    }"""
    for step in (0, 7, 15, 30):
        ask(page, f"p.round = {step}")
        assert page.evaluate(inside), step
    assert page.locator(".cp-moment.cp-now, .cp-moment:not(.cp-future)").count() == 30


@pytest.mark.parametrize("view", VIEWS)
def test_a_picture_depends_on_the_moment_only(view: str, bench: Bench):
    page = opened(bench, f"#op=allreduce&algo=ring&n=4&view={view}&round=3")
    picture = "document.querySelector('.cp-svg').innerHTML"
    before = page.evaluate(picture)
    for step in (6, 0, 5, 3):
        ask(page, f"p.round = {step}")
    assert page.evaluate(picture) == before


def swipe(page: Page, start: int, end: int) -> None:
    """Move one finger across the stage."""
    box = page.locator(".cp-stage").bounding_box()
    assert box
    y = box["y"] + 20
    session = page.context.new_cdp_session(page)
    for kind, x in (("touchStart", start), ("touchMove", end), ("touchEnd", None)):
        points = [] if x is None else [{"x": box["x"] + x, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_a_finger_that_swipes_steps_and_one_that_scrolls_does_not(bench: Bench):
    page = opened(bench, width=390, motion="reduce")
    swipe(page, 250, 100)
    page.wait_for_function("document.querySelector('collective-player').round === 1")
    swipe(page, 250, 100)
    page.wait_for_function("document.querySelector('collective-player').round === 2")
    swipe(page, 100, 250)
    page.wait_for_function("document.querySelector('collective-player').round === 1")


# ------------------------------------------------------------------------------------ one block


def test_a_pressed_block_tells_what_is_in_it(bench: Bench):
    page = opened(bench, "#op=allreduce&algo=ring&n=4&round=2")
    page.locator('.cp-card[data-rank="1"] [data-block="2"]').click(force=True)
    facts = panel(page).locator("dl")
    # Ring: after two rounds rank 1 holds what ranks 3, 0 and itself put into block 2.
    expect(facts).to_contain_text("1 + 2 + 4 = 7")
    expect(facts).to_contain_text("rank 0、1、3，还差 1 个")
    expect(facts).to_contain_text(
        "第 2 / 6 轮 · ReduceScatter 阶段从 rank 0 收到块 2，并入原有的值"
    )
    expect(page.locator(".cp-outline-picked")).to_have_attribute("d", re.compile("M"))


def test_the_numbers_of_every_block_are_those_of_the_replay(bench: Bench):
    page = open_panel(bench, RING, "看一块")
    states = list(replay(prove(REGISTRY["allreduce/ring"].schedule(4)).schedule))
    for step in (0, 1, 4):
        ask(page, f"p.round = {step}")
        for rank in range(4):
            panel(page).get_by_role("combobox", name="rank").select_option(str(rank))
            for block in range(4):
                panel(page).get_by_role("combobox", name="块", exact=True).select_option(str(block))
                cell = states[step][rank]["tensor"][block]
                assert cell is not None
                terms = [str(r + 1) for r in cell.ranks()]
                total = sum(map(int, terms))
                expected = f"{' + '.join(terms)} = {total}" if len(terms) > 1 else terms[0]
                value = panel(page).locator("dt:text-is('值') + dd")
                assert value.text_content() == expected, (step, rank, block)


def test_blocks_are_reached_by_the_keyboard_alone(bench: Bench):
    page = opened(bench)
    page.locator(".cp-stage").focus()
    page.keyboard.press("Enter")
    expect(panel(page)).to_be_visible()
    expect(page.locator(".cp-stage")).to_be_focused()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowDown"):
        page.keyboard.press(key)
    expect(panel(page).locator("dd").first).to_contain_text("rank 2 的 tensor，块 1")
    assert ask(page, "p.round") == 0
    page.get_by_role("button", name="前进一轮").focus()
    page.keyboard.press("End")
    assert ask(page, "p.round") == 6
    expect(panel(page).locator("dl")).to_contain_text("已是要求的最终结果")
    panel(page).get_by_role("button", name="关闭：看一块").focus()
    page.keyboard.press("Escape")
    expect(panel(page)).to_have_count(0)


def test_a_block_is_followed_through_all_rounds(bench: Bench):
    page = open_panel(bench, RING, "看一块")
    press(page, "跟踪这一块走过的路")
    moves = panel(page).locator("ol li")
    expect(moves).to_have_count(6)
    moves.nth(4).get_by_role("button").click()
    assert ask(page, "p.round") == 5
    expect(panel(page).locator("[aria-current=step]")).to_contain_text("第 5 / 6 轮")
    expect(page.locator(".cp-outline-followed")).not_to_have_attribute("d", "")
    press(page, "不再跟踪")
    expect(page.locator(".cp-outline-followed")).to_have_attribute("d", "")


def test_the_table_of_the_state_follows_the_clock(bench: Bench):
    page = open_panel(bench, RING, "状态表")
    row = panel(page).locator("tbody tr").nth(2)
    expect(row).to_contain_text("3，3，3，3")
    ask(page, "p.round = 6")
    expect(row).to_contain_text("10（完成），10（完成），10（完成），10（完成）")


@pytest.mark.parametrize("title", ["看一块", "状态表"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_panels_are_for_everyone(title: str, scheme: str, bench: Bench):
    page = open_panel(bench, RING, title, scheme=scheme, width=320)
    if title == "看一块":
        press(page, "跟踪这一块走过的路")
    assert axe_faults(page) == []
    assert too_small(page) == []
    assert not scrolls_sideways(page)


# ---------------------------------------------------------------------------------- menu, focus


def test_escape_closes_what_is_open_and_the_focus_goes_back(bench: Bench):
    page = opened(bench)
    more = page.get_by_role("button", name="更多")
    more.focus()
    page.keyboard.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(more).to_have_attribute("aria-expanded", "false")
    expect(more).to_be_focused()
    more.click()
    page.mouse.click(5, 5)
    expect(page.locator(".cp-menu")).to_be_hidden()
    more.click()
    page.locator(".cp-menu").get_by_role("button", name="状态表").click()
    expect(panel(page)).to_be_focused()
    page.keyboard.press("Escape")
    expect(panel(page)).to_have_count(0)
    expect(more).to_be_focused()


def test_a_panel_whose_module_does_not_arrive_says_so_and_the_player_plays_on(bench: Bench):
    page = opened(bench)
    page.route("**/panels/table.js", lambda route: route.abort())
    page.get_by_role("button", name="更多").click()
    page.locator(".cp-menu").get_by_role("button", name="状态表").click()
    expect(panel(page).get_by_role("alert")).to_contain_text("没有加载成功")
    page.keyboard.press("Escape")
    ask(page, "p.round = 2")
    assert ask(page, "p.round") == 2


def test_late_writes_never_reach_the_address_of_the_next_page(bench: Bench):
    """Instant navigation changes the address first and the page a moment later."""
    page = opened(bench, clock=True)
    ask(page, "p.round = 1")
    ask(page, "p.round = 2")
    page.evaluate("history.pushState(null, '', '/next/')")
    page.clock.run_for(2_000)
    ask(page, "p.round = 3")
    page.clock.run_for(2_000)
    assert page.evaluate("[location.pathname, location.hash]") == ["/next/", ""]
