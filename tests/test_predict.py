"""猜一猜 in a browser: before a round the reader says what will move, and is told what does."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engines import Engine
from panel_page import (
    CONTROLS,
    ask,
    axe_faults,
    focus_is_inside,
    open_panel,
    panel,
    press,
    scrolls_sideways,
    too_small,
)
from player_bench import Bench, tag

TITLE = "猜一猜"
RING = "allreduce/ring/n4.json"


def question(page: Page) -> str:
    return panel(page).locator(".cp-predict-question").inner_text()


def truth(bench: Bench, page: Page, path: str = RING) -> dict[str, Any]:
    """The transfer that the question is about, as the file has it."""
    found = re.match(r"第 (\d+) 轮：rank (\d+) ", question(page))
    assert found, question(page)
    number, rank = map(int, found.groups())
    rounds = [
        round_["transfers"]
        for round_ in bench.data(path)["rounds"]
        if any(t["src"] != t["dst"] for t in round_["transfers"])
    ]
    (transfer,) = (t for t in rounds[number - 1] if t["src"] == rank and t["src"] != t["dst"])
    return dict(transfer)


def answer(page: Page, block: int) -> None:
    press(page, f"块 {block}")


def expect_score(page: Page, text: str) -> None:
    expect(panel(page).locator(".cp-predict-score")).to_have_text(text)


def expect_asked(page: Page, number: int) -> None:
    expect(panel(page).locator(".cp-predict-question")).to_contain_text(f"第 {number} 轮：rank ")


def test_nothing_is_asked_before_the_panel_is_opened(bench: Bench):
    page = bench.ready(tag(RING, CONTROLS), clock=True)
    page.get_by_role("button", name="播放", exact=True).click()
    page.clock.run_for(20_000)
    assert ask(page, "p.round") == 6


@pytest.mark.parametrize("way", ["播放", "前进一轮", "ArrowRight"])
def test_however_one_goes_on_the_round_waits_for_an_answer(way: str, bench: Bench):
    page = open_panel(bench, RING, TITLE, clock=True)
    expect_asked(page, 1)
    if way == "ArrowRight":
        page.keyboard.press(way)
    else:
        page.get_by_role("button", name=way, exact=True).click()
    page.clock.run_for(10_000)
    assert ask(page, "[p.round, p.playing]") == [0, False]
    expect(page.locator(".cp-token")).to_have_count(0)
    expect(page.get_by_role("button", name="播放", exact=True)).to_be_visible()


def test_with_reduced_motion_the_round_waits_as_well(bench: Bench):
    page = open_panel(bench, RING, TITLE, clock=True, motion="reduce")
    page.get_by_role("button", name="前进一轮", exact=True).click()
    page.clock.run_for(5_000)
    assert ask(page, "p.round") == 0
    answer(page, truth(bench, page)["from"][1])
    press(page, "看这一轮")
    page.clock.run_for(5_000)
    assert ask(page, "p.round") == 1
    expect_asked(page, 2)


def test_a_right_answer_is_called_right_with_the_numbers_and_the_reason(bench: Bench):
    page = open_panel(bench, RING, TITLE, clock=True)
    transfer = truth(bench, page)
    answer(page, transfer["from"][1])
    verdict = panel(page).locator(".cp-verdict")
    expect(verdict).to_have_attribute("data-kind", "right")
    expect(verdict).to_contain_text(
        f"对。rank {transfer['src']} → rank {transfer['dst']}：块 {transfer['from'][1]}，"
    )
    expect(verdict).to_contain_text(bench.data(RING)["rounds"][0]["caption"])
    expect_score(page, "答对 1 / 1")
    chosen = panel(page).get_by_role("button", name=re.compile("你选的，正确"))
    expect(chosen).to_have_attribute("aria-disabled", "true")


def test_a_wrong_answer_is_called_wrong_and_the_right_block_is_outlined(bench: Bench):
    page = open_panel(bench, RING, TITLE, clock=True)
    right = truth(bench, page)["from"][1]
    wrong = next(block for block in range(4) if block != right)
    answer(page, wrong)
    verdict = panel(page).locator(".cp-verdict")
    expect(verdict).to_have_attribute("data-kind", "wrong")
    expect(verdict).to_contain_text(re.compile(rf"^不对：rank \d 这一轮不发块 {wrong}。"))
    for kind in ("right", "wrong"):
        assert page.locator(f".cp-outline-{kind}[d^=M]").count() == 1, kind
    expect(panel(page).get_by_role("button", name=f"块 {right}（正确）")).to_be_visible()
    expect(panel(page).get_by_role("button", name=f"块 {wrong}（你选的）")).to_be_visible()
    expect_score(page, "答对 0 / 1")


def test_one_answer_counts_and_a_second_one_does_not(bench: Bench):
    page = open_panel(bench, RING, TITLE, clock=True)
    right = truth(bench, page)["from"][1]
    wrong = next(block for block in range(4) if block != right)
    answer(page, wrong)
    other = panel(page).get_by_role("button", name=f"块 {right}（正确）")
    other.focus()
    page.keyboard.press("Enter")
    page.locator('.cp-card[data-rank="0"] .cp-value').first.click()
    expect_score(page, "答对 0 / 1")


def test_the_round_plays_after_the_answer_and_the_next_one_is_asked(bench: Bench):
    page = open_panel(bench, RING, TITLE, clock=True)
    answer(page, truth(bench, page)["from"][1])
    press(page, "看这一轮")
    page.clock.run_for(1_000)
    expect(page.locator(".cp-token")).to_have_count(4)
    assert page.locator(".cp-outline-right[d^=M]").count() == 0
    page.clock.run_for(9_000)
    assert ask(page, "[p.round, p.playing]") == [1, False]
    expect_asked(page, 2)


def test_the_whole_schedule_can_be_guessed_and_begun_again(bench: Bench):
    page = open_panel(bench, RING, TITLE, clock=True)
    for number in range(1, 7):
        expect_asked(page, number)
        answer(page, truth(bench, page)["from"][1])
        press(page, "看这一轮")
        page.clock.run_for(4_000)
    expect_score(page, "答对 6 / 6")
    assert ask(page, "p.round") == 6
    assert question(page) == "放完了。"
    press(page, "重来")
    expect_asked(page, 1)
    expect_score(page, "还没有回答")
    assert ask(page, "p.round") == 0


def test_a_question_that_is_skipped_does_not_count_and_the_round_plays(bench: Bench):
    page = open_panel(bench, RING, TITLE, clock=True)
    press(page, "跳过")
    page.clock.run_for(5_000)
    assert ask(page, "p.round") == 1
    expect_asked(page, 2)
    expect_score(page, "还没有回答")


def test_going_back_asks_nothing_and_no_step_is_asked_about_twice(bench: Bench):
    page = open_panel(bench, RING, TITLE, clock=True)
    answer(page, truth(bench, page)["from"][1])
    press(page, "看这一轮")
    page.clock.run_for(5_000)
    expect_asked(page, 2)
    page.get_by_role("button", name="后退一轮", exact=True).click()
    assert ask(page, "p.round") == 0
    expect(panel(page).get_by_role("button", name=re.compile("^块"))).to_have_count(0)
    page.get_by_role("button", name="前进一轮", exact=True).click()
    page.clock.run_for(5_000)
    assert ask(page, "p.round") == 1
    page.get_by_role("button", name="前进一轮", exact=True).click()
    page.clock.run_for(5_000)
    assert ask(page, "p.round") == 1
    expect_asked(page, 2)


def test_a_block_on_the_stage_answers(bench: Bench):
    page = open_panel(bench, RING, TITLE, clock=True)
    transfer = truth(bench, page)
    rank, block = transfer["src"], transfer["from"][1]
    page.locator(f'.cp-card[data-rank="{(rank + 1) % 4}"] .cp-value').first.click()
    expect(panel(page).locator(".cp-hint")).to_have_text(f"问的是 rank {rank}：请点它的块。")
    page.locator(f'.cp-card[data-rank="{rank}"] .cp-value').nth(block).click()
    expect_score(page, "答对 1 / 1")


def test_where_a_rank_sends_all_it_has_the_question_is_to_whom(bench: Bench):
    path = "broadcast/binomial/n4.json"
    page = open_panel(bench, path, TITLE, clock=True)
    assert question(page) == "第 1 轮：rank 0 会把全部 3 块发给谁？"
    press(page, f"rank {truth(bench, page, path)['dst']}")
    expect_score(page, "答对 1 / 1")
    press(page, "看这一轮")
    page.clock.run_for(5_000)
    expect_asked(page, 2)
    target = truth(bench, page, path)["dst"]
    wrong = next(
        rank for rank in (0, 1, 2, 3) if rank not in (target, truth(bench, page, path)["src"])
    )
    page.locator(f'.cp-card[data-rank="{wrong}"]').click()
    expect(panel(page).locator(".cp-verdict")).to_contain_text(f"这一轮不发给 rank {wrong}。")


def test_steps_without_communication_play_without_a_question(bench: Bench):
    page = open_panel(bench, "reducescatter/ring/n4.json", TITLE, clock=True)
    assert question(page) == "接着放，下一轮开始之前先猜一猜。"
    press(page, "开始")
    page.clock.run_for(500)
    assert question(page) == "正在放：本地操作"
    page.clock.run_for(5_000)
    assert ask(page, "p.round") == 1
    expect_asked(page, 1)


def test_a_round_without_a_choice_plays_without_a_question(bench: Bench):
    page = open_panel(bench, "allreduce/reduce_broadcast/n2.json", TITLE, clock=True)
    press(page, "开始")
    page.clock.run_for(10_000)
    assert ask(page, "p.round") == 2
    assert question(page) == "已经到结尾了，从头再来就有题。"


def test_closing_the_panel_lets_the_clock_run(bench: Bench):
    page = open_panel(bench, RING, TITLE, clock=True)
    page.keyboard.press("Escape")
    expect(panel(page)).to_have_count(0)
    assert page.locator(".cp-outline[d^=M]").count() == 0
    page.get_by_role("button", name="播放", exact=True).click()
    page.clock.run_for(20_000)
    assert ask(page, "p.round") == 6


def test_another_schedule_begins_with_its_own_questions(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    answer(page, truth(bench, page)["from"][1])
    page.get_by_role("combobox", name="GPU 数", exact=True).select_option("8")
    expect(panel(page).get_by_role("button", name=re.compile(r"^块 \d$"))).to_have_count(5)
    expect_score(page, "还没有回答")
    expect_asked(page, 1)


def test_another_operation_or_view_keeps_question_and_score(bench: Bench):
    page = open_panel(bench, RING, TITLE, clock=True)
    answer(page, truth(bench, page)["from"][1])
    press(page, "看这一轮")
    page.clock.run_for(5_000)
    asked = question(page)
    page.get_by_role("combobox", name="归约", exact=True).select_option("max")
    page.get_by_role("button", name="矩阵", exact=True).click()
    expect(page.locator(".cp-matrix")).to_be_visible()
    assert question(page) == asked
    expect_score(page, "答对 1 / 1")
    answer(page, truth(bench, page)["from"][1])
    expect(panel(page).locator(".cp-verdict")).to_contain_text("max(")
    assert page.locator(".cp-outline-right[d^=M]").count() == 1


def test_it_can_all_be_done_with_the_keyboard_and_the_focus_goes_along(bench: Bench):
    page = open_panel(bench, RING, TITLE, clock=True)
    right = truth(bench, page)["from"][1]
    for _ in range(2 + right):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == f"块 {right}"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "看这一轮"
    page.keyboard.press("Enter")
    page.clock.run_for(500)
    assert focus_is_inside(page)
    page.clock.run_for(5_000)
    expect_asked(page, 2)
    assert page.evaluate("document.activeElement.className") == "cp-predict-question"


def test_the_focus_stays_where_the_reader_has_it_and_the_question_is_said_once(bench: Bench):
    page = open_panel(bench, RING, TITLE, clock=True)
    press(page, "跳过")
    page.get_by_role("button", name="暂停", exact=True).click()
    page.evaluate("""() => {
        window.said = [];
        const node = document.querySelector('.cp-predict-spoken');
        new MutationObserver(() => {
            if (node.textContent) window.said.push(node.textContent);
        }).observe(node, { childList: true });
    }""")
    play = page.get_by_role("button", name="播放", exact=True)
    play.click()
    page.clock.run_for(5_000)
    expect_asked(page, 2)
    expect(play).to_be_focused()
    play.click()
    page.clock.run_for(5_000)
    assert page.evaluate("window.said") == [question(page)]
    for region in panel(page).locator("[aria-live]").all():
        assert region.get_attribute("aria-live") == "polite"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_the_panel_is_fit_for_everyone(width: int, scheme: str, bench: Bench):
    page = open_panel(bench, RING, TITLE, scheme, width=width)
    faults = axe_faults(page)
    right = truth(bench, page)["from"][1]
    answer(page, next(block for block in range(4) if block != right))
    assert faults + axe_faults(page) == []
    assert too_small(page) == []
    assert not scrolls_sideways(page)


# ------------------------------------------------------------------------------- in every engine


RIGHT = "块 2"
"""What rank 3 sends in the first round of the ring, and the first question is about."""


def test_every_engine_holds_the_round_until_the_mouse_has_answered(engine: Engine):
    engine.open(tag(RING, CONTROLS))
    engine.choose("速度", "4")
    engine.click("更多")
    engine.click(TITLE)
    asked = "p.querySelector('.cp-predict-question')?.textContent"
    engine.wait_for(f"{asked} === '第 1 轮：rank 3 会把哪一块发给右邻居？'")
    engine.click("播放")
    engine.wait_for("!p.playing")
    assert engine.evaluate("p.round") == 0
    engine.click(RIGHT)
    engine.wait_for("p.querySelector('.cp-verdict').dataset.kind === 'right'")
    engine.click("看这一轮")
    engine.wait_for(f"p.round === 1 && !p.playing && {asked}.startsWith('第 2 轮：')")
    assert engine.evaluate("p.querySelector('.cp-predict-score').textContent") == "答对 1 / 1"


def test_every_engine_takes_an_answer_from_the_keyboard(engine: Engine):
    engine.open(tag(RING, CONTROLS))
    engine.choose("速度", "4")
    engine.focus("更多")
    engine.press("Enter")
    engine.focus(TITLE)
    engine.press("Enter")
    engine.wait_for("document.activeElement === p.querySelector('.cp-side')")
    engine.press("ArrowRight")
    engine.focus("块 0")
    engine.press("Enter")
    engine.wait_for("p.querySelector('.cp-verdict').dataset.kind === 'wrong'")
    engine.wait_for("document.activeElement === find('看这一轮')")
    engine.press("Enter")
    engine.wait_for("p.round === 1 && !p.playing")
    assert engine.evaluate("document.activeElement.className") == "cp-predict-question"


def test_every_engine_takes_an_answer_from_a_finger_on_the_stage(engine: Engine):
    engine.open(tag(RING, CONTROLS), width=390)
    engine.click("更多", touch=True)
    engine.click(TITLE, touch=True)
    engine.wait_for("p.querySelector('.cp-predict-question')")
    across, down = engine.evaluate("""(() => {
        const stage = p.querySelector('.cp-stage').getBoundingClientRect();
        const cell = p.querySelectorAll('.cp-card[data-rank="3"] .cp-value')[2]
            .getBoundingClientRect();
        return [(cell.x + cell.width / 2 - stage.x) / stage.width,
            (cell.y + cell.height / 2 - stage.y) / stage.height];
    })()""")
    engine.click(css=".cp-stage", at=(across, down), touch=True)
    engine.wait_for("p.querySelector('.cp-verdict').dataset.kind === 'right'")
