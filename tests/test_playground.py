"""The 演练场: what a reader brings is checked, explained and played, and stays where it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from broken_schedules import CORPUS, as_json
from built_site import Site
from collectives.algorithms import REGISTRY
from collectives.cost import count_cost
from collectives.primitives import PRIMITIVES
from collectives.prove import ProofError, prove
from collectives.serialize import schedule_from_json
from conftest import Visitor
from engines import Engine
from generate_schedules import DEFAULT_OUTPUT
from player_bench import Bench
from player_node import TESTS, node
from schedule_macros import TRAFFIC

MODULE = '<script type="module" src="/assets/js/schedule-playground.js"></script>'
BODY = (
    f"{MODULE}<main><h1>演练场</h1>"
    '<schedule-playground catalog="schedules/catalog.json"><p>要用脚本</p></schedule-playground>'
    "</main>"
)
RING = "allreduce/ring/n4.json"

RULES = json.loads(
    node(
        "--input-type=module",
        "-e",
        "import { RULES } from '../../docs/assets/js/whatif.js';"
        "process.stdout.write(JSON.stringify(RULES));",
        schedules=DEFAULT_OUTPUT,
    ).stdout
)
"""What each rule is called."""


def open_playground(bench: Bench, **options: Any) -> Page:
    """The page as it opens: with a published schedule in it, checked."""
    page = bench.open(BODY, **options)
    page.locator("schedule-playground[ready]").wait_for()
    expect(verdict(page)).to_have_attribute("data-kind", "right")
    return page


def verdict(page: Page) -> Locator:
    return page.get_by_role("status").and_(page.locator(".pg-verdict"))


def source(page: Page) -> Locator:
    return page.get_by_label("日程文件的内容", exact=True)


def write(page: Page, text: str) -> None:
    """Write a text as a reader pastes one, and wait until it is checked."""
    page.evaluate("document.querySelector('.pg-verdict').dataset.kind = 'stale'")
    source(page).fill(text)
    page.wait_for_function("document.querySelector('.pg-verdict').dataset.kind !== 'stale'")


def kind(page: Page) -> str | None:
    return verdict(page).get_attribute("data-kind")


def damaged(bench: Bench, change: Callable[[dict[str, Any]], object], path: str = RING) -> str:
    data = bench.data(path)
    change(data)
    return json.dumps(data, ensure_ascii=False)


# ----------------------------------------------------------------------------------- what is right


def test_it_opens_with_a_schedule_that_can_be_played(bench: Bench):
    page = open_playground(bench)
    assert json.loads(source(page).input_value()) == bench.data(RING)
    page.get_by_role("button", name="跳到结尾").click()
    assert page.evaluate("document.querySelector('collective-player').round") == 6


@pytest.mark.parametrize("name", ["allreduce/ring", "allreduce/one_shot", "scatter/binomial"])
def test_the_costs_are_those_that_python_counts_beside_its_bounds(bench: Bench, name: str):
    def words(amount: Fraction) -> str:
        return "0" if amount == 0 else "M" if amount == 1 else f"{amount} M"

    page = open_playground(bench)
    write(page, bench.text(f"{name}/n8.json"))
    schedule = REGISTRY[name].schedule(8)
    cost, bound = count_cost(schedule), PRIMITIVES[schedule.primitive].lower_bound(8)
    expected = [["轮数", str(cost.rounds), str(bound.rounds)]]
    expected.append([TRAFFIC, words(cost.beta), words(bound.beta)])
    if PRIMITIVES[schedule.primitive].reduces:
        expected.append(["归约量", words(cost.gamma), words(bound.gamma)])
    rows = page.locator(".pg-costs tbody tr").all()
    cells = [row.locator("th, td").all_inner_texts() for row in rows]
    assert [row[:3] for row in cells] == expected
    pairs: list[tuple[Fraction, Fraction]] = [
        (Fraction(cost.rounds), Fraction(bound.rounds)),
        (cost.beta, bound.beta),
        (cost.gamma, bound.gamma),
    ]
    for (counted, least), (*_, said) in zip(pairs, cells, strict=False):
        assert ("达到下界" in said) is (counted == least)
        assert ("比单端口的下界还少" in said) is (counted < least)


def test_the_bounds_are_pythons(bench: Bench):
    result = node(
        "--input-type=module",
        "-e",
        "import { lowerBound } from '../../docs/assets/js/bounds.js';"
        f"const slugs = {json.dumps(list(PRIMITIVES))};"
        "const ranks = Array.from({ length: 63 }, (_, i) => i + 2);"
        "process.stdout.write(JSON.stringify("
        "slugs.map((slug) => ranks.map((n) => lowerBound(slug, n)))));",
        schedules=bench.schedules,
    )
    for slug, answers in zip(PRIMITIVES, json.loads(result.stdout), strict=True):
        for n, answer in enumerate(answers, start=2):
            bound = PRIMITIVES[slug].lower_bound(n)
            assert answer["rounds"] == bound.rounds, (slug, n)
            assert Fraction(*answer["beta"]) == bound.beta, (slug, n)
            assert Fraction(*answer["gamma"]) == bound.gamma, (slug, n)


def test_any_published_schedule_can_be_started_from(bench: Bench):
    page = open_playground(bench)
    page.get_by_label("原语", exact=True).select_option("broadcast")
    page.get_by_label("算法", exact=True).select_option("chain")
    page.get_by_label("N", exact=True).select_option("16")
    page.get_by_role("button", name="从这个日程开始").click()
    expect(verdict(page)).to_contain_text("正确的 Broadcast：16 个 rank")
    assert json.loads(source(page).input_value()) == bench.data("broadcast/chain/n16.json")


def test_another_view_and_the_panels_are_there_for_a_schedule_of_ones_own(bench: Bench):
    page = open_playground(bench)
    write(page, damaged(bench, lambda data: data.update(algorithm="mine")))
    for view in ("矩阵", "时空", "拓扑"):
        page.get_by_role("button", name=view, exact=True).click()
        page.get_by_role("button", name=view, exact=True, pressed=True).wait_for()
    page.get_by_role("button", name="更多", exact=True).click()
    page.locator(".cp-menu").get_by_role("button", name="状态表", exact=True).click()
    page.locator(".cp-side table").wait_for()
    assert kind(page) == "right"
    assert "#" not in page.url


# ----------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize("rule", RULES)
def test_there_is_a_mistake_to_start_from_for_every_rule(bench: Bench, rule: str):
    page = open_playground(bench)
    page.get_by_label("一个写错的日程").select_option(rule)
    page.get_by_role("button", name="看看它错在哪").click()
    expect(verdict(page)).to_contain_text(f"{RULES[rule]}（{rule}）")
    with pytest.raises(ProofError) as refusal:
        prove(schedule_from_json(source(page).input_value()))
    assert refusal.value.rule == rule
    expect(verdict(page)).to_contain_text(str(refusal.value))
    expect(page.locator("schedule-playground collective-player")).to_be_hidden()


def test_a_refusal_names_rule_round_and_transfer_and_finds_it_in_the_text(bench: Bench):
    page = open_playground(bench)
    text = damaged(bench, lambda d: d["rounds"][3]["transfers"][2].update(dst=9))
    text = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    write(page, text)
    facts = page.locator(".pg-facts > *").all_inner_texts()
    assert dict(zip(facts[::2], facts[1::2], strict=True)) == {
        "步": "4",
        "传输": "3",
        "rank": "9",
    }
    page.get_by_role("button", name="在文本里选中它").click()
    expect(source(page)).to_be_focused()
    chosen = source(page).evaluate("(box) => box.value.slice(box.selectionStart, box.selectionEnd)")
    assert json.loads(chosen) == json.loads(text)["rounds"][3]["transfers"][2]
    line = text[: text.index(chosen)].count("\n") + 1
    expect(page.get_by_text(f"在文本的第 {line} 行")).to_be_visible()


def test_every_broken_schedule_is_refused_in_pythons_words(bench: Bench):
    page = open_playground(bench)
    for case in CORPUS.values():
        text = as_json(case.schedule)
        write(page, text)
        assert kind(page) == "wrong"
        with pytest.raises(ProofError) as refusal:
            prove(schedule_from_json(text))
        expect(verdict(page)).to_contain_text(f"（{refusal.value.rule}）")
        if refusal.value.rule != "format":
            expect(verdict(page)).to_contain_text(str(refusal.value))


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('{\n  "format": "x",\n  "version": 1,\n}', 4, 1, "最后一项后面不能有逗号"),
        ('{\n  "ranks": NaN }', 2, 12, "JSON 里没有 NaN"),
        ('{\n\t"ranks": 4 "root": 0 }', 2, 13, "应当是逗号"),
        ("{'format': 1}", 1, 2, "双引号"),
        ('{"ranks": 4', 1, 12, "还有 1 个括号没有合上"),
        ('{"caption": "one\ntwo"}', 1, 17, "换行"),
        ('{"ranks": 04}', 1, 11, "04 不是 JSON 的数"),
        ("[" * 100_000, 1, 201, "套得太深"),
        ('{"format": ' + "[" * 5_000 + "]" * 5_000 + "}", 1, 211, "套得太深"),
        ("// mine\n{}", 1, 1, "注释"),
    ],
)
def test_a_mistake_in_the_json_is_shown_with_its_line_and_column(
    bench: Bench, text: str, line: int, column: int, words: str
):
    page = open_playground(bench)
    write(page, text)
    expect(verdict(page)).to_contain_text("不是完整的 JSON")
    expect(verdict(page)).to_contain_text(f"第 {line} 行第 {column} 列")
    expect(verdict(page)).to_contain_text(words)
    shown, mark = page.locator(".pg-line").inner_text().rstrip("\n").split("\n")[:2]
    at = mark.index("^")
    wanted = text.split("\n")[line - 1][column - 1 : column]
    assert shown[at : at + 1] == wanted.replace("\t", " ")


def test_what_is_right_again_is_played_again_while_one_writes(bench: Bench):
    page = open_playground(bench)
    good = source(page).input_value()
    write(page, good.replace('"ranks": 4', '"ranks": 5'))
    assert kind(page) == "wrong"
    source(page).fill(good)
    expect(verdict(page)).to_have_attribute("data-kind", "right")
    expect(page.locator("schedule-playground collective-player")).to_be_visible()


# --------------------------------------------------------------------------------- files and limits


def test_a_file_can_be_chosen(bench: Bench):
    page = open_playground(bench)
    chooser = page.locator(".pg-file")
    for ranks in (4, 8):
        text = damaged(bench, lambda _: None, f"gather/flat/n{ranks}.json")
        chooser.set_input_files(
            {"name": "mine.json", "mimeType": "application/json", "buffer": text.encode()}
        )
        expect(verdict(page)).to_contain_text(f"正确的 Gather：{ranks} 个 rank")


def test_a_file_can_be_dropped(bench: Bench):
    page = open_playground(bench)
    page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.items.add(new File([text], 'mine.json', { type: 'application/json' }));
            const box = document.querySelector('.pg-text');
            const over = new DragEvent('dragover', { bubbles: true, cancelable: true,
              dataTransfer: data });
            box.dispatchEvent(over);
            window.taken = over.defaultPrevented;
            box.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true,
              dataTransfer: data }));
        }""",
        bench.text("reduce/flat/n4.json"),
    )
    expect(verdict(page)).to_contain_text("正确的 Reduce")
    assert page.evaluate("window.taken")


def test_a_file_of_50_mb_is_not_read(bench: Bench):
    page = open_playground(bench)
    before = source(page).input_value()
    page.evaluate("""() => {
        const data = new DataTransfer();
        const piece = new Uint8Array(1e6).fill(91);
        data.items.add(new File(Array(50).fill(piece), 'huge.json'));
        document.querySelector('.pg-text').dispatchEvent(new DragEvent('drop', { bubbles: true,
          cancelable: true, dataTransfer: data }));
    }""")
    expect(verdict(page)).to_contain_text("有 50.0 MB，演练场最多读 2 MB")
    assert source(page).input_value() == before


def test_a_huge_text_is_kept_out_of_the_box(bench: Bench):
    page = open_playground(bench)
    before = source(page).input_value()
    page.evaluate("""() => {
        const data = new DataTransfer();
        data.setData('text/plain', '['.repeat(5e6));
        document.querySelector('.pg-text').dispatchEvent(new ClipboardEvent('paste', {
          bubbles: true, cancelable: true, clipboardData: data }));
    }""")
    expect(verdict(page)).to_contain_text("有 5.0 MB")
    assert source(page).input_value() == before


def moved(count: int) -> Callable[[dict[str, Any]], object]:
    """Blow a schedule up: one round that adds every block to every other rank, again and again."""

    def change(data: dict[str, Any]) -> None:
        data["ports"] = "multi"
        data["rounds"] = data["rounds"] * count

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.update(ranks=1024), "1024 个 rank，播放器最多放 64 个 rank"),
        (moved(500), "3000 步，播放器最多放"),
        (
            lambda data: data["buffers"].update(scratch={"role": "scratch", "blocks": 900_000}),
            "个块，播放器最多放",
        ),
        (
            lambda data: data["rounds"][0].update(
                transfers=data["rounds"][0]["transfers"]
                + [{**data["rounds"][0]["transfers"][0], "count": 900_000}]
            ),
            "次搬运，播放器最多放",
        ),
        (lambda data: data["rounds"][0].update(caption="长" * 300_000), "个字的名字或说明"),
        (
            lambda data: data["buffers"].update(scratch={"role": "scratch", "blocks": 9_000_000}),
            "缓冲区太大",
        ),
    ],
    ids=["ranks", "rounds", "blocks", "moves", "words", "cells"],
)
def test_what_is_too_much_for_the_player_is_refused_before_it_costs_time(
    bench: Bench, change: Callable[[dict[str, Any]], object], words: str
):
    page = open_playground(bench)
    write(page, damaged(bench, change))
    expect(verdict(page)).to_contain_text(words)
    assert kind(page) == "wrong"


@pytest.mark.parametrize(
    "name", ["__proto__", "constructor", "toString", "<img src=x onerror=alert(1)>", "a\u202eb", ""]
)
def test_names_from_outside_are_names_and_nothing_more(bench: Bench, name: str):
    """A buffer, a phase, an algorithm and a caption of that name: still a right schedule."""

    def change(data: dict[str, Any]) -> None:
        data["algorithm"] = name
        data["buffers"][name or "x"] = {"role": "scratch", "blocks": 2}
        data["phases"] = {name: name}
        for round_ in data["rounds"]:
            round_.update(phase=name, caption=f"{name} caption")
        local = {"op": "copy", "from": ["tensor", 0], "to": [name or "x", 1], "count": 1}
        data["rounds"].append(
            {"transfers": [{"src": r, "dst": r, **local} for r in range(4)], "phase": name}
        )

    page = open_playground(bench)
    text = damaged(bench, change)
    prove(schedule_from_json(text))
    write(page, text)
    assert kind(page) == "right", verdict(page).inner_text()
    page.get_by_role("button", name="前进一轮").click()
    expect(page.locator(".cp-words")).to_have_text(f"{name} caption".strip())
    for panel in ("看一块", "状态表", "如果……", "猜一猜", "分享与下载"):
        page.get_by_role("button", name="更多", exact=True).click()
        page.locator(".cp-menu").get_by_role("button", name=panel, exact=True).click()
        page.locator(".cp-side-body > *").wait_for()
        assert page.locator(".cp-side").get_by_text("没有加载成功").count() == 0, panel
    page.get_by_role("button", name="跳到结尾").click()
    assert page.locator("schedule-playground :is(img, script)").count() == 0
    assert page.evaluate("({}).tensor === undefined && Object.keys(Object.prototype).length === 0")


# ------------------------------------------------------------------------------------- for everyone


def test_nothing_that_the_reader_brings_leaves_the_page(bench: Bench):
    page = open_playground(bench)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    secret = damaged(bench, lambda data: data["rounds"][0].update(caption="a secret"))
    write(page, secret)
    page.get_by_role("button", name="跳到结尾").click()
    write(page, secret[:-9])
    write(page, "")
    page.wait_for_load_state("networkidle")
    # The player's own code may still arrive; nothing else is asked for, and nothing is said.
    assert [
        url for url in asked if not re.search(r"/assets/(js|css)/[\w/-]+\.(js|css)$", url)
    ] == []
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0
    assert "#" not in page.url


def test_without_the_catalogue_ones_own_files_are_still_checked(bench: Bench):
    bench.files["catalog.json"] = None
    page = bench.open(BODY)
    page.locator("schedule-playground[ready]").wait_for()
    expect(verdict(page)).to_contain_text("自己的文件照样可以检查和播放")
    write(page, bench.text(RING))
    assert kind(page) == "right"


def test_without_scripts_there_is_another_way(bench: Bench):
    page = bench.open(BODY, javascript=False)
    expect(page.get_by_text("要用脚本")).to_be_visible()


def test_the_page_is_left_and_entered_again_with_what_was_written(visit: Visitor):
    page = visit("playground/")
    page.locator("schedule-playground[ready] collective-player[ready]").wait_for()
    expect(page.locator(".pg-verdict")).to_contain_text("通过")
    page.evaluate("window.sameDocument = true")
    page.locator(".md-tabs").get_by_text("比较").click()
    expect(page.locator("h1")).to_contain_text("比较")
    page.locator(".md-tabs").get_by_text("演练场").click()
    page.locator("schedule-playground[ready] collective-player[ready]").wait_for()
    expect(page.locator(".pg-verdict")).to_contain_text("通过")
    assert page.evaluate("window.sameDocument")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_the_page_violates_no_wcag_and_fits_whatever_it_shows(
    visit: Visitor, scheme: str, width: int
):
    page = visit("playground/", scheme=scheme, width=width)
    page.locator("schedule-playground[ready] collective-player[ready]").wait_for()
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    for text in (source(page).input_value(), "{ nonsense", "{}"):
        write(page, text)
        results = Axe().run(page, options={"runOnly": rules})
        faults = [
            (fault["id"], node["html"][:120])
            for fault in results.response["violations"]
            for node in fault["nodes"]
        ]
        assert faults == []
        assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
        small = page.locator(".pg :is(button, select, .pg-choose):visible").evaluate_all(
            """(nodes) => nodes.filter((node) => !node.closest('collective-player')
              && node.getBoundingClientRect().height < 44).map((node) => node.textContent)"""
        )
        assert small == []


def test_every_engine_checks_explains_and_plays(engine: Engine):
    """The sentences about JSON are our own: browsers say each something else, some nothing."""
    engine.open(BODY, ready=False)
    engine.wait_for("document.querySelector('.pg-verdict[data-kind=right]')")
    engine.wait_for("p?.rounds === 6")
    engine.choose("一个写错的日程", "write-race")
    engine.click("看看它错在哪")
    engine.wait_for("document.querySelector('.pg-verdict').textContent.includes('write-race')")
    engine.evaluate("""(() => {
        const box = document.querySelector('.pg-text');
        box.value = '{\\n "ranks": NaN }';
        box.dispatchEvent(new Event('input'));
    })()""")
    said = engine.wait_for("""(() => {
        const { textContent } = document.querySelector('.pg-verdict');
        return textContent.includes('JSON') && textContent;
    })()""")
    assert "第 2 行第 11 列：这里应当是一个值，JSON 里没有 NaN" in said


def test_the_guide_says_what_load_answers(site: Site, visit: Visitor):
    """Each line of its example is followed by what it gives, as a comment."""
    (example,) = (
        block.text
        for block in site.page("reference/player/").code_blocks
        if "player.load(" in block.text
    )
    parts = re.split(r"^// (.*)\n?", example.strip() + "\n", flags=re.MULTILINE)
    page = visit("reference/player/")
    page.locator("collective-player[ready]").first.wait_for()
    code = "const player = document.querySelector('collective-player'); const given = [];"
    for lines in parts[:-1:2]:
        *before, last = lines.strip().split("\n")
        code += "\n".join(before) + f"\ngiven.push({last.rstrip(';')});\n"
    given = page.evaluate(f"(async () => {{ {code} return given; }})()")
    assert given == [json.loads(answer) for answer in parts[1::2]]
    assert given == [None, ["rank-range", 1, 1, 7]]


def test_the_format_page_calls_the_rules_what_the_playground_calls_them():
    page = (TESTS.parents[1] / "docs/reference/schedule-format.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \| [^|]+ \|$", page, re.MULTILINE)
    assert dict(rows) | RULES == dict(rows)
    assert {name: title for name, title in rows if name in RULES} == RULES
