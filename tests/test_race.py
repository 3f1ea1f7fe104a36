"""The race of algorithms: what it says is what Python counts, and a reader can drive all of it."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

import race_macros
from article import Article
from built_site import Site
from collectives.algorithms import REGISTRY, algorithms_of
from collectives.cost import count_cost, round_costs
from collectives.primitives import PRIMITIVES
from conftest import Visitor
from engines import Engine
from generate_schedules import published_ranks
from panel_page import CONTROLS, axe_faults, open_panel, panel, scrolls_sideways, too_small
from player_bench import COUNT_FRAMES, ROOT, Bench, tag
from race_macros import Lane, Machine, time_text
from site_macros import Page as SitePage
from site_macros import PageError

LEDGER = Machine(Fraction(5, 10**6), Fraction(50 * 10**9))
MB = Fraction(10**6)
RUNNERS = "ring recursive_doubling rabenseifner"
COMPARE = SitePage("compare.md", "compare/", ROOT / "docs")
SCRIPT = '<script type="module" src="/assets/js/collective-race.js"></script>'


def race(primitive: str = "allreduce", ranks: int = 8, algorithms: str = RUNNERS) -> str:
    """A race as a page writes it."""
    return (
        f'<collective-race catalog="schedules/catalog.json" primitive="{primitive}" '
        f'ranks="{ranks}" algorithms="{algorithms}"><table><tr><td>后备表格</td></tr></table>'
        "</collective-race>"
    )


def start(bench: Bench, body: str | None = None, **options: object) -> Page:
    page = bench.open(SCRIPT + (body or race()), **options)  # type: ignore[arg-type]
    expect(page.locator("collective-race:not([ready])")).to_have_count(0)
    return page


def button(page: Page | Locator, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def typed(page: Page, name: str, text: str) -> None:
    field = page.get_by_role("textbox", name=name)
    field.fill(text)
    field.press("Enter")


def table(page: Page, number: int) -> list[list[str]]:
    """The cells of a table below 「用表格看」, without its head."""
    rows = page.locator(".race-table").nth(number).locator("tbody tr").all()
    return [row.locator("th, td").all_text_contents() for row in rows]


def lanes_of(primitive: str, ranks: int, slugs: str) -> list[Lane]:
    entries = [REGISTRY[f"{primitive}/{slug}"] for slug in slugs.split()]
    return [Lane(entry.title_zh, count_cost(entry.schedule(ranks))) for entry in entries]


def words(lanes: list[Lane], machine: Machine, size: Fraction, ranks: int) -> str:
    return race_macros.order_sentence(lanes, machine, size, ranks)


# --------------------------------------------------------------------- the same numbers as Python


@pytest.mark.parametrize("primitive", PRIMITIVES)
@pytest.mark.parametrize("ranks", [6, 8])
def test_order_crossings_and_tables_are_what_python_counts(bench, primitive: str, ranks: int):
    able = [a.slug for a in algorithms_of(primitive) if ranks in published_ranks(a)]
    slugs = " ".join(able[-4:])
    page = start(bench, race(primitive, ranks, slugs))
    lanes = lanes_of(primitive, ranks, slugs)
    expect(page.locator(".race-order")).to_have_text(words(lanes, LEDGER, MB, ranks))
    assert page.locator(".race-crossings li").all_text_contents() == (
        race_macros.crossing_sentences(lanes, LEDGER)
    )
    places = sorted(lane.seconds(LEDGER, MB) for lane in lanes)
    assert table(page, 0) == [
        [
            f"{'ABCD'[index]} {lane.name}",
            str(lane.cost.rounds),
            race_macros.share_text(lane.cost.beta),
            time_text(lane.seconds(LEDGER, MB)),
            str(places.index(lane.seconds(LEDGER, MB)) + 1),
        ]
        for index, lane in enumerate(lanes)
    ]
    assert table(page, 2) == [
        [race_macros.size_text(Fraction(size))]
        + [time_text(lane.seconds(LEDGER, Fraction(size))) for lane in lanes]
        for size in (10**power for power in range(3, 11))
    ]


def test_every_round_of_the_table_is_the_round_that_python_counts(bench):
    page = start(bench)
    rounds = {}
    for name, which, share, each in table(page, 1):
        first, last = (re.findall(r"\d+", which) * 2)[:2]
        for number in range(int(first), int(last) + 1):
            rounds[name[2:], number] = (share, each)
    counted = {}
    for slug in RUNNERS.split():
        entry = REGISTRY[f"allreduce/{slug}"]
        for number, cost in enumerate(round_costs(entry.schedule(8)), 1):
            seconds = LEDGER.alpha + cost.beta * MB / LEDGER.bandwidth
            counted[entry.title_zh, number] = (
                race_macros.share_text(cost.beta),
                time_text(seconds),
            )
    assert rounds == counted


def test_the_words_follow_the_machine_and_m(bench):
    page = start(bench)
    typed(page, "数据量 M", "64 KB")
    typed(page, "时延 α", "20")
    typed(page, "带宽 1/β", "100 Gb/s")
    machine = Machine(Fraction(20, 10**6), Fraction(125 * 10**8))
    lanes = lanes_of("allreduce", 8, RUNNERS)
    expect(page.locator(".race-order")).to_have_text(words(lanes, machine, Fraction(64_000), 8))
    expect(page.locator(".race-crossings li").first).to_have_text(
        race_macros.crossing_sentences(lanes, machine)[0]
    )


def test_the_bars_are_as_long_as_their_rounds_count(bench):
    page = start(bench)
    lengths = page.evaluate("""[...document.querySelectorAll('.race-bars-done')].map((svg) => {
        const whole = svg.getBoundingClientRect().width;
        return [...svg.firstChild.getAttribute('d').matchAll(/M([\\d.]+) 0h([\\d.]+)/g)]
          .map(([, x, w]) => [Number(x) / whole, Number(w) / whole]);
    })""")
    lanes = lanes_of("allreduce", 8, RUNNERS)
    slowest = max(lane.seconds(LEDGER, MB) for lane in lanes)
    for slug, drawn in zip(RUNNERS.split(), lengths, strict=True):
        costs = round_costs(REGISTRY[f"allreduce/{slug}"].schedule(8))
        assert len(drawn) == len(costs)
        begin = Fraction(0)
        for (at, width), cost in zip(drawn, costs, strict=True):
            part = (LEDGER.alpha + cost.beta * MB / LEDGER.bandwidth) / slowest
            assert at == pytest.approx(float(begin), abs=0.002)
            # Two pixels are the gap between two rounds.
            assert width == pytest.approx(float(part), abs=0.005)
            begin += part


# ------------------------------------------------------------------------------ driving the race


def test_the_buttons_stop_at_the_end_of_every_round(bench):
    page = start(bench)
    standing = page.locator(".race-standing")
    button(page, "前进到下一个轮末").click()
    expect(standing).to_have_text(
        "7.5 µs：环形走完 1 / 14 轮；递归倍增走完 0 / 3 轮；折半再倍增走完 0 / 6 轮。"
    )
    button(page, "跳到结尾").click()
    expect(standing).to_have_text(
        "105 µs：环形到了（第 3）；递归倍增到了（第 2）；折半再倍增到了（第 1）。"
    )
    button(page, "退回上一个轮末").click()
    expect(standing).to_contain_text("环形走完 13 / 14 轮")
    button(page, "回到开头").click()
    expect(standing).to_contain_text("还没有出发")


def test_playing_reaches_the_end_says_who_arrived_and_rests(bench):
    page = start(bench, clock=True, script=COUNT_FRAMES)
    page.clock.pause_at(3_600_000)
    button(page, "播放").click()
    page.clock.run_for(4000)
    expect(page.locator(".race-time")).to_contain_text("/ 105 µs")
    assert page.locator(".race-lane.race-arrived").count() == 0
    page.clock.run_for(1400)
    expect(page.locator(".race-lane.race-arrived")).to_have_count(1)
    expect(page.locator(".race-standing")).to_contain_text("折半再倍增到了（第 1）")
    page.clock.run_for(6000)
    expect(page.locator(".race-lane.race-arrived")).to_have_count(3)
    expect(button(page, "播放")).to_be_focused()
    frames = page.evaluate("window.frames")
    page.clock.run_for(1000)
    assert page.evaluate("window.frames") == frames


def test_no_frame_is_asked_for_while_the_race_stands_or_is_out_of_sight(bench):
    page = start(bench, race() + '<div style="height: 4000px"></div>', script=COUNT_FRAMES)
    assert page.evaluate("quiet()")
    button(page, "播放").click()
    page.wait_for_function("frames > 3")
    page.evaluate("scrollTo(0, 4000)")
    page.wait_for_function("quiet()")


def test_with_reduced_motion_the_playhead_only_stands_at_ends_of_rounds(bench):
    page = start(bench, motion="reduce", clock=True)
    page.clock.pause_at(3_600_000)
    button(page, "播放").click()
    seen = set()
    for _ in range(30):
        page.clock.run_for(100)
        seen.add(page.locator(".race-time").inner_text().split(" / ")[0])
    ends = {Fraction(0)}
    for slug in RUNNERS.split():
        now = Fraction(0)
        for cost in round_costs(REGISTRY[f"allreduce/{slug}"].schedule(8)):
            now += LEDGER.alpha + cost.beta * MB / LEDGER.bandwidth
            ends.add(now)
    assert len(seen) > 3
    assert seen <= {time_text(end) for end in ends}


def test_the_playhead_is_dragged_with_the_mouse_and_moved_with_keys(bench):
    page = start(bench)
    track = page.locator(".race-track").first.bounding_box()
    assert track
    y = track["y"] + 10
    page.mouse.move(track["x"] + track["width"] * 0.9, y)
    page.mouse.down()
    page.mouse.move(track["x"] + track["width"] * 0.5, y, steps=4)
    page.mouse.up()
    expect(page.locator(".race-time")).to_have_text("52.5 µs / 105 µs")
    head = page.get_by_role("slider", name="时刻")
    expect(head).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(head).to_have_attribute("aria-valuetext", "60 µs")
    page.keyboard.press("Home")
    expect(head).to_have_attribute("aria-valuetext", "0")
    page.keyboard.press("End")
    expect(head).to_have_attribute("aria-valuetext", "105 µs")
    page.keyboard.press(" ")
    expect(button(page, "暂停")).to_be_visible()


def test_m_is_dragged_on_the_plot_and_moved_with_keys(bench):
    page = start(bench)
    handle = page.get_by_role("slider", name="数据量 M", exact=True)
    plot = page.locator(".race-plot").bounding_box()
    assert plot
    page.mouse.move(plot["x"] + 200, plot["y"] + 100)
    page.mouse.down()
    page.mouse.move(plot["x"] + 62, plot["y"] + 100, steps=3)
    page.mouse.up()
    expect(handle).to_have_attribute("aria-valuetext", "1 KB")
    expect(handle).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(handle).to_have_attribute("aria-valuetext", "1.1 KB")
    page.keyboard.press("PageUp")
    expect(handle).to_have_attribute("aria-valuetext", "11 KB")
    page.keyboard.press("End")
    expect(handle).to_have_attribute("aria-valuetext", "10 GB")
    expect(page.get_by_role("textbox", name="数据量 M")).to_have_value("10 GB")
    lanes = lanes_of("allreduce", 8, RUNNERS)
    expect(page.locator(".race-order")).to_have_text(words(lanes, LEDGER, Fraction(10**10), 8))


def test_sliders_move_by_keys_and_say_their_value(bench):
    page = start(bench)
    slider = page.get_by_role("slider", name="时延 α，滑块")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "5.6 µs")
    expect(page.get_by_role("textbox", name="时延 α")).to_have_value("5.6 µs")
    expect(page.get_by_label("预设")).to_have_value("")


@pytest.mark.parametrize(
    ("typing", "value"),
    [("1e30", "10 GB"), ("0.2", "200 KB"), ("3 B", "1 KB"), ("abc", "1 MB"), ("-5", "1 MB")],
)
def test_a_typed_number_is_clamped_and_nonsense_changes_nothing(bench, typing: str, value: str):
    page = start(bench)
    typed(page, "数据量 M", typing)
    expect(page.get_by_role("textbox", name="数据量 M")).to_have_value(value)


def test_a_preset_sets_the_machine_and_names_its_sources(bench):
    page = start(bench)
    page.get_by_label("预设").select_option(label="InfiniBand 类")
    expect(page.get_by_role("textbox", name="时延 α")).to_have_value("14 µs")
    expect(page.get_by_role("textbox", name="带宽 1/β")).to_have_value("50 GB/s")
    links = page.locator(".race-source a")
    assert links.count() == 2
    for link in links.all():
        assert (link.get_attribute("href") or "").startswith("https://")
    machine = Machine(Fraction(14, 10**6), LEDGER.bandwidth)
    lanes = lanes_of("allreduce", 8, RUNNERS)
    expect(page.locator(".race-order")).to_have_text(words(lanes, machine, MB, 8))


@pytest.mark.parametrize("machine", race_macros._machines(COMPARE), ids=lambda m: m["slug"])
def test_a_preset_is_known_again_from_an_address(bench, machine: dict[str, Any]):
    numbers = f"alpha={machine['microseconds']}&bw={machine['gigabytes']}"
    page = start(bench, hash=f"#race=allreduce&n=8&algos=ring+rabenseifner&{numbers}")
    expect(page.get_by_label("预设")).to_have_value(machine["slug"])
    typed(page, "时延 α", "77")
    expect(page.get_by_label("预设")).to_have_value("")
    typed(page, "时延 α", f"{machine['microseconds']} us")
    expect(page.get_by_label("预设")).to_have_value(machine["slug"])


# --------------------------------------------------------------------------------- choosing lanes


def test_two_to_four_race_and_the_boxes_say_why_no_other_can(bench):
    page = start(bench)
    page.get_by_label("单步直达").check()
    expect(page.locator(".race-lane")).to_have_count(4)
    fifth = page.get_by_label("两步直达")
    fifth.click()
    expect(fifth).not_to_be_checked()
    expect(page.locator(".race-pick", has_text="两步直达")).to_contain_text("最多 4 个")
    for name in ("单步直达", "环形"):
        page.get_by_label(name).uncheck()
    expect(page.locator(".race-lane")).to_have_count(2)
    page.get_by_label("递归倍增").click()
    expect(page.get_by_label("递归倍增")).to_be_checked()
    expect(page.locator(".race-pick", has_text="递归倍增")).to_contain_text("至少 2 个")


def test_an_algorithm_that_does_not_have_this_n_is_shown_disabled_with_the_reason(bench):
    page = start(bench, race("allgather", 8, "recursive_doubling bruck ring"))
    page.get_by_label("GPU 数").select_option("6")
    expect(page.locator(".race-lane")).to_have_count(2)
    pick = page.locator(".race-pick", has_text="递归倍增")
    expect(pick.locator("input")).to_be_disabled()
    expect(pick).to_contain_text("N 不是 2 的幂")
    page.get_by_label("GPU 数").select_option("8")
    expect(page.locator(".race-lane")).to_have_count(3)


def test_another_primitive_brings_its_own_algorithms(bench):
    page = start(bench)
    page.get_by_label("通信原语").select_option("broadcast")
    expect(page.locator(".race-title")).to_contain_text("Broadcast")
    entries = algorithms_of("broadcast")
    expect(page.locator(".race-pick")).to_have_count(len(entries))
    lanes = lanes_of("broadcast", 8, " ".join(a.slug for a in entries[:2]))
    expect(page.locator(".race-order")).to_have_text(words(lanes, LEDGER, MB, 8))


def test_when_loads_overlap_the_last_choice_is_what_races(bench):
    page = start(bench)
    slow = "allreduce/ring/n16.json"
    bench.held[slow] = []
    page.get_by_label("GPU 数").select_option("16")
    page.get_by_label("GPU 数").select_option("4")
    expect(page.locator(".race-order")).to_contain_text("4 个 GPU")
    bench.release(slow)
    page.wait_for_timeout(100)
    expect(page.locator(".race-order")).to_contain_text("4 个 GPU")


def test_a_file_that_is_missing_is_said_in_place_and_the_choice_can_be_changed(bench):
    bench.files["allreduce/ring/n16.json"] = None
    page = start(bench)
    page.get_by_label("GPU 数").select_option("16")
    expect(page.get_by_role("alert")).to_contain_text("服务器回答 404")
    page.get_by_label("GPU 数").select_option("8")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator(".race-lane")).to_have_count(3)


def test_without_a_catalogue_the_table_stays_and_a_sentence_says_why(bench):
    bench.files["catalog.json"] = "{}"
    page = bench.open(SCRIPT + race())
    expect(page.get_by_role("alert")).to_contain_text("catalog.json")
    expect(page.get_by_text("后备表格")).to_be_visible()


# -------------------------------------------------------------------------------------- the address


def test_the_address_carries_the_race_and_opens_it_again(bench):
    page = start(bench)
    assert page.evaluate("location.hash") == ""
    page.get_by_label("环形").uncheck()
    typed(page, "时延 α", "3.4")
    button(page, "前进到下一个轮末").click()
    page.wait_for_function("location.hash.includes('stop=1')")
    address = page.evaluate("location.hash")
    assert address == (
        "#race=allreduce&n=8&algos=recursive_doubling+rabenseifner&m=1000000&alpha=3.4&bw=50&stop=1"
    )
    again = start(bench, hash=address)
    for part in (".race-order", ".race-standing"):
        expect(again.locator(part)).to_have_text(page.locator(part).inner_text())


def test_an_address_that_is_followed_on_the_page_changes_the_race(bench):
    page = start(bench)
    page.evaluate("location.hash = '#race=allgather&n=4&algos=ring+bruck&m=5000&stop=2'")
    lanes = lanes_of("allgather", 4, "ring bruck")
    expect(page.locator(".race-order")).to_have_text(words(lanes, LEDGER, Fraction(5000), 4))


@pytest.mark.parametrize(
    "hash",
    [
        "#race=",
        "#race=constructor&n=-1&m=1e999&algos=__proto__",
        "#race=allreduce&n=20000&algos=ring+ring+ring+ring+ring&alpha=0&bw=9e99&stop=999999",
        "#race=<img src=x onerror=alert(1)>&algos=<b>",
    ],
)
def test_an_address_that_makes_no_sense_falls_back_to_a_valid_race(bench, hash: str):
    page = start(bench, hash=hash)
    assert 2 <= page.locator(".race-lane").count() <= 4
    assert page.locator("collective-race :is(img, b)").count() == 0


def test_a_player_with_choices_keeps_the_address_for_itself(bench):
    page = start(bench, tag("allreduce/ring/n4.json") + race())
    typed(page, "数据量 M", "5 KB")
    expect(page.locator(".race-order")).to_contain_text("5 KB")
    page.wait_for_timeout(600)
    assert "race=" not in page.evaluate("location.hash")


def test_several_races_on_a_page_are_apart_and_only_the_first_writes_the_address(bench):
    page = start(bench, race() + race("broadcast", 4, "binomial flat"))
    second = page.locator("collective-race").nth(1)
    button(second, "跳到结尾").click()
    expect(second.locator(".race-arrived")).to_have_count(2)
    expect(page.locator("collective-race").first.locator(".race-arrived")).to_have_count(0)
    page.wait_for_timeout(600)
    assert page.evaluate("location.hash") == ""


def test_a_race_that_is_moved_or_copied_works_on(bench):
    page = start(bench)
    typed(page, "数据量 M", "5 KB")
    page.evaluate("""(() => {
        const race = document.querySelector('collective-race');
        const box = document.createElement('div');
        box.id = 'moved';
        document.body.append(box, race.cloneNode(true));
        box.append(race);
    })()""")
    expect(page.locator("collective-race[ready]")).to_have_count(2)
    expect(page.locator(".race")).to_have_count(2)
    expect(page.locator("#moved .race-order")).to_contain_text("5 KB")
    for number in (0, 1):
        box = page.locator("collective-race").nth(number)
        button(box, "跳到结尾").click()
        expect(box.locator(".race-arrived")).to_have_count(3)


def test_a_race_that_left_the_page_leaves_nothing_running(bench):
    page = start(bench, script=COUNT_FRAMES)
    button(page, "播放").click()
    page.wait_for_function("frames > 3")
    page.evaluate("document.querySelector('collective-race').remove()")
    assert page.evaluate("quiet()")


# ---------------------------------------------------------------------------------- for everyone


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_it_fits_its_window_violates_no_wcag_and_has_targets_for_a_finger(
    bench, scheme: str, width: int
):
    page = start(bench, width=width, scheme=scheme)
    if scheme == "dark":
        page.add_style_tag(content="body { background: #0b1020 }")
    page.locator(".race-details summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = page.evaluate("""[...document.querySelectorAll(
        '.race :is(button, select, input[type=text], input[type=range], summary, .race-pick)')]
      .filter((node) => node.getBoundingClientRect().height < 44).map((node) => node.outerHTML)""")
    assert small == []
    found = Axe().run(
        page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
    )
    ours = [v for v in found.response["violations"] if v["id"] != "document-title"]
    assert ours == [], found.generate_report()


def test_a_tap_on_the_plot_sets_m(bench):
    context = bench.browser.new_context(has_touch=True, viewport={"width": 390, "height": 844})
    bench.contexts.append(context)
    bench.body = SCRIPT + race()
    page = context.new_page()
    page.route("**/*", bench._answer)
    page.goto("http://player.test/")
    page.locator("collective-race[ready]").wait_for()
    page.locator(".race-plot").scroll_into_view_if_needed()
    box = page.locator(".race-plot").bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + box["width"] - 30, box["y"] + 120)
    expect(page.get_by_role("textbox", name="数据量 M")).to_have_value("10 GB")


def test_lanes_differ_by_letter_and_dash_not_by_colour_alone(bench):
    page = start(bench, race("allreduce", 8, f"{RUNNERS} one_shot"))
    letters = page.locator(".race-letter").all_inner_texts()
    assert letters == list("ABCD")
    assert sorted(page.locator(".race-line-letter").all_text_contents()) == letters
    dashes = page.evaluate("""[...document.querySelectorAll('.race-line')]
        .map((line) => getComputedStyle(line).strokeDasharray)""")
    assert len(set(dashes)) == 4


def test_the_words_are_in_a_polite_live_region(bench):
    page = start(bench)
    expect(page.locator(".race-words")).to_have_attribute("aria-live", "polite")
    assert page.locator(".race-words > p").count() == 2


def test_without_scripts_the_table_of_results_is_there(visit: Visitor):
    page = visit("compare/", javascript=False)
    text = page.locator("collective-race table").inner_text()
    for lane in lanes_of("allreduce", 8, RUNNERS):
        assert lane.name in text
        assert time_text(lane.seconds(LEDGER, MB)) in text


# ------------------------------------------------------------------------- the panel of a player


def test_the_panel_races_what_the_player_shows_with_its_algorithm_first(bench):
    page = open_panel(bench, "allreduce/double_binary_tree/n8.json", "比较")
    expect(panel(page).locator(".race-zh").first).to_have_text("双二叉树")
    slugs = "double_binary_tree ring reduce_broadcast"
    lanes = lanes_of("allreduce", 8, slugs)
    expect(panel(page).locator(".race-order")).to_have_text(words(lanes, LEDGER, MB, 8))
    page.get_by_label("GPU 数").first.select_option("6")
    lanes = lanes_of("allreduce", 6, slugs)
    expect(panel(page).locator(".race-order")).to_have_text(words(lanes, LEDGER, MB, 6))


def test_keys_in_the_panel_do_not_move_the_player(bench):
    page = open_panel(bench, "allreduce/ring/n4.json", "比较")
    head = panel(page).get_by_role("slider", name="时刻")
    head.press("ArrowRight")
    expect(head).not_to_have_attribute("aria-valuetext", "0")
    head.press("End")
    field = panel(page).get_by_role("textbox", name="数据量 M")
    field.press("ArrowLeft")
    field.press(" ")
    assert page.evaluate("document.querySelector('collective-player').round") == 0
    assert page.evaluate("document.querySelector('collective-player').playing") is False
    field.press("Escape")
    expect(panel(page)).to_have_count(0)
    expect(button(page, "更多")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_panel_fits_a_phone_and_violates_no_wcag(bench, scheme: str):
    page = open_panel(bench, "allreduce/ring/n8.json", "比较", scheme, width=320)
    page.locator(".race-lane").first.wait_for()
    assert not scrolls_sideways(page)
    assert too_small(page) == []
    assert axe_faults(page) == []


# ------------------------------------------------------------------------------ in every engine


def opened(engine: Engine, body: str | None = None, **options: object) -> None:
    """Open a race in an engine and wait until it is drawn."""
    engine.open(SCRIPT + (body or race()), ready=False, **options)  # type: ignore[arg-type]
    engine.wait_for("document.querySelector('collective-race[ready]')")


def said(engine: Engine, css: str) -> str:
    return str(engine.evaluate(f"document.querySelector('{css}').textContent"))


def test_every_engine_says_what_python_counts(engine: Engine):
    opened(engine)
    lanes = lanes_of("allreduce", 8, RUNNERS)
    assert said(engine, ".race-order") == words(lanes, LEDGER, MB, 8)
    crossings = "".join(race_macros.crossing_sentences(lanes, LEDGER))
    assert said(engine, ".race-crossings") == crossings


def test_the_race_plays_to_its_end_in_every_engine(engine: Engine):
    opened(engine)
    engine.click("播放")
    engine.wait_for("document.querySelector('.race-time').textContent[0] !== '0'")
    engine.click("暂停")
    assert engine.evaluate("document.querySelectorAll('.race-arrived').length") < 3
    engine.click("跳到结尾")
    engine.wait_for("document.querySelectorAll('.race-arrived').length === 3")
    engine.click("回到开头")
    engine.click("前进到下一个轮末")
    assert said(engine, ".race-time") == "7.5 µs / 105 µs"


@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "touch"])
def test_playhead_and_m_are_dragged_in_every_engine(engine: Engine, touch: bool):
    opened(engine, width=800)
    start_, end = (engine.point(css=".race-track", at=(part, 0.5)) for part in (0.9, 0.5))
    engine.drag([start_, end], touch=touch)
    assert said(engine, ".race-time").endswith("/ 105 µs")
    at = float(said(engine, ".race-time").split(" ")[0])
    assert at == pytest.approx(52.5, abs=0.6)
    engine.point(css=".race-plot", at=(0.5, 0.4))
    places = [engine.point(css=".race-plot", at=(part, 0.4)) for part in (0.5, 0.7, 0.99)]
    engine.drag(places, touch=touch)
    lanes = lanes_of("allreduce", 8, RUNNERS)
    wanted = words(lanes, LEDGER, Fraction(10**10), 8)
    engine.wait_for(f"document.querySelector('.race-order').textContent === '{wanted}'")


def test_the_keyboard_alone_is_enough_in_every_engine(engine: Engine):
    opened(engine)
    value = "document.activeElement.getAttribute('aria-valuetext')"
    engine.focus("时刻")
    engine.press("ArrowRight", "ArrowRight")
    assert engine.evaluate(value) == "15 µs"
    engine.press("End")
    assert engine.evaluate(value) == "105 µs"
    engine.focus("数据量 M", css=".race-handle")
    engine.press("Home", "ArrowRight")
    assert engine.evaluate(value) == "1.1 KB"
    engine.focus("时延 α，滑块")
    engine.press("ArrowRight")
    assert engine.evaluate(value) == "5.6 µs"
    engine.focus("带宽 1/β")
    engine.evaluate("document.activeElement.select()")
    engine.press("8", "Enter")
    assert engine.evaluate("document.activeElement.value") == "8 GB/s"
    machine = Machine(Fraction(56, 10**7), Fraction(8 * 10**9))
    wanted = words(lanes_of("allreduce", 8, RUNNERS), machine, Fraction(1100), 8)
    engine.wait_for(f"document.querySelector('.race-order').textContent === '{wanted}'")


def test_an_address_opens_its_race_in_every_engine(engine: Engine):
    opened(engine, hash="#race=allgather&n=4&algos=ring+bruck&m=5000&alpha=20&bw=10&stop=2")
    machine = Machine(Fraction(20, 10**6), Fraction(10**10))
    lanes = lanes_of("allgather", 4, "ring bruck")
    assert said(engine, ".race-order") == words(lanes, machine, Fraction(5000), 4)
    assert not said(engine, ".race-time").startswith("0 ")


def test_the_panel_opens_in_every_engine(engine: Engine):
    engine.open(tag("allreduce/rabenseifner/n8.json", CONTROLS))
    engine.click("更多")
    engine.click("比较")
    engine.wait_for("document.querySelectorAll('.cp-side .race-lane').length === 3")
    assert said(engine, ".cp-side .race-zh") == "折半再倍增"
    engine.press("Escape")
    engine.wait_for("!document.querySelector('.race')")


# ------------------------------------------------------------------------------------ on the site


def test_the_page_says_in_words_what_its_race_shows(site: Site, visit: Visitor):
    page = visit("compare/")
    page.locator("collective-race[ready]").wait_for()
    prose = [element.text for element in Article(site.file("compare/").read_text("utf-8")).prose]
    for sentence in [
        page.locator(".race-order").inner_text(),
        *page.locator(".race-crossings li").all_inner_texts(),
    ]:
        assert sentence in prose


def test_the_race_lives_through_instant_navigation(visit: Visitor):
    page = visit("terminology/")
    page.evaluate("window.sameDocument = true")
    page.locator(".md-tabs").get_by_text("比较").click()
    page.locator("collective-race[ready]").wait_for()
    assert page.evaluate("window.sameDocument") is True
    button(page, "跳到结尾").click()
    expect(page.locator(".race-arrived")).to_have_count(3)
    page.locator(".md-tabs").get_by_text("参考").click()
    expect(page.locator("collective-race")).to_have_count(0)
    page.wait_for_timeout(600)
    assert "race=" not in page.evaluate("location.hash")


def test_a_link_to_a_race_on_the_page_opens_that_race(visit: Visitor):
    page = visit("compare/#race=broadcast&n=4&algos=binomial+flat&m=64000")
    lanes = lanes_of("broadcast", 4, "binomial flat")
    expect(page.locator(".race-order")).to_have_text(words(lanes, LEDGER, Fraction(64_000), 4))


@pytest.mark.parametrize(
    "asked",
    [
        {"algorithms": "ring"},
        {"algorithms": "ring ring"},
        {"algorithms": "ring nonsense"},
        {"ranks": 17},
    ],
)
def test_a_race_that_cannot_be_held_stops_the_build(asked: dict[str, object]):
    arguments = {"primitive": "allreduce", "ranks": 8, "algorithms": RUNNERS, **asked}
    with pytest.raises(PageError, match=r"compare\.md"):
        race_macros.race(COMPARE, **arguments)  # type: ignore[arg-type]


def test_a_machine_that_nobody_knows_stops_the_build():
    with pytest.raises(PageError, match="nvlink"):
        race_macros.race_crossings(COMPARE, "allreduce", 8, RUNNERS, machine="abacus")


def test_the_first_machine_of_the_list_is_the_one_that_pages_count_with():
    assert race_macros.machine_named(COMPARE, race_macros.LEDGER) == LEDGER
