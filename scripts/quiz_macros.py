"""What pages ask their readers: questions with one right answer, and the numbers they turn on.

A question is written in the page, as a task list inside a call:

    [[% call quiz() %]]
    How many rounds does a ring AllReduce of {{ 8 }} ranks take?

    - [ ] {{ cost_of("allgather/ring", 8).rounds }} rounds
      Why this is wrong.
    - [x] {{ cost_of("allreduce/ring", 8).rounds }} rounds
      Why this is right.
    [[% endcall %]]

Everything between the two lines is rendered before it is read here, so that answers and distractors
are computed by the macros of this and the other modules. ``docs/assets/js/quiz-view.js`` makes a
form of the markup; without scripts it stays a list with its answers folded up. Registered by
``site_macros``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from collectives.algorithm import UnsupportedChoice
from collectives.algorithms import REGISTRY
from collectives.cost import Cost, count_cost
from collectives.primitives import PRIMITIVES, Block, LowerBound
from collectives.prove import State, prove, replay
from collectives.schedule import Round, Schedule
from path_macros import least_traffic
from race_macros import joined, size_text, time_text
from record_expected import record_of
from schedule_macros import numbers, size

if TYPE_CHECKING:
    from site_macros import Page

OPTION = re.compile(r"- \[(?P<mark>.?)\] (?P<text>.+)")

LEAST_OPTIONS, MOST_OPTIONS = 3, 4

LETTERS = "ABCD"

REDUCTIONS: dict[str, Callable[[Iterable[int]], int]] = {"sum": sum, "max": max, "min": min}


class Option(NamedTuple):
    """One answer to choose, with why it is right or wrong."""

    text: str
    why: str
    right: bool


class Question(NamedTuple):
    """A question and its options, in the order of the page."""

    text: str
    options: list[Option]


class QuizError(ValueError):
    """What stands between the two lines is no quiz; ``str()`` is a Chinese sentence."""


# ------------------------------------------------------------------------------------- questions


def read_questions(text: str) -> list[Question]:
    """Read questions as a page holds them.

    Raises:
        QuizError: a question cannot be read, has not exactly one right answer, or two alike.
    """
    asked: list[str] = []
    options: list[list[str]] = []
    marks: list[str] = []
    found: list[Question] = []

    def end() -> None:
        if asked or options:
            found.append(_checked(len(found) + 1, joined(*asked), marks, options))
        asked.clear()
        options.clear()
        marks.clear()

    for line in text.splitlines():
        if not line.strip():
            continue
        option = OPTION.fullmatch(line.rstrip())
        if option:
            marks.append(option["mark"])
            options.append([option["text"].strip()])
        elif line.startswith(" ") and options:
            options[-1].append(line.strip())
        else:
            if options:
                end()
            asked.append(line.strip())
    end()
    if not found:
        raise QuizError("小测里没有题目")
    return found


def _checked(number: int, text: str, marks: list[str], options: list[list[str]]) -> Question:
    """A question that keeps the rules."""

    def error(problem: str) -> QuizError:
        return QuizError(f"小测第 {number} 题「{text[:24]}」{problem}")

    if not text:
        raise error("没有题目，先写一行问题再列选项")
    if not LEAST_OPTIONS <= len(options) <= MOST_OPTIONS:
        raise error(f"有 {len(options)} 个选项，应有 {LEAST_OPTIONS} 到 {MOST_OPTIONS} 个")
    for mark, (answer, *_) in zip(marks, options, strict=True):
        if mark not in ("x", " "):
            raise error(f"的选项「{answer}」前面是 [{mark}]，只能是 [x] 或 [ ]")
    if marks.count("x") != 1:
        raise error(f"有 {marks.count('x')} 个对的选项，应当正好一个")
    seen: dict[str, str] = {}
    for answer, *why in options:
        if not why:
            raise error(f"的选项「{answer}」没有解释，另起一行缩进两格写")
        other = seen.setdefault(_said(answer), answer)
        if other is not answer:
            raise error(f"有两个一样的选项：「{other}」和「{answer}」")
    return Question(
        text,
        [
            Option(answer, joined(*why), mark == "x")
            for mark, (answer, *why) in zip(marks, options, strict=True)
        ],
    )


def _said(answer: str) -> str:
    """An answer as it is compared: without its markup, its spaces and its full stop."""
    return re.sub(r"[\s`*$\\,。{}]", "", answer).casefold()


def quiz(page: Page, caller: Callable[[], str]) -> str:
    """Ask the questions of a ``call`` block; see the head of this module for how they look."""
    try:
        questions = read_questions(caller())
    except QuizError as error:
        raise page.error(str(error)) from None
    return "\n\n".join(_markup(number, q) for number, q in enumerate(questions, 1)) + "\n"


def _markup(number: int, question: Question) -> str:
    """A question for readers without scripts; the form is made of it."""
    answers = "".join(
        f'<li markdown="span" class="{"quiz-right" if option.right else "quiz-wrong"}">'
        f"{option.text}</li>\n"
        for option in question.options
    )
    reasons = "".join(
        f'<li markdown="span"><strong>{"对" if option.right else "不对"}。</strong>'
        f"{option.why}</li>\n"
        for option in question.options
    )
    letter = LETTERS[[option.right for option in question.options].index(True)]
    return (
        '<div class="quiz" markdown="1">\n'
        f'<p class="quiz-asked" markdown="span">{number}. {question.text}</p>\n'
        f'<ol class="quiz-options" markdown="1">\n{answers}</ol>\n'
        '<details class="quiz-answers" markdown="1">\n'
        f"<summary>答案与解释</summary>\n<p>选 {letter}。</p>\n"
        f'<ol class="quiz-reasons" markdown="1">\n{reasons}</ol>\n</details>\n'
        '<div markdown="0"><quiz-form></quiz-form></div>\n'
        "</div>"
    )


# --------------------------------------------------------------------------------------- numbers


def cost_of(page: Page, name: str, ranks: int, **parameters: int) -> Cost:
    """Return the counted cost of an algorithm, for sums: ``cost_of("allreduce/ring", 8).beta``."""
    return count_cost(_schedule(page, name, ranks, **parameters))


def bound_of(page: Page, primitive: str, ranks: int) -> LowerBound:
    """Return what no schedule of a primitive can beat on one port."""
    if primitive not in PRIMITIVES:
        raise page.error(f"没有名为 {primitive!r} 的原语；现有：{'、'.join(PRIMITIVES)}")
    return PRIMITIVES[primitive].lower_bound(ranks)


def bus_factor(page: Page, primitive: str, ranks: int) -> Fraction:
    """Return busbw / algbw, counted from the schedule that asks least of its busiest port."""
    bound_of(page, primitive, ranks)
    return least_traffic(primitive, ranks)[0]


def ratio(page: Page, one: Fraction | int, other: Fraction | int) -> str:
    """Write how many times ``other`` goes into ``one``: ``3``, ``7/3``."""
    return str(Fraction(one) / Fraction(other))


def in_m(page: Page, amount: Fraction | int) -> str:
    """Write a number of M: ``7/4 M``."""
    return size(Fraction(amount))


def in_bytes(page: Page, amount: Fraction | int, m: int = 1) -> str:
    """Write a number of bytes, or of M where M is ``m`` bytes: ``1.75 GB``."""
    return size_text(Fraction(amount) * m)


def in_time(page: Page, seconds: Fraction | float) -> str:
    """Write a duration: ``65 µs``."""
    return time_text(Fraction(seconds))


def holds(
    page: Page, name: str, ranks: int, round: int, rank: int, buffer: str, root: int = 0
) -> str:
    """Say which numbers of the demo a buffer of a rank holds after a round, from 0 for before."""
    schedule = _schedule(page, name, ranks, root)
    content = _content(page, schedule, round, rank, buffer)
    return numbers(PRIMITIVES[schedule.primitive], schedule, content)


def holders(page: Page, name: str, ranks: int, round: int, buffer: str, root: int = 0) -> str:
    """Name the ranks that hold the whole of a buffer after a round: ``rank 0、1``."""
    schedule = _schedule(page, name, ranks, root)
    held = [_content(page, schedule, round, rank, buffer) for rank in range(ranks)]
    return _ranks(rank for rank in range(ranks) if None not in held[rank])


def contributors(
    page: Page, name: str, ranks: int, round: int, rank: int, buffer: str, chunk: int
) -> str:
    """Name those whose contribution is in a chunk of a buffer after a round; N chunks make M."""
    block = _chunk(page, _schedule(page, name, ranks), round, rank, buffer, chunk)
    return _ranks(block.ranks() if block else ())


def finished_chunks(page: Page, name: str, ranks: int, round: int, rank: int, buffer: str) -> int:
    """Count the chunks of a buffer of a rank that all ranks have contributed to after a round."""
    schedule = _schedule(page, name, ranks)
    chunks = (_chunk(page, schedule, round, rank, buffer, chunk) for chunk in range(ranks))
    return sum(chunk is not None and len(chunk.ranks()) == ranks for chunk in chunks)


def senders(page: Page, name: str, ranks: int, round: int, **parameters: int) -> int:
    """Count the ranks that send to another rank in a round."""
    _, moved = _round(page, _schedule(page, name, ranks, **parameters), round)
    return len({t.src for t in moved.transfers if t.src != t.dst})


def sent(
    page: Page, name: str, ranks: int, round: int, rank: int, root: int = 0, **parameters: int
) -> Fraction:
    """Return how much a rank sends in a round, in M."""
    schedule = _schedule(page, name, ranks, root, **parameters)
    _, moved = _round(page, schedule, round)
    blocks = sum(t.blocks for t in moved.transfers if t.src == rank != t.dst)
    return Fraction(blocks, schedule.blocks)


def sent_to(page: Page, name: str, ranks: int, round: int, rank: int, root: int = 0) -> str:
    """Name the ranks that a rank sends to in a round."""
    _, moved = _round(page, _schedule(page, name, ranks, root), round)
    return _ranks(sorted({t.dst for t in moved.transfers if t.src == rank != t.dst}))


def sent_origin(page: Page, name: str, ranks: int, round: int, rank: int) -> str:
    """Name the ranks whose data a rank sends in a round, as the state before it has them."""
    schedule = _schedule(page, name, ranks)
    step, moved = _round(page, schedule, round)
    state = list(replay(schedule))[step - 1]
    found = {
        source
        for t in moved.transfers
        if t.src == rank != t.dst
        for block in state[rank][t.from_buffer][t.from_offset : t.from_offset + t.blocks]
        if block is not None
        for source in block.ranks()
    }
    return _ranks(sorted(found))


def reduced(page: Page, primitive: str, ranks: int, chunk: int, op: str) -> str:
    """Say what the demo's numbers of a chunk become: ``op`` is a word of REDUCTIONS."""
    if op not in REDUCTIONS:
        raise page.error(f"没有归约 {op!r}，可用的是 {'、'.join(REDUCTIONS)}")
    entry, blocks = PRIMITIVES[primitive], PRIMITIVES[primitive].blocks(ranks)
    size = blocks // ranks
    values = [
        REDUCTIONS[op](entry.value(block, rank, ranks, blocks) for rank in range(ranks))
        for block in range(chunk * size, (chunk + 1) * size)
    ]
    return f"`{values}`"


def recorded(page: Page, name: str, start: str) -> str:
    """Return what a demo prints after ``start``, on the first line that begins so.

    Args:
        page: the page that asks.
        name: the demo, such as "scatter_cpu_demo.py".
        start: how the line begins: "[rank 2] received:".
    """
    file = page.docs / "demos" / record_of(Path(name))
    if not file.is_file():
        raise page.error(f"没有示例 {name!r} 的输出")
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith(start):
            return line.removeprefix(start).strip()
    raise page.error(f"示例 {name!r} 的输出里没有以 {start!r} 开头的行")


# -------------------------------------------------------------------------------------- plumbing


def _schedule(page: Page, name: str, ranks: int, root: int = 0, **parameters: int) -> Schedule:
    if name not in REGISTRY:
        raise page.error(f"没有名为 {name!r} 的算法；现有：{'、'.join(REGISTRY)}")
    try:
        return prove(REGISTRY[name].schedule(ranks, root, **parameters)).schedule
    except UnsupportedChoice as error:
        raise page.error(str(error)) from None


def _remote(schedule: Schedule) -> list[tuple[int, Round]]:
    """The rounds that readers count, each with its place among all steps, from 1."""
    return [(step, r) for step, r in enumerate(schedule.rounds, 1) if not r.is_local]


def _round(page: Page, schedule: Schedule, number: int) -> tuple[int, Round]:
    rounds = _remote(schedule)
    if not 1 <= number <= len(rounds):
        raise page.error(f"{schedule.name} 没有第 {number} 轮，应在 1 到 {len(rounds)}")
    return rounds[number - 1]


def _after(page: Page, schedule: Schedule, number: int) -> State:
    """The state after a round: before the next one, so that local moves between are done."""
    states = list(replay(schedule))
    if number == 0:
        return states[0]
    step, _ = _round(page, schedule, number)
    return states[-1] if number == len(_remote(schedule)) else states[step]


def _chunk(
    page: Page, schedule: Schedule, number: int, rank: int, buffer: str, chunk: int
) -> Block | None:
    """What the first block of a chunk of a buffer holds after a round."""
    content = _content(page, schedule, number, rank, buffer)
    return content[chunk * (schedule.blocks // schedule.ranks)]


def _content(
    page: Page, schedule: Schedule, number: int, rank: int, buffer: str
) -> list[Block | None]:
    held = _after(page, schedule, number)[rank]
    if buffer not in held:
        raise page.error(f"{schedule.name} 的 rank {rank} 没有缓冲区 {buffer!r}")
    return held[buffer]


def _ranks(ranks: Iterable[int]) -> str:
    return f"rank {'、'.join(map(str, ranks))}"


MACROS: tuple[Callable[..., object], ...] = (
    quiz,
    cost_of,
    bound_of,
    bus_factor,
    ratio,
    in_m,
    in_bytes,
    in_time,
    holds,
    holders,
    contributors,
    finished_chunks,
    senders,
    sent,
    sent_to,
    sent_origin,
    reduced,
    recorded,
)
"""Every macro of this module; ``site_macros`` fills in the page."""
