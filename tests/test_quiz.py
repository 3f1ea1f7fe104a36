"""The questions at the end of a page: one right answer, computed, explained, and for everyone."""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import pytest
from playwright.sync_api import expect

import quiz_macros
from built_site import ROOT, Site
from collectives.algorithms import REGISTRY
from collectives.primitives import PRIMITIVES
from conftest import Visitor
from site_macros import Page, PageError

PAGE = Page("cost/model.md", "cost/model/", ROOT / "docs")

PRIMITIVE_PAGES = [f"primitives/{slug}/" for slug in PRIMITIVES]
PATH_PAGES = [
    *(f"start/{name}/" for name in ("why", "processes", "blocking", "primitives")),
    *(f"algorithms/{family}/" for family in sorted({a.family for a in REGISTRY.values()})),
    *(f"cost/{name}/" for name in ("model", "bandwidth", "choosing")),
    *(f"training/{name}/" for name in ("data", "model", "combine")),
]

GOOD = """\
一共几轮？

- [ ] 3 轮
  这是一半。
- [x] 6 轮
  两圈，
  各 3 轮。
- [ ] 12 轮
  这是两倍。
"""


class Shown(NamedTuple):
    """A question as the built page shows it."""

    text: str
    options: list[str]
    reasons: list[str]
    right: int


def plain(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", markup)).strip()


def questions_of(site: Site, path: str) -> list[Shown]:
    """The questions of a page, read from the markup that readers without scripts get."""
    page = site.file(path).read_text(encoding="utf-8")
    shown = []
    for part in re.findall(r'<div class="quiz">(.*?)<quiz-form>', page, re.DOTALL):
        asked = re.search(r'<p class="quiz-asked">(.*?)</p>', part, re.DOTALL)
        options = re.findall(r'<li class="quiz-(right|wrong)">(.*?)</li>', part, re.DOTALL)
        answers = re.search(r'<details class="quiz-answers">(.*?)</details>', part, re.DOTALL)
        assert asked
        assert answers
        reasons = re.findall(r"<li>(.*?)</li>", answers[1], re.DOTALL)
        (right,) = [i for i, (kind, _) in enumerate(options) if kind == "right"]
        assert f"选 {'ABCD'[right]}。" in answers[1]
        shown.append(Shown(plain(asked[1]), [plain(text) for _, text in options], reasons, right))
    return shown


# ---------------------------------------------------------------------------------- every page


@pytest.mark.parametrize("path", [*PRIMITIVE_PAGES, *PATH_PAGES])
def test_a_page_ends_with_questions_each_with_every_answer_explained(site: Site, path: str):
    shown = questions_of(site, path)
    assert len(shown) == 3 if path in PRIMITIVE_PAGES else 1 <= len(shown) <= 3
    for question in shown:
        assert 3 <= len(question.options) <= 4
        assert len(set(question.options)) == len(question.options) == len(question.reasons)
        for index, reason in enumerate(question.reasons):
            verdict = "对" if index == question.right else "不对"
            assert re.match(f"<strong>{verdict}。</strong>.+", reason), reason
    source = (ROOT / "docs" / path.rstrip("/")).with_suffix(".md").read_text(encoding="utf-8")
    assert "\n## 小测\n" in source
    assert "想一想" not in source


def test_where_the_right_answer_stands_gives_nothing_away(site: Site):
    by_page = {path: questions_of(site, path) for path in (*PRIMITIVE_PAGES, *PATH_PAGES)}
    places = Counter(q.right for shown in by_page.values() for q in shown)
    asked = sum(places.values())
    assert set(places) >= {0, 1, 2}
    assert all(places[place] >= asked / 5 for place in range(3)), places
    same = [path for path, q in by_page.items() if len(q) > 1 and len({s.right for s in q}) == 1]
    assert same == []
    longest = [
        q
        for shown in by_page.values()
        for q in shown
        if len(q.options[q.right]) > max(len(o) for i, o in enumerate(q.options) if i != q.right)
    ]
    assert len(longest) <= asked / 2


# ------------------------------------------------------------------------- the numbers, again


def rounds(n: int) -> int:
    return math.ceil(math.log2(n))


def ring_state(n: int, rounds: int, rank: int) -> list[int]:
    """What rank holds of a ring AllReduce of 1..N after some rounds, one number for a chunk."""
    held = [[r + 1] * n for r in range(n)]
    for i in range(rounds):
        before = [list(row) for row in held]
        for r in range(n):
            left = (r - 1) % n
            chunk = (left - 1 - i) % n
            old = before[r][chunk] if i < n - 1 else 0
            held[r][chunk] = old + before[left][chunk]
    return held[rank]


def without_partners(n: int) -> dict[int, set[int]]:
    """Whose contribution is missing where, when recursive doubling skips partners past N."""
    held = [{r} for r in range(n)]
    for i in range(rounds(n)):
        held = [held[r] | (held[r ^ 1 << i] if r ^ 1 << i < n else set()) for r in range(n)]
    return {r: set(range(n)) - held[r] for r in range(n) if held[r] != set(range(n))}


def m(amount: Fraction | int) -> str:
    return "M" if amount == 1 else f"{Fraction(amount)} M"


EIGHTHS = Fraction(7, 8)

RIGHT = {
    ("primitives/broadcast/", 1): f"rank {'、'.join(str(r) for r in range(2**2))}",
    ("primitives/broadcast/", 2): f"{3 * 1000 // 50} ms",
    ("primitives/scatter/", 1): f"{m(Fraction(4, 8))}，给 rank {8 // 2}",
    ("primitives/scatter/", 2): str(list(range(8))[2:4]),
    ("primitives/gather/", 1): f"rank 4，{4 * 128} MB",
    ("primitives/gather/", 2): f"{m(EIGHTHS + rounds(8))} 和 {m(EIGHTHS)}",
    ("primitives/reduce/", 2): f"{m(rounds(8))}；最少 {m(EIGHTHS)}",
    ("primitives/allgather/", 1): f"{8 - 1} 轮，{7 * 128} MB",
    ("primitives/allgather/", 2): f"rank {2 - 1} 的",
    ("primitives/allgather/", 3): "[0, 0, 未定义, 未定义, 2, 2, 3, 3]",
    ("primitives/reducescatter/", 1): str([max(10 * r + 2 for r in range(4))] * 2),
    ("primitives/reducescatter/", 2): f"rank {'、'.join(str(r) for r in range(4) if r != 2)}",
    ("primitives/allreduce/", 1): f"{float(2 * EIGHTHS)} GB",
    ("primitives/allreduce/", 3): str(ring_state(4, 3, 2)),
    ("primitives/alltoall/", 1): str([[float(10 * s + 1)] * 2 for s in range(4)]),
    ("primitives/alltoall/", 3): f"{64 // 64} MB，{64 * 63 // 64} MB",
    ("start/why/", 1): f"笨办法 {m(15)} 加 {m(15)}，环形 {m(Fraction(2 * 15, 16))}",
    ("start/processes/", 1): str([1 + 2 + 3 + 4] * 4),
    ("start/blocking/", 1): f"不报错，a = {[1.0 + 10] * 2}，b = {[10.0 + 1] * 2}",
    ("cost/model/", 1): "1 倍和 3 倍",
    ("cost/model/", 2): f"{14 * 5} µs，几乎全部",
    ("cost/bandwidth/", 1): "AllGather，AllReduce 要 2 倍的时间",
    ("cost/bandwidth/", 2): f"{2 * 1000 / 8 * 2 * 3 / 4:.0f} GB/s",
    ("training/data/", 1): f"DDP 降到 1/4，FSDP 只降到 {Fraction(4 + 4 + 1, 12)}",
    ("algorithms/ring/", 1): f"{ring_state(4, 3, 2).count(10)} 块",
    ("algorithms/ring/", 2): f"{126 * 5 + 2 * 63 / 64 * 1e6 / 100e3:.0f} µs",
    ("algorithms/tree/", 1): f"{rounds(16)} 次，{16 // 2} 个",
    ("algorithms/halving-doubling/", 2): m(Fraction(1, 2)),
    ("algorithms/bruck-pat/", 1): f"{6 - 4} 段",
    ("algorithms/bruck-pat/", 2): "轮数从 15 降到 4，收发量从 15/16 M 涨到 "
    + m(Fraction(sum(j.bit_count() for j in range(16)), 16)),
    ("algorithms/pairwise/", 1): "63 轮，63 MB",
    ("algorithms/pipeline/", 1): f"{4 + 8 - 2} 轮",
    ("algorithms/hierarchical/", 1): f"{2 * 7 / 64 * 1000:.0f} MB",
    ("algorithms/direct/", 1): f"{Fraction(7) / (2 * EIGHTHS)} 倍",
}
"""The right answers that are numbers, worked out here without a schedule."""


def test_the_right_answers_are_what_plain_arithmetic_says(site: Site):
    shown = {path: questions_of(site, path) for path, _ in RIGHT}
    found = {
        (path, number): shown[path][number - 1].options[shown[path][number - 1].right]
        for path, number in RIGHT
    }
    assert found == RIGHT


def test_skipping_the_partners_that_are_not_there_loses_what_the_page_says():
    assert without_partners(6) == {2: {4, 5}, 3: {4, 5}}
    assert without_partners(8) == {}


# -------------------------------------------------------------------------------- the mistakes


def ask(text: str) -> str:
    return quiz_macros.quiz(PAGE, lambda: text)


def test_a_question_is_read_as_its_author_wrote_it():
    (first, second) = quiz_macros.read_questions(GOOD + "\n" + GOOD.replace("一共", "最少"))
    assert (first.text, second.text) == ("一共几轮？", "最少几轮？")
    assert [option.text for option in first.options] == ["3 轮", "6 轮", "12 轮"]
    assert [option.right for option in first.options] == [False, True, False]
    assert first.options[1].why == "两圈，各 3 轮。"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("[ ] 12", "[x] 12", "有 2 个对的选项"),
        ("[x] 6", "[ ] 6", "有 0 个对的选项"),
        ("12 轮", "6  轮。", "有两个一样的选项：「6 轮」和「6  轮。」"),
        ("12 轮", "`6 轮`", "有两个一样的选项"),
        ("  这是两倍。\n", "", "选项「12 轮」没有解释"),
        ("- [ ] 12 轮\n  这是两倍。\n", "", "有 2 个选项"),
        ("[ ] 12", "[y] 12", "只能是 [x] 或 [ ]"),
    ],
)
def test_a_question_that_breaks_a_rule_stops_the_build_and_is_named(
    before: str, after: str, said: str
):
    assert before in GOOD
    with pytest.raises(PageError) as refusal:
        ask(GOOD.replace("一共", "头一题") + GOOD.replace(before, after, 1))
    message = str(refusal.value)
    assert message.startswith("cost/model.md：小测第 2 题「")
    assert "一共几轮？" in message
    assert said in message


@pytest.mark.parametrize("text", ["\n\n", GOOD.split("\n", 1)[1]], ids=["nothing", "no question"])
def test_a_quiz_without_a_question_stops_the_build(text: str):
    with pytest.raises(PageError, match=r"cost/model\.md：小测.*没有题目"):
        ask(text)


@pytest.mark.parametrize(
    ("macro", "arguments", "said"),
    [
        (quiz_macros.cost_of, ("allreduce/rings", 8), "allreduce/rings"),
        (quiz_macros.cost_of, ("allreduce/rabenseifner", 1), "N = 1"),
        (quiz_macros.bound_of, ("allreduces", 8), "allreduces"),
        (quiz_macros.holds, ("allreduce/ring", 4, 7, 0, "tensor"), "第 7 轮"),
        (quiz_macros.holds, ("allreduce/ring", 4, 1, 0, "output"), "'output'"),
        (quiz_macros.senders, ("allreduce/ring", 4, 0), "第 0 轮"),
        (quiz_macros.reduced, ("reducescatter", 4, 2, "mean"), "'mean'"),
        (quiz_macros.recorded, ("scatter_cpu_demo.py", "[rank 9]"), "'[rank 9]'"),
        (quiz_macros.recorded, ("no_such_demo.py", "[rank 0]"), "'no_such_demo.py'"),
    ],
)
def test_what_cannot_be_computed_stops_the_build(
    macro: Callable[..., object], arguments: tuple[object, ...], said: str
):
    with pytest.raises(PageError, match=re.escape(said)) as refusal:
        macro(PAGE, *arguments)
    assert "cost/model.md" in str(refusal.value)


# ---------------------------------------------------------------------------------- the reader


def test_a_reader_answers_by_mouse_or_keyboard_hears_why_and_tries_again(
    site: Site, visit: Visitor
):
    page = visit("primitives/broadcast/")
    shown = questions_of(site, "primitives/gather/")
    page.get_by_role("link", name="Gather（收集）").first.click()
    expect(page.locator("h1")).to_contain_text("Gather")
    forms = page.locator("form.quiz-form")
    expect(forms).to_have_count(len(shown))
    expect(page.locator(".quiz-options, .quiz-answers").locator("visible=true")).to_have_count(0)

    def reason(form: int, option: int) -> str:
        return plain(shown[form].reasons[option])

    # A finger or a mouse: the answer comes at once, and a second choice replaces it.
    group = page.get_by_role("group", name=shown[0].text)
    said = forms.nth(0).get_by_role("status")
    expect(said).to_have_text("")
    right = shown[0].right
    wrong = (right + 1) % len(shown[0].options)
    group.get_by_text(shown[0].options[wrong], exact=True).click()
    expect(said).to_have_text(reason(0, wrong) + "可以再选一次。")
    group.get_by_role("radio").nth(right).click()
    expect(said).to_have_text(reason(0, right))
    # What was tried keeps its word.
    verdicts = group.locator(".quiz-verdict")
    expect(verdicts.nth(wrong)).to_have_text("不对")
    expect(verdicts.nth(right)).to_have_text("对")

    # Keys: walking through the options gives nothing away, Enter or the button answers.
    said = forms.nth(1).get_by_role("status")
    button = forms.nth(1).get_by_role("button", name="看对不对")
    button.focus()
    page.keyboard.press("Enter")
    expect(said).to_have_text("先选一项。")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowDown")
    expect(said).to_have_text("")
    chosen = forms.nth(1).locator("input:checked")
    expect(chosen).to_be_focused()
    page.keyboard.press("Enter")
    expect(said).to_contain_text(reason(1, int(chosen.get_attribute("value") or "")))
    page.keyboard.press("ArrowDown")
    expect(said).to_have_text("")
    page.keyboard.press("Tab")
    expect(button).to_be_focused()
    page.keyboard.press("Space")
    expect(said).to_contain_text(reason(1, int(chosen.get_attribute("value") or "")))

    # A question is a group of its own, and every target is as big as a finger.
    expect(forms.nth(0).locator("input:checked")).to_have_count(1)
    heights = page.evaluate(
        "[...document.querySelectorAll('.quiz-form :is(label, button)')].map((e) => e.offsetHeight)"
    )
    assert min(heights) >= 44

    # On paper the form gives way to the list, with every answer.
    page.emulate_media(media="print")
    expect(forms.nth(2)).to_be_hidden()
    for answer in shown[2].reasons:
        expect(page.get_by_text(plain(answer), exact=True).last).to_be_visible()


def test_without_scripts_the_answers_are_folded_up_below_the_question(visit: Visitor):
    page = visit("primitives/gather/", javascript=False)
    quiz = page.locator(".quiz").first
    expect(quiz.locator(".quiz-options li")).to_have_count(3)
    expect(quiz.get_by_role("radio")).to_have_count(0)
    expect(quiz.locator(".quiz-reasons")).to_be_hidden()
    quiz.locator("summary").click()
    for answer in quiz.locator(".quiz-reasons li").all():
        expect(answer).to_be_visible()


def test_pages_without_questions_load_no_form(visit: Visitor):
    loaded = []
    page = visit()
    page.on("request", lambda request: loaded.append(request.url))
    page.reload()
    expect(page.locator("collective-player[ready]").first).to_be_visible()
    assert [url for url in loaded if "site.js" in url]
    assert [url for url in loaded if "quiz-view" in url] == []
