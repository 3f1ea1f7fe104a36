"""The player in Chromium, Firefox and WebKit: the same promises in every engine.

What needs a clock that the test commands, or requests that it holds back, is in test_player.py.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from broken_schedules import CORPUS, as_json
from collectives.algorithms import REGISTRY, algorithms_of
from collectives.primitives import PRIMITIVES
from collectives.prove import replay
from colour import contrast
from engines import Engine
from generate_schedules import schedule_path
from player_bench import tag

RING = "allreduce/ring/n4.json"
SHORT = "broadcast/binomial/n2.json"
OPENING = {slug: schedule_path(algorithms_of(slug)[0], 4, {}) for slug in PRIMITIVES}
"""The file that a primitive opens with."""

EVERY_CONTROL = "primitive algorithm ranks parameters root op view more"

ALL_PLAYERS = "[...document.querySelectorAll('collective-player')]"
ALL_READY = f"""{ALL_PLAYERS}.every((player) => player.hasAttribute('ready')
  && [...player.querySelectorAll('.cp-bar select')].every((select) => select.options.length))"""


def python_state(path: str, step: int, root: int = 0) -> Any:
    """What Python's replay says every rank holds after some steps, written as the player does."""
    primitive, slug, name = path.split("/")
    n = int(re.findall(r"\d+", name)[0])
    return [
        {
            buffer: [cell and {"block": cell.origin, "from": cell.ranks()} for cell in cells]
            for buffer, cells in held.items()
        }
        for held in list(replay(REGISTRY[f"{primitive}/{slug}"].schedule(n, root)))[step]
    ]


def last_state(path: str, root: int = 0) -> Any:
    return python_state(path, -1, root)


def picture(engine: Engine) -> str:
    """The whole picture as text, without the ids that differ from player to player."""
    return re.sub(r"cp-\d+-", "", engine.evaluate("p.querySelector('.cp-svg').innerHTML"))


def focused(engine: Engine) -> str:
    """The accessible name of the element that has the focus."""
    return str(engine.evaluate("document.activeElement.getAttribute('aria-label') ?? ''"))


# ------------------------------------------------------------------------------- opening, playing


def test_the_opening_of_every_primitive_is_drawn_and_stands_at_its_start(engine: Engine):
    engine.open("".join(map(tag, OPENING.values())))
    engine.wait_for(ALL_READY)
    players = engine.evaluate(f"""{ALL_PLAYERS}.map((player) => {{
        const {{ width, height }} = player.querySelector('.cp-svg').getBoundingClientRect();
        return {{ state: player.stateAt(0), round: player.round, playing: player.playing,
          cards: player.querySelectorAll('.cp-card').length, big: width > 300 && height > 100,
          numbers: player.querySelectorAll('.cp-value').length }};
    }})""")
    for path, player in zip(OPENING.values(), players, strict=True):
        assert player["state"] == python_state(path, 0), path
        assert (player["round"], player["playing"], player["cards"]) == (0, False, 4), path
        assert player["big"], path
        assert player["numbers"] > 0, path


def test_every_primitive_ends_where_python_ends(engine: Engine):
    engine.open("".join(map(tag, OPENING.values())))
    engine.wait_for(ALL_READY)
    for number in range(1, len(OPENING) + 1):
        engine.click("跳到结尾", inside=f"collective-player:nth-of-type({number})")
    states = engine.evaluate(f"{ALL_PLAYERS}.map((player) => player.stateAt(player.round))")
    for path, state in zip(OPENING.values(), states, strict=True):
        assert state == last_state(path), path


def test_playing_runs_to_the_end_and_rests_there(engine: Engine):
    path = "broadcast/binomial/n4.json"
    engine.open(tag(path))
    engine.choose("速度", "4")
    engine.click("播放")
    engine.wait_for("p.playing")
    engine.wait_for("p.querySelector('.cp-token:not(.cp-past)')")
    engine.wait_for("!p.playing")
    assert engine.evaluate("p.round === p.rounds")
    assert engine.evaluate("p.stateAt(p.round)") == last_state(path)
    played = picture(engine)
    engine.click("回到开头")
    engine.click("跳到结尾")
    assert picture(engine) == played


def test_pausing_holds_the_picture_and_playing_goes_on_from_there(engine: Engine):
    engine.open(tag(RING))
    engine.click("播放")
    engine.wait_for("p.querySelector('.cp-token:not(.cp-past)')")
    engine.click("暂停")
    assert engine.evaluate("p.playing") is False
    held = picture(engine)
    assert engine.evaluate("""(async () => {
        for (let i = 0; i < 6; i += 1) await new Promise(requestAnimationFrame);
        return p.querySelector('.cp-token:not(.cp-past)') !== null;
    })()""")
    assert picture(engine) == held
    engine.click("播放")
    engine.wait_for("p.round === 1")


def test_the_buttons_step_and_jump(engine: Engine):
    engine.open(tag(RING))
    engine.choose("速度", "4")
    engine.click("前进一轮")
    engine.wait_for("p.round === 1")
    assert engine.evaluate("p.stateAt(p.round)") == python_state(RING, 1)
    engine.click("跳到结尾")
    assert engine.evaluate("p.round") == 6
    engine.click("后退一轮")
    assert engine.evaluate("p.round") == 5
    assert engine.evaluate("p.stateAt(p.round)") == python_state(RING, 5)
    engine.click("回到开头")
    assert engine.evaluate("p.round") == 0


def test_going_back_draws_the_same_pictures_as_going_forward(engine: Engine):
    engine.open(tag(RING))
    there, back = engine.evaluate("""(() => {
        const drawn = (round) => {
          p.round = round;
          return p.querySelector('.cp-svg').innerHTML;
        };
        const rounds = Array.from({ length: p.rounds + 1 }, (_, round) => round);
        return [rounds.map(drawn), rounds.reverse().map(drawn).reverse()];
    })()""")
    assert len(set(there)) == 7
    assert back == there


def test_the_speed_says_how_fast_the_same_clock_passes(engine: Engine):
    engine.open(tag(SHORT, controls=None) * 2)
    engine.wait_for(ALL_READY)
    engine.choose("速度", "4", inside="collective-player:nth-of-type(1)")
    engine.choose("速度", "0.25", inside="collective-player:nth-of-type(2)")
    engine.evaluate(f"{ALL_PLAYERS}.forEach((player) => player.play())")
    engine.wait_for("p.round === 1")
    assert engine.evaluate(f"{ALL_PLAYERS}.map((player) => player.round)") == [1, 0]


def test_a_loop_begins_again_until_it_is_switched_off(engine: Engine):
    engine.open(tag(SHORT, controls=None))
    engine.evaluate("""(() => {
        window.heard = [];
        p.addEventListener('roundchange', ({ detail }) => window.heard.push(detail.round));
    })()""")
    engine.choose("速度", "4")
    engine.click("循环播放")
    assert engine.evaluate("find('循环播放').getAttribute('aria-pressed')") == "true"
    engine.click("播放")
    engine.wait_for("window.heard.length >= 4")
    engine.click("循环播放")
    engine.wait_for("!p.playing")
    assert engine.evaluate("p.round") == 1
    heard = engine.evaluate("window.heard")
    assert heard == [(i + 1) % 2 for i in range(len(heard))]


def test_a_player_at_rest_asks_for_no_frame(engine: Engine):
    engine.open(tag(RING))
    engine.evaluate("""(() => {
        const request = window.requestAnimationFrame.bind(window);
        window.asked = 0;
        window.requestAnimationFrame = (then) => { window.asked += 1; return request(then); };
        window.sixFrames = async () => {
          const before = window.asked;
          for (let i = 0; i < 6; i += 1) await new Promise(request);
          return window.asked - before;
        };
    })()""")
    assert engine.evaluate("window.sixFrames()") == 0
    engine.click("播放")
    engine.wait_for("window.asked > 3")
    engine.click("暂停")
    engine.wait_for("window.sixFrames().then((asked) => asked === 0)")


# ------------------------------------------------------------------------------- timeline and keys


def test_a_click_on_the_timeline_goes_to_the_end_of_that_round(engine: Engine):
    engine.open(tag(RING))
    for number, part in ((4, 0.3), (1, 0.7), (6, 0.5)):
        engine.click(css=f".cp-segment:nth-child({number})", at=(part, 0.5))
        assert engine.evaluate("p.round") == number


def test_dragging_along_the_timeline_shows_blocks_in_flight(engine: Engine):
    engine.open(tag(RING))
    start = engine.point(css=".cp-segment:nth-child(1)", at=(0.2, 0.5))
    middle = engine.point(css=".cp-segment:nth-child(2)", at=(0.4, 0.5))
    end = engine.point(css=".cp-segment:nth-child(6)", at=(0.9, 0.5))
    engine.drag([start, end, middle])
    assert engine.evaluate("[p.round, p.querySelectorAll('.cp-token:not(.cp-past)').length]") == [
        1,
        4,
    ]
    engine.drag([middle, start])
    assert engine.evaluate("p.round") == 0


def test_a_finger_presses_buttons_and_drags_the_timeline(engine: Engine):
    engine.open(tag(RING), width=390)
    engine.click("跳到结尾", touch=True)
    engine.wait_for("p.round === 6")
    engine.click(css=".cp-segment:nth-child(2)", touch=True)
    engine.wait_for("p.round === 2")
    start = engine.point(css=".cp-segment:nth-child(2)")
    end = engine.point(css=".cp-segment:nth-child(4)")
    engine.drag([start, ((start[0] + end[0]) / 2, start[1]), end], touch=True)
    assert engine.evaluate("[p.round, p.querySelectorAll('.cp-token:not(.cp-past)').length]") == [
        3,
        4,
    ]


def test_a_finger_that_swipes_steps_and_one_that_scrolls_does_not(engine: Engine):
    engine.open(tag(RING) + "<div style='height: 2000px'></div>", width=390)
    engine.choose("速度", "4")
    engine.swipe(".cp-stage", -120)
    engine.wait_for("p.round === 1 && !p.querySelector('.cp-token:not(.cp-past)')")
    engine.swipe(".cp-stage", 120)
    assert engine.evaluate("p.round") == 0
    engine.swipe(".cp-stage", 20, -120)
    assert engine.evaluate("""(async () => {
        for (let i = 0; i < 6; i += 1) await new Promise(requestAnimationFrame);
        return p.round === 0 && !p.querySelector('.cp-token:not(.cp-past)');
    })()""")


def test_the_keys_play_step_jump_and_change_the_speed(engine: Engine):
    engine.open(tag(RING))
    engine.focus(css=".cp-timeline")
    speed = "find('速度').value"
    engine.press("+", "=", "+", "+")
    assert engine.evaluate(speed) == "4"
    engine.press("ArrowRight")
    engine.wait_for("p.round === 1")
    engine.press("End")
    assert engine.evaluate("p.round") == 6
    engine.press("ArrowLeft")
    assert engine.evaluate("p.round") == 5
    engine.press("Home")
    assert engine.evaluate("p.round") == 0
    engine.press(" ")
    assert engine.evaluate("p.playing") is True
    engine.press(" ")
    assert engine.evaluate("p.playing") is False
    engine.press(*["-"] * 9)
    assert engine.evaluate(speed) == "0.25"
    assert engine.evaluate("document.activeElement.getAttribute('role')") == "slider"


def test_keys_outside_of_the_player_do_nothing(engine: Engine):
    engine.open(tag(RING) + "<button>别处</button>")
    engine.focus("别处")
    engine.press("ArrowRight", "End", "?", " ")
    assert engine.evaluate("[p.round, p.playing]") == [0, False]
    assert engine.evaluate("document.querySelector('dialog[open]')") is None


def test_the_help_closes_with_escape_and_gives_the_focus_back(engine: Engine):
    engine.open(tag(RING))
    engine.focus(css=".cp-timeline")
    engine.press("?")
    engine.wait_for("p.querySelector('dialog[open]')")
    engine.press("ArrowRight", "End")
    engine.press("Escape")
    engine.wait_for("!p.querySelector('dialog[open]')")
    assert engine.evaluate("document.activeElement === p.querySelector('.cp-timeline')")
    assert engine.evaluate("p.round") == 0


def test_pressing_play_keeps_the_focus_on_it(engine: Engine):
    engine.open(tag(RING))
    engine.click("播放")
    engine.wait_for("p.playing")
    assert focused(engine) == "暂停"
    engine.press(" ")
    assert engine.evaluate("p.playing") is False
    assert focused(engine) == "播放"
    engine.press("Enter")
    assert engine.evaluate("p.playing") is True
    assert focused(engine) == "暂停"


# ------------------------------------------------------------------------------------- the choices


def tab_to(engine: Engine, name: str) -> None:
    """Go to an element as the keyboard does, from wherever the focus is."""
    for _ in range(40):
        if focused(engine) == name:
            return
        engine.press("Tab")
    raise AssertionError(f"{engine.name}: Tab never reaches {name}")


def arrow_to(engine: Engine, name: str, value: str) -> None:
    """Choose an option as the keyboard does: arrow by arrow, on a list that stays closed."""
    tab_to(engine, name)
    select = f"find({json.dumps(name)})"
    for _ in range(20):
        values = engine.evaluate(f"[...{select}.options].map((option) => option.value)")
        there, here = values.index(value), engine.evaluate(f"{select}.selectedIndex")
        if there == here:
            return
        engine.press("ArrowDown" if there > here else "ArrowUp")
        engine.wait_for(f"{select}.selectedIndex !== {here}")
    raise AssertionError(f"{engine.name}: no arrow reaches {value} of {name}")


def test_everything_can_be_chosen_with_the_keyboard_alone(engine: Engine):
    engine.open(tag(RING))
    arrow_to(engine, "通信原语", "reduce")
    engine.wait_for("find('根 rank')")
    other = algorithms_of("reduce")[1].slug
    arrow_to(engine, "算法", other)
    engine.wait_for(f"location.hash.includes('op=reduce&algo={other}&')")
    tab_to(engine, "增加 GPU")
    engine.press("Enter")
    engine.wait_for("p.ranks === 5")
    assert focused(engine) == "增加 GPU"
    arrow_to(engine, "根 rank", "2")
    engine.wait_for("p.stateAt(p.rounds)[2].tensor[0]?.from.length === 5")
    expected = last_state(f"reduce/{other}/n5.json", root=2)
    assert engine.evaluate("p.stateAt(p.rounds)") == expected


def test_everything_can_be_chosen_with_the_mouse(engine: Engine):
    engine.open(tag(RING))
    engine.choose("通信原语", "broadcast")
    engine.wait_for("p.rounds === 2")
    engine.choose("算法", "flat")
    engine.wait_for("p.rounds === 3")
    engine.click("增加 GPU")
    engine.wait_for("p.ranks === 5")
    engine.choose("GPU 数", "9")
    engine.wait_for("p.ranks === 9")
    engine.choose("根 rank", "4")
    engine.wait_for("p.stateAt(0)[4].tensor[0]")
    assert engine.evaluate("p.stateAt(p.rounds)") == last_state("broadcast/flat/n9.json", root=4)
    assert engine.evaluate("find('归约')") is None
    engine.choose("通信原语", "reduce")
    engine.wait_for("find('归约') && p.hasAttribute('ready')")
    assert engine.evaluate("p.round") == 0


def test_every_view_shows_the_same_step_and_its_link_opens_it(engine: Engine):
    engine.open(tag(RING, EVERY_CONTROL))
    engine.evaluate("p.round = 2")
    drawn = {}
    for name, view in (("时空", "spacetime"), ("矩阵", "matrix"), ("拓扑", "topology")):
        engine.click(name)
        engine.wait_for(
            f"find('{name}').getAttribute('aria-pressed') === 'true'"
            f" && (/view=(\\w+)/.exec(location.hash)?.[1] ?? 'topology') === '{view}'"
            " && p.querySelector('.cp-svg').getBoundingClientRect().height > 100"
        )
        assert engine.evaluate("p.round") == 2, view
        drawn[view] = (engine.evaluate("location.hash"), picture(engine))
    assert len({shown for _, shown in drawn.values()}) == 3
    for link, shown in drawn.values():
        engine.open(tag(SHORT, EVERY_CONTROL), hash=link)
        engine.wait_for("p.ranks === 4 && p.round === 2")
        assert picture(engine) == shown, link


def test_many_ranks_are_a_matrix_and_the_other_views_say_why_not(engine: Engine):
    engine.open(tag(RING, EVERY_CONTROL), hash="#op=broadcast&algo=binomial&n=64&view=matrix")
    assert engine.evaluate("p.ranks") == 64
    assert engine.evaluate("find('矩阵').getAttribute('aria-pressed')") == "true"
    named = "[...p.querySelectorAll('.cp-segments [aria-label]')]"
    assert engine.evaluate(f"{named}.map((n) => n.getAttribute('aria-disabled'))") == ["true"] * 2
    assert all("矩阵" in name for name in engine.evaluate(f"{named}.map((n) => n.ariaLabel)"))
    engine.click("跳到结尾")
    assert engine.evaluate("p.stateAt(p.round)") == last_state("broadcast/binomial/n64.json")


def test_the_menu_opens_and_escape_closes_it_where_it_was_opened(engine: Engine):
    engine.open(tag(RING, EVERY_CONTROL))
    engine.click("更多")
    engine.wait_for("find('符号')")
    engine.press("Escape")
    engine.wait_for("!find('符号')")
    assert focused(engine) == "更多"
    engine.press("Enter")
    engine.wait_for("find('符号')")
    engine.press("Tab", "Tab", "Enter")
    engine.wait_for("location.hash.includes('values=symbols')")
    assert engine.evaluate("document.activeElement === find('符号')")
    engine.press("Escape")
    engine.wait_for("!find('符号')")
    assert focused(engine) == "更多"


def test_the_numbers_follow_the_reduction(engine: Engine):
    engine.open(tag(RING))
    engine.click("跳到结尾")
    for op, result in (("max", "4"), ("min", "1"), ("prod", "24"), ("sum", "10")):
        engine.choose("归约", op)
        engine.wait_for(
            "[...p.querySelectorAll('.cp-card .cp-value')]"
            f".every((node) => node.textContent === '{result}')"
        )
    assert engine.evaluate("p.round") == 6


def test_what_cannot_be_chosen_is_there_disabled_with_its_reason(engine: Engine):
    engine.open(tag("alltoall/pairwise_shift/n6.json"))
    engine.wait_for("find('算法').options.length > 1")
    offered = engine.evaluate(
        "[...find('算法').options].map(({ value, disabled, text }) => [value, disabled, text])"
    )
    algorithms = {a.slug: a for a in algorithms_of("alltoall")}
    assert {slug for slug, *_ in offered} == set(algorithms)
    for slug, disabled, text in offered:
        algorithm = algorithms[slug]
        assert disabled is (algorithm.valid_ranks(range(6, 7)) == []), slug
        if disabled:
            assert (algorithm.rank_rule.reason_zh or "?").rstrip("。") in text, slug
    assert {disabled for _, disabled, _ in offered} == {True, False}


# ------------------------------------------------------------------------------------ the address


def test_a_link_opens_exactly_its_step(engine: Engine):
    link = "#op=reducescatter&algo=ring&n=8&root=0&round=3"
    path = "reducescatter/ring/n8.json"
    engine.open(tag(RING), hash=link)
    assert engine.evaluate("[p.round, p.rounds]") == [3, 8]
    assert engine.evaluate("p.stateAt(p.round)") == python_state(path, 3)
    linked = picture(engine)
    engine.open(tag(path))
    engine.evaluate("p.round = 3")
    assert picture(engine) == linked


def test_the_address_follows_the_reader_without_filling_the_history(engine: Engine):
    engine.open(tag(RING))
    length = engine.evaluate("history.length")
    engine.choose("通信原语", "reduce")
    engine.wait_for("location.hash.includes('op=reduce&')")
    engine.choose("GPU 数", "8")
    engine.wait_for("location.hash.includes('n=8')")
    engine.choose("根 rank", "3")
    engine.wait_for("location.hash.includes('root=3')")
    engine.click("跳到结尾")
    engine.click("后退一轮")
    engine.wait_for("location.hash.includes('round=2')")
    assert engine.evaluate("history.length") == length
    shown = picture(engine)
    engine.open(tag(RING), hash=engine.evaluate("location.hash"))
    assert engine.evaluate("p.round") == 2
    assert picture(engine) == shown


@pytest.mark.parametrize(
    "hash",
    [
        "#op=nothing&algo=none&n=x&root=-1&round=1e9",
        "#op=allreduce&n=20000&round=99999",
        "#op=allreduce&algo=ring&n=-1&root=77&round=-4",
        "#op=%E0%A4%A&algo=%&n=%00",
        "#op=__proto__&algo=constructor&reduce=toString",
        "#op=<img src=x onerror=window.hurt=1>",
    ],
)
def test_a_malformed_link_falls_back_to_valid_values(hash: str, engine: Engine):
    engine.open(tag(RING), hash=hash)
    assert engine.evaluate("p.querySelector('.cp-problem').hidden")
    assert 2 <= engine.evaluate("p.ranks") <= 16
    assert engine.evaluate("p.round >= 0 && p.round <= p.rounds")
    assert engine.evaluate("window.hurt") is None


def test_a_link_on_the_page_is_followed_and_a_heading_is_left_alone(engine: Engine):
    link = "#op=scatter&algo=flat&n=3&root=0&round=1"
    links = f'<a href="{link}">链接</a><a href="#there">标题</a><h2 id=there>章</h2>'
    engine.open(links + tag(RING))
    engine.click("链接")
    engine.wait_for("p.rounds === 2 && p.round === 1")
    engine.click("标题")
    engine.wait_for("location.hash === '#there'")
    assert engine.evaluate("[p.rounds, p.round]") == [2, 1]


# ------------------------------------------------------------------------------- what may be wrong


def test_a_broken_file_says_its_sentence_and_leaves_the_rest_alone(engine: Engine):
    engine.pages.files["own/cut/n4.json"] = engine.pages.text(RING)[:700]
    engine.pages.files["own/missing/n4.json"] = None
    other = {**engine.pages.data(RING), "version": 2}
    engine.pages.files["own/version/n4.json"] = json.dumps(other)
    names = ("cut", "missing", "version")
    engine.open("".join(tag(f"own/{name}/n4.json", controls=None) for name in names), ready=False)
    engine.wait_for(f"{ALL_PLAYERS}.every((player) => player.hasAttribute('failed'))")
    sentences = engine.evaluate("""[...document.querySelectorAll('[role=alert]')]
        .filter((node) => node.getClientRects().length).map((node) => node.textContent)""")
    for sentence, words in zip(
        sentences,
        ("不是完整的 JSON", "服务器回答 404", "version 应为 1，现在是 2"),
        strict=True,
    ):
        assert sentence.startswith("这个日程不能播放。"), sentence
        assert words in sentence, sentence
    tables = "[...document.querySelectorAll('table')].filter((t) => t.getClientRects().length)"
    assert engine.evaluate(f"{tables}.length") == 3


def test_a_schedule_that_python_refuses_is_never_played(engine: Engine):
    for name, case in CORPUS.items():
        engine.pages.files[f"own/{name}/n4.json"] = as_json(case.schedule)
    body = "".join(tag(f"own/{name}/n4.json", controls=None) for name in CORPUS)
    engine.open(body, ready=False)
    engine.wait_for(f"{ALL_PLAYERS}.every((player) => player.hasAttribute('failed'))")
    assert (
        engine.evaluate(f"""{ALL_PLAYERS}.filter((player) => {{
        player.play();
        return player.playing || player.rounds || player.stateAt(0).length
          || player.querySelector('.cp-stage').getClientRects().length;
    }}).length""")
        == 0
    )


def test_a_request_to_another_host_would_be_noticed(engine: Engine):
    engine.open(tag(RING))
    engine.evaluate("fetch('http://127.0.0.2:9/').catch(() => null)")
    engine.expected_problem("request to another host: http://127.0.0.2:9")


def test_an_error_on_the_page_would_be_noticed(engine: Engine):
    engine.open(tag(RING))
    engine.evaluate("""new Promise((done) => {
        setTimeout(() => { setTimeout(done); throw new Error('thrown on purpose'); });
    })""")
    engine.expected_problem("thrown on purpose")


# -------------------------------------------------------------------------- looks, motion, phones


def test_reduced_motion_steps_without_motion(engine: Engine):
    engine.open(tag("broadcast/binomial/n8.json"), motion="reduce")
    engine.evaluate("""(() => {
        window.moved = 0;
        window.pictures = new Set();
        const svg = p.querySelector('.cp-svg');
        new MutationObserver(() => {
          window.moved += svg.querySelectorAll('.cp-leaving').length;
          window.pictures.add(svg.innerHTML);
        }).observe(svg, { subtree: true, childList: true, attributes: true });
    })()""")
    engine.click("前进一轮")
    assert engine.evaluate("p.round") == 1
    engine.choose("速度", "4")
    engine.click("播放")
    engine.wait_for("p.round === p.rounds && !p.playing")
    assert engine.evaluate("window.moved") == 0
    assert engine.evaluate("window.pictures.size") == 3


COLOURS = """(() => {
    const context = document.createElement('canvas').getContext('2d');
    const plain = (colour) => {
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      return `rgb(${[...context.getImageData(0, 0, 1, 1).data].slice(0, 3).join(', ')})`;
    };
    const of = (css, property) => plain(getComputedStyle(p.querySelector(css))[property]);
    return { ground: of('.cp', 'backgroundColor'), title: of('.cp-title', 'color'),
      words: of('.cp-words', 'color'), number: of('.cp-value', 'fill'),
      fills: [...p.querySelectorAll('.cp-card[data-rank="0"] .cp-fill')]
        .map((node) => plain(getComputedStyle(node).fill)) };
})()"""
"""Colours as any engine paints them, whatever notation it computes them in."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read_in_both_palettes(scheme: str, engine: Engine):
    engine.open(tag("allreduce/ring/n16.json"), scheme=scheme)
    engine.click("跳到结尾")
    engine.wait_for("p.querySelector('.cp-card[data-rank=\"0\"] .cp-fill')")
    colours = engine.evaluate(COLOURS)
    assert (contrast(colours["ground"], "rgb(0, 0, 0)") < 3) is (scheme == "dark")
    for text in ("title", "words"):
        assert contrast(colours[text], colours["ground"]) >= 4.5, text
    assert len(set(colours["fills"])) == 16
    for colour in colours["fills"]:
        assert contrast(colours["number"], colour) >= 4.5, colour


def test_the_palette_of_the_page_wins_and_changes_while_playing(engine: Engine):
    engine.open(f'<div id=page data-md-color-scheme="default">{tag(RING)}</div>')
    engine.click("播放")
    engine.wait_for("p.querySelector('.cp-token:not(.cp-past)')")
    light = engine.evaluate(COLOURS)
    engine.evaluate("document.querySelector('#page').dataset.mdColorScheme = 'slate'")
    dark = engine.evaluate(COLOURS)
    assert contrast(light["ground"], "rgb(0, 0, 0)") > 15
    assert contrast(dark["ground"], "rgb(0, 0, 0)") < 3
    for part in ("title", "words", "number"):
        assert light[part] != dark[part], part
    assert engine.evaluate("p.playing")


@pytest.mark.parametrize("width", [320, 360])
def test_a_phone_shows_everything_without_sideways_scrolling(width: int, engine: Engine):
    engine.open("".join(map(tag, OPENING.values())), width=width, height=800)
    engine.wait_for(f"{ALL_READY} && !document.querySelector('.cp-waiting')")
    assert engine.evaluate("innerWidth") == width
    assert engine.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = engine.evaluate("""
        [...document.querySelectorAll('.cp :is(button, select, [role=slider])')]
          .filter((node) => node.getClientRects().length).map((node) => {
            const { width, height, left, right } = node.getBoundingClientRect();
            return [node.getAttribute('aria-label'), width, height, left, right];
          })""")
    assert len(boxes) >= 8 * 12
    for name, wide, high, left, right in boxes:
        assert wide >= 40, name
        assert high >= 40, name
        assert left >= 0, name
        assert right <= width, name


@pytest.mark.parametrize("width", [360, 1280])
def test_no_step_changes_the_height_of_a_player(width: int, engine: Engine):
    engine.open("".join(map(tag, OPENING.values())), width=width)
    engine.wait_for(f"{ALL_READY} && !document.querySelector('.cp-waiting')")
    heights = engine.evaluate(f"""{ALL_PLAYERS}.map((player) =>
        Array.from({{ length: player.rounds + 1 }}, (_, round) => {{
            player.round = round;
            return player.offsetHeight;
        }}))""")
    for primitive, of_steps in zip(OPENING, heights, strict=True):
        assert len(set(of_steps)) == 1, f"{primitive}: {of_steps}"


def test_a_page_at_rest_can_be_looked_at(engine: Engine):
    engine.open(tag(RING), width=400, height=700)
    image = engine.screenshot()
    assert image.startswith(b"\x89PNG")
    assert [int.from_bytes(image[at : at + 4], "big") for at in (16, 20)] == [400, 700]


def test_the_player_fits_itself_to_a_window_that_changes(engine: Engine):
    engine.open(tag(RING))
    engine.evaluate("p.round = 2")
    engine.resize(360, 800)
    engine.wait_for("p.querySelector('.cp-svg').getBoundingClientRect().width <= 360")
    assert engine.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert engine.evaluate("p.round") == 2


# ------------------------------------------------------------------------------- a player's life


def test_several_players_play_side_by_side(engine: Engine):
    engine.open(tag(SHORT, controls=None) + tag("scatter/flat/n4.json", controls=None) + tag(RING))
    engine.wait_for(ALL_READY)
    engine.choose("速度", "4", inside="collective-player:nth-of-type(1)")
    engine.click("播放", inside="collective-player:nth-of-type(1)")
    engine.wait_for("p.round === 1 && !p.playing")
    engine.click("跳到结尾", inside="collective-player:nth-of-type(2)")
    assert engine.evaluate(f"{ALL_PLAYERS}.map((player) => player.round)") == [1, 3, 0]
    ids = engine.evaluate("[...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(ids) == len(set(ids))


def test_a_player_that_is_taken_out_and_put_back_lives_on(engine: Engine):
    engine.open(tag(RING) + "<section></section>")
    engine.evaluate("p.round = 3")
    before = picture(engine)
    engine.evaluate("(window.kept = p, p.remove())")
    assert engine.evaluate("p") is None
    engine.evaluate("document.querySelector('section').append(window.kept)")
    assert engine.evaluate("[p.round, p.rounds, p.querySelectorAll('.cp').length]") == [3, 6, 1]
    assert picture(engine) == before
    engine.choose("速度", "4")
    engine.click("前进一轮")
    engine.wait_for("p.round === 4")
    engine.choose("GPU 数", "5")
    engine.wait_for("p.ranks === 5")


def test_a_player_that_is_put_into_the_page_later_plays(engine: Engine):
    engine.open("<section></section>", ready=False)
    engine.evaluate(f"document.querySelector('section').innerHTML = {json.dumps(tag(RING))}")
    engine.wait_for("p.hasAttribute('ready')")
    engine.click("跳到结尾")
    assert engine.evaluate("p.stateAt(p.round)") == last_state(RING)


def test_a_copy_of_a_player_plays_by_itself(engine: Engine):
    engine.open(tag(RING, controls=None))
    engine.evaluate("document.body.append(p.cloneNode(true))")
    engine.wait_for(f"{ALL_PLAYERS}[1].rounds === 6")
    engine.click("跳到结尾", inside="collective-player:last-of-type")
    assert engine.evaluate(f"{ALL_PLAYERS}.map((player) => player.round)") == [0, 6]
