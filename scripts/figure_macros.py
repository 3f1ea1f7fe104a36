"""What pages may ask about the primitives as pictures: what every rank holds before and after.

Everything in a picture is replayed from the schedule that the primitive opens with, so it shows the
same numbers as the player and the demos do. Registered by ``site_macros``.
"""

from __future__ import annotations

import functools
import html
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from collectives.algorithms import algorithms_of
from collectives.primitives import PRIMITIVES, Block, Primitive
from collectives.prove import prove, replay
from collectives.schedule import Schedule

if TYPE_CHECKING:
    from site_macros import Page

RANKS = 4
"""The N of the pictures: that of the demos."""

CELL, GAP, ROW, LEFT, HEAD = 34, 26, 40, 52, 22
"""Width of a cell, room for the arrow, height of a row, room for the names, height of the head."""


class Cell(NamedTuple):
    """One chunk of a buffer.

    Attributes:
        text: its numbers, as the demo prints them; empty where it is undefined.
        ranks: whose contributions are in it.
    """

    text: str
    ranks: tuple[int, ...]


def before_and_after(primitive: Primitive) -> list[tuple[list[Cell], list[Cell]]]:
    """What each rank holds before and after, chunk by chunk; a rank without a buffer has none."""
    schedule = prove(algorithms_of(primitive.slug)[0].schedule(RANKS)).schedule
    first, *_, last = replay(schedule)
    sides = ("input", "inout"), ("output", "inout")
    return [
        (
            _cells(primitive, schedule, first[rank], sides[0]),
            _cells(primitive, schedule, last[rank], sides[1]),
        )
        for rank in range(RANKS)
    ]


def _cells(
    primitive: Primitive,
    schedule: Schedule,
    held: dict[str, list[Block | None]],
    roles: Sequence[str],
) -> list[Cell]:
    """The buffers of some roles on one rank. The blocks of a chunk stand in one cell."""
    chunk = schedule.blocks // RANKS if schedule.blocks % RANKS == 0 else 1
    cells = []
    for buffer in schedule.buffers:
        if buffer.role in roles and buffer.name in held:
            content = held[buffer.name]
            for start in range(0, len(content), chunk):
                cells.append(_cell(primitive, schedule, content[start : start + chunk]))
    return cells


def _cell(primitive: Primitive, schedule: Schedule, blocks: Sequence[Block | None]) -> Cell:
    known = [block for block in blocks if block is not None]
    if len(known) < len(blocks):
        return Cell("", ())
    values = [
        sum(primitive.value(b.origin, r, RANKS, schedule.blocks) for r in b.ranks()) for b in known
    ]
    # Two equal numbers say no more than one; two different ones both stand in the cell.
    return Cell(" ".join(map(str, dict.fromkeys(values))), tuple(known[0].ranks()))


# --------------------------------------------------------------------------------------- macros


def primitive_figure(page: Page, primitive: str) -> str:
    """Show what every rank holds before and after a primitive, as a picture with its text."""
    if primitive not in PRIMITIVES:
        raise page.error(f"没有名为 {primitive!r} 的原语；现有：{'、'.join(PRIMITIVES)}")
    # The table of states beside it says the same to the search.
    opening = '<div class="figure" markdown="0" data-search-exclude>'
    return f"{opening}{picture(PRIMITIVES[primitive])}</div>\n"


def primitive_figures(page: Page, **sentences: str) -> str:
    """Show the pictures of some primitives side by side.

    Args:
        page: the page that asks.
        sentences: what to say below each name, by the slug of the primitive, in this order.
    """
    boxes = []
    for slug, sentence in sentences.items():
        if slug not in PRIMITIVES:
            raise page.error(f"没有名为 {slug!r} 的原语；现有：{'、'.join(PRIMITIVES)}")
        address = html.escape(page.html_link(f"primitives/{slug}/"))
        boxes.append(
            f'<li class="figure"><p><a href="{address}">{html.escape(PRIMITIVES[slug].title)}</a>'
            f"</p><p>{html.escape(sentence)}</p>{picture(PRIMITIVES[slug])}</li>"
        )
    return f'<ul class="figures" markdown="0">{"".join(boxes)}</ul>\n'


@functools.cache
def picture(primitive: Primitive) -> str:
    """Draw what every rank holds before and after a primitive, as an SVG element with its text."""
    rows = before_and_after(primitive)
    columns = [max(len(row[side]) for row in rows) for side in (0, 1)]
    after = LEFT + columns[0] * CELL + GAP
    width, height = after + columns[1] * CELL + 2, HEAD + RANKS * ROW
    names = [f'<text x="{LEFT}" y="14">之前</text><text x="{after}" y="14">之后</text>']
    shapes: dict[str, str] = {}
    numbers = []
    for rank, sides in enumerate(rows):
        top = HEAD + rank * ROW
        names.append(f'<text x="0" y="{top + 21}">rank {rank}</text>')
        for cells, left in zip(sides, (LEFT, after), strict=True):
            for i, cell in enumerate(cells):
                x = left + i * CELL
                for name, path in _outlines(cell, x, top):
                    shapes[name] = shapes.get(name, "") + path
                if cell.text:
                    text = html.escape(cell.text)
                    numbers.append(f'<text x="{x + CELL / 2:g}" y="{top + 17}">{text}</text>')
    arrow = f"M{after - GAP / 2 - 7:g} {HEAD + (RANKS * ROW - 8) / 2:g}h13m-5-5 5 5-5 5"
    paths = [f'<path class="figure-{name}" d="{d}"/>' for name, d in sorted(shapes.items())]
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{html.escape(picture_words(primitive))}">'
        f'{"".join([*paths, *names])}<path class="figure-arrow" d="{arrow}"/>'
        f'<g class="figure-value">{"".join(numbers)}</g></svg>'
    )


def _outlines(cell: Cell, x: int, y: int) -> Iterator[tuple[str, str]]:
    """A cell as shapes by name: its border, and a strip for every rank, lit where it is in.

    One path for each name is far less for a browser to read than an element for each shape.
    """
    border = (
        f"M{x + 6} {y + 1}h22a5 5 0 0 1 5 5v20a5 5 0 0 1-5 5h-22a5 5 0 0 1-5-5v-20a5 5 0 0 1 5-5z"
    )
    if not cell.text:
        yield "none", border
        yield "hatch", f"M{x + 5} {y + 27}l21-21M{x + 5} {y + 16}l10-10M{x + 16} {y + 27}l10-10"
        return
    yield "cell", border
    strip = (CELL - 8) / RANKS
    for rank in range(RANKS):
        name = f"of-{rank}" if rank in cell.ranks else "strip"
        width = strip - 1
        yield name, f"M{x + 4 + rank * strip:g} {y + 23}h{width:g}v5h-{width:g}z"


@functools.cache
def picture_words(primitive: Primitive) -> str:
    """Say what is on a picture, for those who cannot see it."""

    def said(cells: Sequence[Cell]) -> str:
        if not cells:
            return "没有缓冲区"
        if not any(cell.text for cell in cells):
            return "未定义"
        return "、".join(cell.text or "未定义" for cell in cells)

    parts = [
        f"rank {rank}，之前：{said(before)}，之后：{said(then)}"
        for rank, (before, then) in enumerate(before_and_after(primitive))
    ]
    return f"{primitive.title}：{'；'.join(parts)}。"


MACROS: tuple[Callable[..., str], ...] = (primitive_figure, primitive_figures)
"""Every macro of this module; ``site_macros`` fills in the page."""
