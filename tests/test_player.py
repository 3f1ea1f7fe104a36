"""The player in a real browser: what a reader can do with it, and what it never does."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from broken_schedules import CORPUS, as_json
from collectives.algorithms import algorithms_of
from collectives.primitives import PRIMITIVES
from colour import contrast
from conftest import Visitor
from generate_schedules import schedule_path
from player_bench import COUNT_FRAMES, ROOT, Bench, tag

RING = "allreduce/ring/n4.json"
OPENING = {slug: schedule_path(algorithms_of(slug)[0], 4, {}) for slug in PRIMITIVES}
"""The file that a primitive opens with."""


def player(page: Page) -> Locator:
    return page.locator("collective-player").first


def ask(page: Page, expression: str) -> Any:
    """Evaluate an expression in which `p` is the first player."""
    return page.evaluate(
        f"(() => {{ const p = document.querySelector('collective-player');"
        f" return {expression}; }})()"
    )


def wait_for(page: Page, condition: str) -> None:
    """Wait until a condition on the first player `p` holds."""
    page.wait_for_function(
        f"(() => {{ const p = document.querySelector('collective-player');"
        f" return {condition}; }})()"
    )


def press(page: Page, name: str) -> None:
    player(page).get_by_role("button", name=name, exact=True).click()


def choose(page: Page, name: str, value: str) -> None:
    player(page).get_by_role("combobox", name=name, exact=True).select_option(value)


def shown(page: Page, rank: int, buffer: str) -> list[str]:
    """The numbers that a buffer of a rank shows; empty strings where it shows none."""
    return page.locator(
        f'.cp-card[data-rank="{rank}"] [data-buffer="{buffer}"] .cp-value'
    ).all_text_contents()


def picture(page: Page) -> str:
    """The whole picture as text, without the ids that differ from player to player."""
    return re.sub(r"cp-\d+-", "", page.locator(".cp-svg").first.inner_html())


# ------------------------------------------------------------------------------- opening, playing


def test_a_player_opens_paused_at_its_start_and_asks_for_no_frame(bench: Bench):
    page = bench.ready(tag(RING), script=COUNT_FRAMES, clock=True)
    page.clock.run_for(10_000)
    assert ask(page, "[p.round, p.rounds, p.playing, window.frames]") == [0, 6, False, 0]
    expect(page.locator(".cp-title")).to_have_text("起始状态")


def test_playing_follows_time_and_stops_at_the_end(bench: Bench):
    page = bench.ready(tag(RING), clock=True)
    press(page, "播放")
    assert ask(page, "p.playing")
    page.clock.run_for(5_000)
    assert ask(page, "p.round") == 2
    page.clock.run_for(10_000)
    assert ask(page, "[p.round, p.playing]") == [6, False]
    press(page, "播放")
    page.clock.run_for(100)
    assert ask(page, "[p.round, p.playing]") == [0, True]


def test_the_speed_changes_how_much_of_the_schedule_passes(bench: Bench):
    page = bench.ready(tag(RING), clock=True)
    choose(page, "速度", "4")
    press(page, "播放")
    page.clock.run_for(2_600)
    assert ask(page, "p.round") == 5


def test_a_loop_begins_again(bench: Bench):
    page = bench.ready(tag("broadcast/binomial/n2.json"), clock=True)
    loop = player(page).get_by_role("button", name="循环播放")
    expect(loop).to_have_attribute("aria-pressed", "false")
    loop.click()
    expect(loop).to_have_attribute("aria-pressed", "true")
    press(page, "播放")
    page.clock.run_for(2_500)
    assert ask(page, "[p.round, p.playing]") == [1, True]
    page.clock.run_for(1_500)
    assert ask(page, "[p.round, p.playing]") == [0, True]


def test_forward_plays_one_round_and_rests(bench: Bench):
    page = bench.ready(tag(RING), clock=True)
    press(page, "前进一轮")
    page.clock.run_for(800)
    assert ask(page, "p.round") == 0
    expect(page.locator(".cp-token")).to_have_count(4)
    page.clock.run_for(10_000)
    assert ask(page, "[p.round, p.playing]") == [1, False]


def test_a_block_merges_when_it_lands_before_its_round_is_over(bench: Bench):
    page = bench.ready(tag(RING), clock=True)
    press(page, "播放")
    page.clock.run_for(1_400)
    assert shown(page, 1, "tensor")[3] == "2"
    expect(page.locator(".cp-leaving")).to_have_count(1)
    page.clock.run_for(400)
    assert shown(page, 1, "tensor")[3] == "3"
    expect(page.locator(".cp-changed")).to_have_count(1)
    assert ask(page, "p.round") == 0


def test_the_buttons_go_where_they_say(bench: Bench):
    page = bench.ready(tag(RING))
    press(page, "跳到结尾")
    assert ask(page, "p.round") == 6
    press(page, "后退一轮")
    assert ask(page, "p.round") == 5
    press(page, "回到开头")
    assert ask(page, "p.round") == 0


def test_a_button_that_has_nothing_to_do_keeps_the_focus(bench: Bench):
    page = bench.ready(tag(RING))
    press(page, "跳到结尾")
    last = player(page).get_by_role("button", name="跳到结尾")
    expect(last).to_be_focused()
    expect(last).to_have_attribute("aria-disabled", "true")
    last.press("Enter")
    assert ask(page, "p.round") == 6


def test_every_completed_round_is_told_once(bench: Bench):
    page = bench.ready(tag(RING), clock=True)
    page.evaluate("""() => {
        window.heard = [];
        document.addEventListener('roundchange', ({ detail }) => window.heard.push(detail));
    }""")
    press(page, "播放")
    page.clock.run_for(20_000)
    heard = page.evaluate("window.heard")
    assert [detail["round"] for detail in heard] == [1, 2, 3, 4, 5, 6]
    assert {detail["rounds"] for detail in heard} == {6}


# ------------------------------------------------------------------------------------ the picture


def test_the_picture_depends_on_the_time_alone(bench: Bench):
    page = bench.ready(tag("reducescatter/ring/n4.json"))
    before = []
    for step in range(5):
        page.evaluate("(r) => { document.querySelector('collective-player').round = r; }", step)
        before.append(picture(page))
    for step in reversed(range(5)):
        page.evaluate("(r) => { document.querySelector('collective-player').round = r; }", step)
        assert picture(page) == before[step], f"step {step}"


def test_at_rest_the_arrows_and_changed_blocks_of_the_round_are_shown(bench: Bench):
    page = bench.ready(tag(RING))
    expect(page.locator(".cp-arrows path")).to_have_count(0)
    ask(page, "p.round = 2")
    expect(page.locator(".cp-arrows path")).to_have_count(4)
    outlined = page.locator(".cp-changed").get_attribute("d") or ""
    assert outlined.count("M") == 4


def test_a_local_step_has_no_arrow_and_no_number(bench: Bench):
    page = bench.ready(tag("reducescatter/ring/n4.json"))
    ask(page, "p.round = 1")
    expect(page.locator(".cp-title")).to_have_text("本地操作")
    expect(page.locator(".cp-arrows path")).to_have_count(0)
    ask(page, "p.round = 2")
    expect(page.locator(".cp-title")).to_have_text("第 1 / 3 轮 · ReduceScatter 阶段")
    expect(page.locator(".cp-segment")).to_have_text(["本地", "1", "2", "3"])


def test_after_reduce_the_other_ranks_are_hatched_and_said_to_be_undefined(bench: Bench):
    page = bench.ready(tag("reduce/binomial/n4.json"))
    ask(page, "p.round = p.rounds")
    assert shown(page, 0, "tensor") == ["10"] * 4
    for rank in (1, 2, 3):
        assert shown(page, rank, "tensor") == [""] * 4
        hatched = page.locator(f'.cp-card[data-rank="{rank}"] .cp-undefined').get_attribute("d")
        assert (hatched or "").count("M") == 4
    expect(page.locator(".cp-example")).to_contain_text("未定义")
    assert ask(page, "p.stateAt(p.rounds)[1].tensor") == [None] * 4
    assert ask(page, "p.stateAt(1)[2].tensor[0]") == {"block": 0, "from": [2, 3]}


def test_a_state_that_was_handed_out_can_be_changed_without_harm(bench: Bench):
    page = bench.ready(tag(RING))
    ask(page, "(p.stateAt(0)[0].tensor[0].from.push(9), p.stateAt(0)[0].tensor.pop())")
    assert ask(page, "p.stateAt(0)[0].tensor[0].from") == [0]
    assert ask(page, "p.stateAt(0)[0].tensor.length") == 4


OUTPUT = {
    "broadcast": "tensor",
    "scatter": "output_tensor",
    "gather": "gather_list",
    "reduce": "tensor",
    "allgather": "gather_list",
    "reducescatter": "output",
    "allreduce": "tensor",
    "alltoall": "output_tensor",
}
"""The buffer that holds the result, as the demo names it."""


@pytest.mark.parametrize("primitive", PRIMITIVES)
def test_the_last_frame_shows_exactly_what_the_demo_prints(primitive: str, bench: Bench):
    text = (ROOT / f"docs/demos/expected/{primitive}_cpu_demo.txt").read_text(encoding="utf-8")
    printed: dict[int, list[str]] = {}
    for rank, line in re.findall(r"^\[rank (\d+)\] [^\[]*(\[.*\])", text, re.MULTILINE):
        printed[int(rank)] = [str(int(float(n))) for n in re.findall(r"-?\d+(?:\.\d+)?", line)]
    page = bench.ready(tag(OPENING[primitive]))
    press(page, "跳到结尾")
    for rank in range(4):
        numbers = shown(page, rank, OUTPUT[primitive])
        if primitive == "reduce" and rank:
            assert numbers == [""] * 4
        elif primitive == "gather" and rank:
            assert numbers == []
        else:
            assert numbers == printed[rank], f"rank {rank}"


def test_messages_of_many_blocks_are_bundled(bench: Bench):
    page = bench.ready(tag("reduce/flat/n16.json"), clock=True)
    press(page, "前进一轮")
    page.clock.run_for(700)
    expect(page.locator(".cp-token")).to_have_count(1)
    expect(page.locator(".cp-token .cp-value")).to_have_text("16 块")


# ------------------------------------------------------------------------------- timeline and keys


def segment(page: Page, number: int, part: float) -> tuple[float, float]:
    """A place inside a segment of the timeline; `part` goes from 0 to 1."""
    box = page.locator(".cp-segment").nth(number).bounding_box()
    assert box
    return box["x"] + box["width"] * part, box["y"] + box["height"] / 2


def test_a_click_on_a_segment_goes_to_the_end_of_its_round(bench: Bench):
    page = bench.ready(tag(RING))
    page.mouse.click(*segment(page, 3, 0.3))
    assert ask(page, "p.round") == 4
    page.mouse.click(*segment(page, 0, 0.7))
    assert ask(page, "p.round") == 1


def test_dragging_along_the_timeline_shows_blocks_in_flight(bench: Bench):
    page = bench.ready(tag(RING))
    page.mouse.move(*segment(page, 0, 0.1))
    page.mouse.down()
    page.mouse.move(*segment(page, 1, 0.4))
    page.mouse.up()
    assert ask(page, "p.round") == 1
    expect(page.locator(".cp-token")).to_have_count(4)
    expect(page.locator(".cp-title")).to_contain_text("第 2 / 6 轮")
    page.mouse.move(*segment(page, 1, 0.4))
    page.mouse.down()
    page.mouse.move(*segment(page, 5, 0.5))
    page.mouse.move(*segment(page, 0, 0.5))
    page.mouse.up()
    assert ask(page, "p.round") == 0


def test_the_timeline_is_one_slider_that_says_where_it_stands(bench: Bench):
    page = bench.ready(tag(RING))
    slider = player(page).get_by_role("slider")
    expect(slider).to_have_count(1)
    expect(slider).to_have_attribute("aria-valuemax", "6")
    slider.focus()
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuenow", "6")
    expect(slider).to_have_attribute("aria-valuetext", "第 6 / 6 轮 · AllGather 阶段")


def test_the_keys_play_step_jump_and_change_the_speed(bench: Bench):
    page = bench.ready(tag(RING), motion="reduce")
    page.locator(".cp-timeline").focus()
    for key, round_ in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 6)):
        page.keyboard.press(key)
        assert ask(page, "p.round") == round_, key
    page.keyboard.press("Home")
    assert ask(page, "p.round") == 0
    speed = player(page).get_by_role("combobox", name="速度")
    page.keyboard.press("+")
    expect(speed).to_have_value("1.5")
    for _ in range(9):
        page.keyboard.press("-")
    expect(speed).to_have_value("0.25")
    page.keyboard.press(" ")
    assert ask(page, "p.playing")
    page.keyboard.press(" ")
    assert not ask(page, "p.playing")


def test_space_on_a_button_presses_that_button_only(bench: Bench):
    page = bench.ready(tag(RING))
    player(page).get_by_role("button", name="跳到结尾").focus()
    page.keyboard.press(" ")
    assert ask(page, "[p.round, p.playing]") == [6, False]


def test_a_select_keeps_its_own_keys(bench: Bench):
    page = bench.ready(tag(RING))
    player(page).get_by_role("combobox", name="归约").focus()
    page.keyboard.press("End")
    assert ask(page, "p.round") == 0


def test_keys_outside_of_the_player_do_nothing(bench: Bench):
    page = bench.ready(tag(RING) + "<button>别处</button>")
    page.get_by_role("button", name="别处").focus()
    for key in ("ArrowRight", "End", "?"):
        page.keyboard.press(key)
    assert ask(page, "p.round") == 0
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_help_opens_with_a_key_closes_with_escape_and_gives_the_focus_back(bench: Bench):
    page = bench.ready(tag(RING))
    page.locator(".cp-timeline").focus()
    page.keyboard.press("?")
    help_ = page.get_by_role("dialog", name="快捷键")
    expect(help_).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    expect(help_).to_be_hidden()
    expect(page.locator(".cp-timeline")).to_be_focused()
    assert ask(page, "p.round") == 0


# ------------------------------------------------------------------------------------- the choices


def test_every_control_that_is_named_is_there_and_no_other(bench: Bench):
    page = bench.ready(tag(RING, controls="ranks op"))
    expect(player(page).get_by_role("combobox", name="GPU 数")).to_be_visible()
    expect(player(page).get_by_role("combobox", name="归约")).to_be_visible()
    for name in ("通信原语", "算法", "根 rank"):
        expect(player(page).get_by_role("combobox", name=name)).to_have_count(0)
    page = bench.ready(tag(RING, controls=None))
    expect(page.locator(".cp-bar")).to_have_count(0)


def test_a_choice_of_the_reader_loads_that_schedule(bench: Bench):
    page = bench.ready(tag(RING))
    choose(page, "通信原语", "broadcast")
    wait_for(page, "p.rounds === 2")
    choose(page, "算法", "flat")
    wait_for(page, "p.rounds === 3")
    press(page, "增加 GPU")
    wait_for(page, "p.rounds === 4")
    choose(page, "GPU 数", "9")
    wait_for(page, "p.rounds === 8")
    press(page, "减少 GPU")
    wait_for(page, "p.rounds === 7")
    assert ask(page, "[p.round, p.playing]") == [0, False]


def test_root_and_reduction_are_offered_only_where_they_mean_something(bench: Bench):
    page = bench.ready(tag(RING))
    root = player(page).get_by_role("combobox", name="根 rank")
    op = player(page).get_by_role("combobox", name="归约")
    for primitive, rooted, reduces in (
        ("broadcast", True, False),
        ("reduce", True, True),
        ("alltoall", False, False),
        ("reducescatter", False, True),
    ):
        choose(page, "通信原语", primitive)
        expect(root).to_be_visible(visible=rooted)
        expect(op).to_be_visible(visible=reduces)


def test_another_root_is_drawn_and_keeps_the_round(bench: Bench):
    page = bench.ready(tag("broadcast/binomial/n4.json"))
    ask(page, "p.round = 1")
    choose(page, "根 rank", "2")
    wait_for(page, "p.stateAt(0)[2].tensor[0] !== null")
    assert ask(page, "p.round") == 1
    assert shown(page, 2, "tensor") == ["1", "2", "3"]
    assert shown(page, 3, "tensor") == ["1", "2", "3"]
    assert shown(page, 0, "tensor") == ["", "", ""]


@pytest.mark.parametrize(("op", "result"), [("max", "4"), ("min", "1"), ("prod", "24")])
def test_the_numbers_follow_the_reduction(op: str, result: str, bench: Bench):
    page = bench.ready(tag(RING))
    press(page, "跳到结尾")
    assert shown(page, 0, "tensor") == ["10"] * 4
    choose(page, "归约", op)
    expect(page.locator('.cp-card[data-rank="0"] .cp-value').first).to_have_text(result)
    assert ask(page, "p.round") == 6


def picky_catalog(bench: Bench) -> str:
    """A catalogue with an All-to-All for powers of two, and no AllGather for other N."""
    data = bench.data("catalog.json")
    for primitive in data["primitives"]:
        if primitive["slug"] == "alltoall":
            entry = primitive["algorithms"][0]
            primitive["algorithms"].append(
                {
                    **entry,
                    "slug": "xor",
                    "title": {"zh": "异或", "en": "XOR"},
                    "ranks": [2, 4, 8],
                    "restriction": "N 必须是 2 的幂。",
                }
            )
        if primitive["slug"] == "allgather":
            entry = primitive["algorithms"][0]
            entry.update(ranks=[2, 4, 8, 16], restriction="N 必须是 2 的幂。")
            primitive["algorithms"] = [entry]
    return json.dumps(data)


def test_what_cannot_be_chosen_is_there_disabled_with_its_reason(bench: Bench):
    bench.files["catalog.json"] = picky_catalog(bench)
    page = bench.ready(tag("alltoall/pairwise_shift/n6.json"))
    option = page.locator(".cp-field-algorithm option[value=xor]")
    expect(option).to_be_disabled()
    expect(option).to_have_text("异或（XOR）：N 必须是 2 的幂")
    choose(page, "GPU 数", "8")
    expect(option).to_be_enabled()
    choose(page, "通信原语", "allgather")
    six = page.locator(".cp-field-ranks option[value='6']")
    expect(six).to_have_count(0)
    expect(page.locator(".cp-field-ranks option:disabled")).to_have_count(0)


def test_an_n_that_has_to_change_is_said_never_changed_silently(bench: Bench):
    bench.files["catalog.json"] = picky_catalog(bench)
    page = bench.ready(tag("allreduce/ring/n6.json"))
    choose(page, "通信原语", "allgather")
    expect(page.locator(".cp-example")).to_contain_text("没有 N = 6（N 必须是 2 的幂），改为 N = 4")
    expect(player(page).get_by_role("combobox", name="GPU 数")).to_have_value("4")


def test_the_old_picture_stays_until_the_new_one_is_ready(bench: Bench):
    page = bench.ready(tag(RING))
    ask(page, "p.round = 3")
    bench.held["allreduce/ring/n5.json"] = []
    press(page, "增加 GPU")
    wait_for(page, "document.querySelector('.cp-field-ranks select').value === '5'")
    assert ask(page, "[p.round, p.rounds]") == [3, 6]
    expect(page.locator(".cp-card")).to_have_count(4)
    bench.release("allreduce/ring/n5.json")
    expect(page.locator(".cp-card")).to_have_count(5)


def test_when_choices_overtake_each_other_the_last_one_wins(bench: Bench):
    page = bench.ready(tag(RING))
    for n in (5, 6):
        bench.held[f"allreduce/ring/n{n}.json"] = []
    press(page, "增加 GPU")
    press(page, "增加 GPU")
    press(page, "增加 GPU")
    expect(page.locator(".cp-card")).to_have_count(7)
    for n in (5, 6):
        bench.release(f"allreduce/ring/n{n}.json")
    choose(page, "归约", "max")
    wait_for(page, "location.hash.includes('reduce=max')")
    expect(page.locator(".cp-card")).to_have_count(7)


# ------------------------------------------------------------------------------------ the address


def test_the_address_carries_the_state_and_the_link_opens_the_same_picture(bench: Bench):
    page = bench.ready(tag(RING), motion="reduce")
    choose(page, "通信原语", "reduce")
    wait_for(page, "p.rounds === 2")
    choose(page, "GPU 数", "8")
    wait_for(page, "p.rounds === 3")
    choose(page, "根 rank", "3")
    wait_for(page, "location.hash.includes('root=3')")
    press(page, "前进一轮")
    press(page, "前进一轮")
    link = "#op=reduce&algo=binomial&n=8&root=3&round=2"
    wait_for(page, f"location.hash === '{link}'")
    other = bench.ready(tag(RING), hash=link, motion="reduce")
    assert ask(other, "p.round") == 2
    assert picture(other) == picture(page)


def test_the_address_changes_without_filling_the_history(bench: Bench):
    page = bench.ready(tag(RING), motion="reduce")
    length = page.evaluate("history.length")
    for _ in range(4):
        press(page, "前进一轮")
    wait_for(page, "location.hash.endsWith('round=4')")
    assert page.evaluate("history.length") == length


@pytest.mark.parametrize(
    "hash",
    [
        "#op=nothing&algo=none&n=x&root=-1&round=1e9",
        "#op=allreduce&n=20000&round=99999",
        "#op=allreduce&algo=ring&n=-1&root=77&round=-4",
        "#op=%E0%A4%A&algo=%&n=%00",
        "#op=__proto__&algo=constructor&reduce=toString",
        "#op=<img src=x onerror=alert(1)>",
    ],
)
def test_a_malformed_address_falls_back_to_valid_values(hash: str, bench: Bench):
    page = bench.ready(tag(RING), hash=hash)
    expect(page.locator(".cp-problem")).to_be_hidden()
    assert 2 <= page.locator(".cp-card").count() <= 16
    assert 0 <= ask(page, "p.round") <= ask(page, "p.rounds")


def test_a_heading_anchor_in_the_address_is_left_alone(bench: Bench):
    page = bench.ready(tag(RING) + "<h2 id=算法>算法</h2>", hash="#算法")
    assert ask(page, "[p.rounds, p.round]") == [6, 0]
    assert "op=" not in page.url
    page.evaluate("location.hash = '#elsewhere'")
    assert page.evaluate("location.hash") == "#elsewhere"


def test_an_address_that_changes_later_is_followed(bench: Bench):
    page = bench.ready(tag(RING) + '<a href="#op=scatter&algo=flat&n=3&root=0&round=1">链接</a>')
    page.get_by_role("link").click()
    wait_for(page, "p.rounds === 2 && p.round === 1")
    page.go_back()
    assert ask(page, "p.rounds") == 2


def test_a_player_moved_before_its_catalogue_is_here_gets_its_bar_all_the_same(bench: Bench):
    bench.held["catalog.json"] = []
    page = bench.ready(tag(RING))
    page.evaluate("""() => {
        const player = document.querySelector('collective-player');
        player.remove();
        document.body.append(player);
    }""")
    bench.release("catalog.json")
    page.locator(".cp-bar:not(.cp-waiting)").wait_for()
    choose(page, "算法", "recursive_doubling")
    wait_for(page, "p.rounds === 2")


def test_a_link_that_is_followed_before_the_catalogue_is_here_is_not_lost(bench: Bench):
    bench.held["catalog.json"] = []
    page = bench.ready(tag(RING) + '<a href="#op=scatter&algo=flat&n=3&root=0&round=1">链接</a>')
    page.get_by_role("link").click()
    page.wait_for_function("location.hash.includes('op=scatter')")
    bench.release("catalog.json")
    wait_for(page, "p.rounds === 2 && p.round === 1")


def test_a_catalogue_that_arrives_late_leaves_a_player_that_plays_alone(bench: Bench):
    bench.held["catalog.json"] = []
    page = bench.ready(tag("reducescatter/ring/n4.json"), clock=True)
    wait_for(page, "p.address !== ''")
    choose(page, "速度", "4")
    press(page, "播放")
    page.clock.run_for(350)
    # The address may not be written again yet, and is a step behind.
    assert ask(page, "[p.round, location.hash.includes('round=0')]") == [1, True]
    bench.release("catalog.json")
    page.locator(".cp-bar:not(.cp-waiting)").wait_for()
    page.clock.run_for(10)
    assert ask(page, "[p.round, p.playing]") == [1, True]


def test_only_the_first_player_with_controls_owns_the_address(bench: Bench):
    page = bench.ready(
        tag("broadcast/flat/n3.json", controls=None) + tag(RING) + tag(RING),
        hash="#op=allgather&algo=ring&n=5&root=0&round=2",
        motion="reduce",
    )
    page.wait_for_function("document.querySelectorAll('collective-player[ready]').length === 3")
    states = page.evaluate("""[...document.querySelectorAll('collective-player')]
        .map((p) => [p.rounds, p.round])""")
    assert states == [[2, 0], [4, 2], [6, 0]]
    page.locator("collective-player").nth(2).get_by_role("button", name="前进一轮").click()
    page.locator("collective-player").nth(1).get_by_role("button", name="后退一轮").click()
    page.wait_for_function("location.hash.endsWith('round=1')")
    assert "op=allgather" in page.url


# ------------------------------------------------------------------------------- what may be wrong


def refused(page: Page) -> Locator:
    """The sentence of a player that cannot play, after checking that it does nothing else."""
    player(page).and_(page.locator("[failed]")).wait_for()
    expect(page.locator(".cp-stage")).to_be_hidden()
    ask(page, "p.play()")
    assert ask(page, "[p.playing, p.rounds, p.round]") == [False, 0, 0]
    alert = page.get_by_role("alert")
    expect(alert).to_be_visible()
    return alert


@pytest.mark.parametrize("controls", [None, "primitive algorithm ranks root op"])
def test_a_missing_file_is_said_in_place_and_the_table_stays(controls: str | None, bench: Bench):
    page = bench.open(tag("allreduce/ring/n99.json", controls=controls))
    expect(refused(page)).to_contain_text(
        "读不到 /schedules/allreduce/ring/n99.json：服务器回答 404"
    )
    expect(page.get_by_text("后备表格")).to_be_visible()


def test_a_file_that_is_cut_off_is_said_in_place(bench: Bench):
    bench.files[RING] = bench.text(RING)[:700]
    expect(refused(bench.open(tag(RING)))).to_contain_text("不是完整的 JSON")


def test_a_file_of_another_version_is_said_in_place(bench: Bench):
    bench.files[RING] = json.dumps({**bench.data(RING), "version": 2})
    expect(refused(bench.open(tag(RING)))).to_contain_text("version 应为 1，现在是 2")


def test_a_schedule_that_python_refuses_is_never_played(bench: Bench):
    for name, case in CORPUS.items():
        bench.files[f"own/{name}/n4.json"] = as_json(case.schedule)
    page = bench.open("".join(tag(f"own/{name}/n4.json", controls=None) for name in CORPUS))
    expect(page.locator("collective-player[failed]")).to_have_count(len(CORPUS))
    expect(page.locator(".cp-stage:visible")).to_have_count(0)
    page.evaluate("document.querySelectorAll('collective-player').forEach((p) => p.play())")
    assert not page.evaluate("""[...document.querySelectorAll('collective-player')]
        .some((p) => p.playing || p.rounds || p.stateAt(0).length)""")
    sentences = page.get_by_role("alert").all_inner_texts()
    for (name, case), sentence in zip(CORPUS.items(), sentences, strict=True):
        assert sentence.startswith("这个日程不能播放。"), name
        assert case.round is None or f"第 {case.round} 步" in sentence, name


def test_nothing_in_a_file_becomes_markup(bench: Bench):
    attack = "<img src=x onerror='window.hurt = true'><script>window.hurt = true</script>"
    data = bench.data(RING)
    for round_ in data["rounds"]:
        round_["caption"] = round_["phase"] = attack
    data["phases"] = {attack: attack}
    bench.files[RING] = json.dumps(data)
    page = bench.ready(tag(RING))
    ask(page, "p.round = 1")
    expect(page.locator(".cp-words")).to_have_text(attack)
    assert page.locator("collective-player img, collective-player script").count() == 0
    assert page.evaluate("window.hurt") is None


def test_a_missing_catalogue_leaves_the_schedule_playable(bench: Bench):
    bench.files["catalog.json"] = None
    page = bench.ready(tag(RING))
    expect(page.get_by_text("现在只能看这一个日程")).to_be_visible()
    press(page, "跳到结尾")
    assert ask(page, "p.round") == 6


def test_after_a_failed_choice_another_choice_plays(bench: Bench):
    bench.files["allreduce/ring/n5.json"] = None
    page = bench.ready(tag(RING))
    press(page, "增加 GPU")
    expect(refused(page)).to_contain_text("n5.json")
    press(page, "增加 GPU")
    wait_for(page, "p.rounds === 10")
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(page.locator(".cp-stage")).to_be_visible()


# ----------------------------------------------------------------- looks, motion, accessibility


def test_reduced_motion_steps_without_motion_and_plays_round_by_round(bench: Bench):
    page = bench.ready(tag(RING), motion="reduce", clock=True)
    press(page, "前进一轮")
    assert ask(page, "p.round") == 1
    expect(page.locator(".cp-arrows path")).to_have_count(4)
    press(page, "播放")
    seen = set()
    for _ in range(30):
        page.clock.run_for(450)
        assert page.locator(".cp-leaving").count() == 0
        seen.add((ask(page, "p.round"), picture(page)))
    assert len(seen) == 6, "one picture per round from 1 to 6"


@pytest.mark.parametrize(
    ("scheme", "attribute", "dark"),
    [
        ("dark", "", True),
        ("light", "", False),
        ("light", "slate", True),
        ("dark", "default", False),
    ],
)
def test_the_palette_follows_the_page_then_the_system(
    scheme: str, attribute: str, dark: bool, bench: Bench
):
    body = tag(RING)
    if attribute:
        body = f'<div data-md-color-scheme="{attribute}">{body}</div>'
    page = bench.ready(body, scheme=scheme)
    background = page.locator(".cp").evaluate("(node) => getComputedStyle(node).backgroundColor")
    red = int(re.findall(r"\d+", background)[0])
    assert (red < 60) is dark, background


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_number_can_be_read_on_every_ranks_colour(scheme: str, bench: Bench):
    page = bench.ready(tag("allreduce/ring/n16.json"), scheme=scheme)
    press(page, "跳到结尾")
    colours = page.locator('.cp-card[data-rank="0"] .cp-fill').evaluate_all(
        "(nodes) => nodes.map((node) => getComputedStyle(node).fill)"
    )
    ink = page.locator(".cp-value").first.evaluate("(node) => getComputedStyle(node).fill")
    assert len(set(colours)) == 16
    for rank, colour in enumerate(colours):
        assert contrast(ink, colour) >= 4.5, f"rank {rank}: {colour}"


@pytest.mark.parametrize("width", [320, 360, 390])
def test_a_phone_shows_everything_without_sideways_scrolling(width: int, bench: Bench):
    page = bench.ready("".join(map(tag, OPENING.values())), width=width)
    expect(page.locator("collective-player[ready]")).to_have_count(8)
    expect(page.locator(".cp-waiting")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    boxes = page.locator(".cp :is(button, select, [role=slider]):visible").evaluate_all("""
        (nodes) => nodes.map((node) => {
            const { width, height } = node.getBoundingClientRect();
            return [node.getAttribute('aria-label'), width, height];
        })""")
    assert len(boxes) >= 8 * 12
    for name, wide, high in boxes:
        assert wide >= 40, name
        assert high >= 40, name
    sizes = page.locator(".cp-value").evaluate_all(
        "(nodes) => nodes.map((node) => parseFloat(node.getAttribute('font-size')))"
    )
    assert len(sizes) > 100
    assert min(sizes) >= 9


@pytest.mark.parametrize("width", [360, 720, 1280])
def test_no_step_changes_the_height_of_a_player(width: int, bench: Bench):
    page = bench.ready("".join(map(tag, OPENING.values())), width=width)
    expect(page.locator("collective-player[ready]")).to_have_count(8)
    expect(page.locator(".cp-waiting")).to_have_count(0)
    heights = page.evaluate("""[...document.querySelectorAll('collective-player')].map((p) =>
        Array.from({ length: p.rounds + 1 }, (_, round) => {
            p.round = round;
            return p.offsetHeight;
        }))""")
    for primitive, of_steps in zip(OPENING, heights, strict=True):
        assert len(set(of_steps)) == 1, f"{primitive}: {of_steps}"


@pytest.mark.parametrize("width", [360, 720, 1280])
def test_nothing_on_the_page_moves_when_the_player_arrives(width: int, bench: Bench):
    page = bench.ready(
        f"{tag(RING)}<p id=after>后面的文字</p>",
        width=width,
        height=2000,
        script="""
        window.shifts = [];
        new PerformanceObserver((list) => {
            window.shifts.push(...list.getEntries().map(({ value }) => value));
        }).observe({ type: 'layout-shift', buffered: true });
    """,
    )
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert sum(page.evaluate("window.shifts")) < 0.01


def test_the_table_never_flashes_and_is_gone_once_the_player_plays(bench: Bench):
    bench.held[RING] = []
    page = bench.open(tag(RING))
    expect(page.get_by_text("后备表格")).to_be_hidden()
    page.wait_for_function("document.querySelector('.cp') !== null")
    bench.release(RING)
    page.locator("collective-player[ready]").wait_for()
    expect(page.get_by_text("后备表格")).to_be_hidden()


def test_print_shows_the_table_instead_of_the_stage(bench: Bench):
    page = bench.ready(tag(RING))
    page.emulate_media(media="print")
    expect(page.get_by_text("后备表格")).to_be_visible()
    expect(page.locator(".cp")).to_be_hidden()


def test_without_scripts_the_table_is_what_there_is(bench: Bench):
    page = bench.open(tag(RING), javascript=False)
    expect(page.get_by_text("后备表格")).to_be_visible()


def test_everything_has_a_chinese_name(bench: Bench):
    page = bench.ready(tag("reduce/binomial/n4.json"))
    names = page.locator(".cp :is(button, select, [role=slider], [role=group], [role=img], dialog)")
    for name in names.evaluate_all("(nodes) => nodes.map((n) => n.getAttribute('aria-label'))"):
        assert re.search(r"[\u4e00-\u9fff]", name or ""), name


def test_the_picture_says_its_state_in_brief_and_the_caption_is_a_live_region(bench: Bench):
    page = bench.ready(tag(RING))
    press(page, "跳到结尾")
    expect(page.get_by_role("img")).to_have_attribute(
        "aria-label",
        "AllReduce，4 个 rank，第 6 / 6 轮 · AllGather 阶段之后：16 个结果块中 16 个已完成。",
    )
    expect(page.locator(".cp-caption")).to_have_attribute("aria-live", "polite")
    expect(page.locator(".cp-caption")).to_have_attribute("aria-atomic", "true")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing(scheme: str, width: int, bench: Bench):
    background = {"light": "#fff", "dark": "#0b1020"}[scheme]
    page = bench.ready(
        f'<main style="background:{background}"><h1 hidden>播放器</h1>'
        f"{tag('reduce/binomial/n4.json')}</main>",
        scheme=scheme,
        width=width,
    )
    faults = []
    for step in (0, 1, 2):
        ask(page, f"p.round = {step}")
        results = Axe().run(
            page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]}
        )
        faults += [
            (v["id"], node["html"][:120])
            for v in results.response["violations"]
            for node in v["nodes"]
        ]
    assert faults == []


# ------------------------------------------------------------------------------- a player's life


def wait_until_frames_stop(page: Page) -> None:
    assert page.evaluate("""async () => {
        for (let tries = 0; tries < 50; tries += 1) if (await window.quiet()) return true;
        return false;
    }""")


def test_the_frame_loop_runs_only_while_it_is_needed_and_seen(bench: Bench):
    page = bench.ready(
        tag("allreduce/ring/n16.json") + "<div style='height:4000px'></div>", script=COUNT_FRAMES
    )
    ask(page, "p.play()")
    page.wait_for_function("window.frames > 5")
    ask(page, "p.pause()")
    wait_until_frames_stop(page)
    ask(page, "p.play()")
    page.evaluate("""() => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
        document.dispatchEvent(new Event('visibilitychange'));
    }""")
    wait_until_frames_stop(page)
    assert ask(page, "p.playing")
    page.evaluate("""() => {
        delete document.hidden;
        document.dispatchEvent(new Event('visibilitychange'));
        window.frames = 0;
    }""")
    page.wait_for_function("window.frames > 5")
    page.evaluate("scrollTo(0, 4000)")
    wait_until_frames_stop(page)
    assert ask(page, "p.playing")
    page.evaluate("() => { scrollTo(0, 0); window.frames = 0; }")
    page.wait_for_function("window.frames > 5")
    page.evaluate("() => document.querySelector('collective-player').remove()")
    wait_until_frames_stop(page)


def test_a_player_that_was_removed_leaves_the_address_and_the_network_alone(bench: Bench):
    page = bench.ready(tag(RING))
    page.evaluate(
        "() => { window.gone = document.querySelector('collective-player'); gone.remove(); }"
    )
    asked = len(bench.asked)
    page.evaluate("""() => new Promise((done) => {
        addEventListener('hashchange', () => setTimeout(done));
        location.hash = '#op=scatter&n=5';
    })""")
    page.evaluate("() => { gone.round = 3; gone.play(); }")
    assert len(bench.asked) == asked
    assert page.evaluate("location.hash") == "#op=scatter&n=5"


def test_a_player_that_moves_keeps_its_round(bench: Bench):
    page = bench.ready(tag(RING) + "<section></section>")
    ask(page, "p.round = 3")
    ask(page, "document.querySelector('section').append(p)")
    assert ask(page, "[p.round, p.rounds]") == [3, 6]
    press(page, "跳到结尾")
    assert ask(page, "p.round") == 6
    expect(page.locator(".cp")).to_have_count(1)


def test_a_copy_of_a_player_plays_by_itself(bench: Bench):
    page = bench.ready(tag(RING, controls=None))
    ask(page, "document.body.append(p.cloneNode(true))")
    page.wait_for_function("document.querySelectorAll('collective-player')[1].rounds === 6")
    expect(page.locator(".cp")).to_have_count(2)
    page.locator("collective-player").nth(1).get_by_role("button", name="跳到结尾").click()
    rounds = page.evaluate(
        "[...document.querySelectorAll('collective-player')].map((p) => p.round)"
    )
    assert rounds == [0, 6]


def test_a_player_that_is_put_into_the_page_later_plays(bench: Bench):
    page = bench.open("<section></section>")
    page.evaluate("(html) => { document.querySelector('section').innerHTML = html; }", tag(RING))
    player(page).and_(page.locator("[ready]")).wait_for()
    assert ask(page, "p.rounds") == 6


def test_the_attributes_can_change_while_the_player_lives(bench: Bench):
    page = bench.ready(tag(RING, controls=None, more='round="2"'))
    assert ask(page, "p.round") == 2
    ask(page, "p.setAttribute('round', '5')")
    assert ask(page, "p.round") == 5
    ask(page, "p.setAttribute('src', 'schedules/broadcast/flat/n3.json')")
    wait_for(page, "p.rounds === 2")
    ask(page, "p.setAttribute('controls', 'ranks')")
    expect(player(page).get_by_role("combobox", name="GPU 数")).to_have_value("3")


def test_a_new_src_counts_more_than_an_older_address(bench: Bench):
    page = bench.ready(tag(RING), motion="reduce")
    press(page, "前进一轮")
    wait_for(page, "location.hash.includes('op=allreduce')")
    ask(page, "p.setAttribute('src', 'schedules/scatter/flat/n5.json')")
    wait_for(page, "p.rounds === 4")


def test_several_players_play_side_by_side(bench: Bench):
    page = bench.ready(
        tag(RING, controls=None) + tag("scatter/flat/n4.json", controls=None), clock=True
    )
    page.wait_for_function("document.querySelectorAll('collective-player[ready]').length === 2")
    page.evaluate("document.querySelectorAll('collective-player')[0].play()")
    page.clock.run_for(4_500)
    rounds = page.evaluate(
        "[...document.querySelectorAll('collective-player')].map((p) => p.round)"
    )
    assert rounds == [2, 0]
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(ids) == len(set(ids))


def test_the_first_picture_needs_one_schedule_and_one_catalogue(bench: Bench):
    page = bench.ready(tag(RING))
    page.locator(".cp-bar:not(.cp-waiting)").wait_for()
    assert bench.asked == [RING, "catalog.json"]


# ------------------------------------------------------------------------------------- on the site


def test_following_links_leaves_a_working_player_behind_every_time(visit: Visitor):
    page = visit()
    page.evaluate("window.sameDocument = true")
    player(page).and_(page.locator("[ready]")).wait_for()
    press(page, "跳到结尾")
    for name, rounds in (("broadcast", 2), ("alltoall", 3), ("reduce", 2)):
        page.evaluate(
            """(name) => [...document.querySelectorAll('a[href]')]
                .find((a) => a.href.endsWith(`primitives/${name}/`)).click()""",
            name,
        )
        wait_for(page, f"p?.rounds === {rounds} && p.hasAttribute('ready')")
        assert ask(page, "p.round") == 0
        press(page, "跳到结尾")
        wait_for(page, f"location.hash.includes('op={name}')")
    page.go_back()
    wait_for(page, "p?.rounds === 3 && p.hasAttribute('ready')")
    assert page.evaluate("window.sameDocument") is True


def test_the_palette_button_of_the_site_changes_a_playing_player(visit: Visitor):
    page = visit("primitives/allreduce/", scheme="light")
    player(page).and_(page.locator("[ready]")).wait_for()
    ask(page, "p.play()")
    background = "() => getComputedStyle(document.querySelector('.cp')).backgroundColor"
    before = page.evaluate(background)
    while page.locator("body[data-md-color-scheme=slate]").count() == 0:
        page.locator(".md-header__option label:not([hidden])").click()
    page.wait_for_function(f"({background})() !== '{before}'")
    assert ask(page, "p.playing")


def test_a_link_to_a_step_opens_that_step_on_the_site(visit: Visitor):
    page = visit("#op=reducescatter&algo=ring&n=8&root=0&round=3")
    player(page).and_(page.locator("[ready]")).wait_for()
    assert ask(page, "[p.round, p.rounds]") == [3, 8]
    expect(page.locator(".cp-title")).to_contain_text("第 2 / 7 轮")
