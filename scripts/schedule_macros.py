"""What pages may ask of the registry: the player, and tables of states, algorithms and costs.

Nothing here knows an algorithm: every name, number, formula and caption comes from
``collectives.algorithms`` and from schedules that were proved. Registered by ``site_macros``.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from collectives.algorithm import Algorithm, UnsupportedChoice, Usage
from collectives.algorithms import REGISTRY, algorithms_of
from collectives.cost import count_cost
from collectives.primitives import PRIMITIVES, Block, LowerBound, Primitive
from collectives.prove import prove, replay
from collectives.schedule import PHASES, REDUCE, Round, Schedule, Transfer
from generate_schedules import MATRIX_RANKS, PUBLISHED_RANKS, published_ranks, schedule_path

if TYPE_CHECKING:
    from site_macros import Page

TRAFFIC = "收发量（各轮最忙端口之和）"
"""What a column of ``Cost.beta`` is called; ``race-view.js`` and ``playground.js`` say the same."""

CONTROLS = ("primitive", "algorithm", "ranks", "parameters", "root", "op", "view", "more")
"""What a player may let the reader choose."""


def player(
    page: Page,
    name: str,
    ranks: int = 4,
    root: int = 0,
    round: int = 0,
    controls: str = "primitive algorithm ranks parameters root op view more",
    **parameters: int,
) -> str:
    """Show the player, with a table of the rounds for readers without scripts, print and search.

    Args:
        page: the page that asks.
        name: ``primitive/algorithm``, such as "allreduce/ring".
        ranks: the number of ranks to open with; one that the site publishes a file for.
        root: the root to open with, for primitives that have one.
        round: the step to open at, 0 to the number of rounds.
        controls: what the reader may choose, words of CONTROLS.
        parameters: of the algorithm, such as chunks=8; its defaults where left out.
    """
    algorithm, schedule = _proved(page, name, ranks, root, **parameters)
    for control in controls.split():
        if control not in CONTROLS:
            raise page.error(f"播放器没有控件 {control!r}，可用的是 {'、'.join(CONTROLS)}")
    if not 0 <= round <= len(schedule.rounds):
        raise page.error(
            f"{name} 在 N = {ranks} 时没有第 {round} 步，应在 0 到 {len(schedule.rounds)}"
        )
    source = page.html_link(
        f"assets/schedules/{schedule_path(algorithm, ranks, schedule.parameters)}"
    )
    attributes = f'src="{html.escape(source)}" controls="{html.escape(controls)}"'
    if round:
        attributes += f' round="{round}"'
    if root:
        attributes += f' root="{root}"'
    title = f"{algorithm.primitive_entry.title}，{algorithm.title}，{ranks} 个 rank"
    return (
        f'<div class="cp-figure" markdown="0"><collective-player {attributes}>'
        f"{_rounds_table(schedule, title)}</collective-player></div>\n"
    )


def state_table(page: Page, primitive: str, ranks: int = 4) -> str:
    """Show what each rank holds before and after, in the numbers of the demo.

    The numbers are replayed from the algorithm that the primitive opens with.
    """
    entry = _primitive(page, primitive)
    _, schedule = _proved(page, algorithms_of(primitive)[0].name, ranks, 0)
    states = list(replay(schedule))
    names = [buffer.name for buffer in schedule.buffers if buffer.role != "scratch"]
    inout = len(names) == 1
    columns = ["rank"]
    columns += (
        [f"`{name}`（{when}）" for when in ("前", "后") for name in names]
        if inout
        else [
            f"`{name}`（{'前，之后不变' if role == 'input' else '后'}）"
            for name, role in ((b.name, b.role) for b in schedule.buffers if b.role != "scratch")
        ]
    )
    rows = []
    for rank in range(ranks):
        before, after = states[0][rank], states[-1][rank]
        cells = [f"rank {rank}" + ("（根）" if entry.rooted and rank == 0 else "")]
        if inout:
            cells += [numbers(entry, schedule, state[names[0]]) for state in (before, after)]
        else:
            cells += [
                numbers(entry, schedule, after[name]) if name in after else "没有这个缓冲区"
                for name in names
            ]
        rows.append(cells)
    return _markdown_table(columns, rows)


def algorithm_table(page: Page, primitive: str, ranks: int = 4) -> str:
    """Compare the algorithms of a primitive: formula and counted number at N, bound below.

    N is ``ranks`` at first; ``algorithm-table.js`` follows the N that the reader chooses in the
    player of the page.
    """
    entry = _primitive(page, primitive)
    shown = [
        ("轮数", "rounds"),
        (TRAFFIC, "beta"),
        *([("归约量", "gamma")] if entry.reduces else []),
        ("单个 rank 最多发送", "max_sent"),
    ]
    rows = []
    for algorithm in algorithms_of(primitive):
        costs = {n: count_cost(algorithm.schedule(n)) for n in published_ranks(algorithm)}
        many = algorithm.ports == "multi" and "多端口" not in algorithm.title_zh
        row = [f"**{algorithm.title_zh}**<br>{algorithm.title_en}{'<br>多端口' if many else ''}"]
        for _, field in shown:
            counts = {n: getattr(cost, field) for n, cost in costs.items()}
            row.append(f"${getattr(algorithm.formulas, field)}$<br>{_counted(counts, ranks)}")
        rows.append(row)
    bounds = {n: entry.lower_bound(n) for n in (*PUBLISHED_RANKS, *MATRIX_RANKS)}
    row = ["**下界**<br>单端口"]
    for _, field in shown:
        if field in LowerBound._fields:
            counts = {n: getattr(bound, field) for n, bound in bounds.items()}
            formula = getattr(entry.lower_bound_formulas, field)
            row.append(f"${formula}$<br>{_counted(counts, ranks)}")
        else:
            row.append("")
    notes = [
        f"{algorithm.title_zh}：{_chosen(algorithm)}{algorithm.formulas.note_zh}"
        for algorithm in algorithms_of(primitive)
        if algorithm.parameters or algorithm.formulas.note_zh
    ]
    if any(algorithm.ports == "multi" for algorithm in algorithms_of(primitive)):
        notes.insert(0, _MANY_PORTS)
    columns = ["算法", *(title for title, _ in shown)]
    too = "和归约量" if entry.reduces else ""
    return (
        f"公式下面是 N = <span data-chosen-ranks>{ranks}</span> 时从"
        f"[日程]({page.link('terminology.md')}#schedule)数出来的值，随上面播放器里选的 GPU 数而变。"
        f"收发量{too}每一轮取最多的那个 rank，再把各轮加起来。\n\n"
        + _markdown_table(columns, [*rows, row])
        + "".join(f"\n{note}\n" for note in notes)
    )


_MANY_PORTS = (
    "单端口是说一个 rank 一轮里最多发给一个人、最多从一个人收，下界按这个算。"
    "标着「多端口」的算法一轮里同时和好几个人收发，轮数可以少于下界；"
    "它的收发量把同一个 rank 的几路加在一起，照一个端口算。"
)


def _chosen(algorithm: Algorithm) -> str:
    """Say what the parameters in the formulas are, and which values the counted numbers have."""
    said = ""
    for parameter in algorithm.parameters:
        ranks = [n for n in (4, 8, 16) if algorithm.valid_ranks(range(n, n + 1))]
        values = [parameter.default(n) for n in ranks]
        meaning = parameter.title_zh.removesuffix(f" {parameter.symbol}")
        if len(set(values)) == 1:
            said += f"{parameter.symbol} 是{meaning}，数的时候取 {values[0]}。"
        else:
            said += (
                f"{parameter.symbol} 是{meaning}，数的时候 N = {'、'.join(map(str, ranks))} "
                f"各取 {'、'.join(map(str, values))}。"
            )
    return said


def algorithm_ideas(page: Page, primitive: str) -> str:
    """Tell for each algorithm of a primitive its idea, when it is right, and who runs it."""
    _primitive(page, primitive)
    return "\n\n".join(
        f"**[{algorithm.title}]({page.link(f'algorithms/{algorithm.family}.md')})**："
        f"{algorithm.idea_zh}{algorithm.wins_zh}"
        f"在用：{'；'.join(_user(use) for use in algorithm.used_by)}。"
        for algorithm in algorithms_of(primitive)
    )


def _counted(counts: Mapping[int, int | Fraction], ranks: int) -> str:
    """The number at N, with those at all other published N for the script that follows the N."""
    others = ";".join(f"{n}={_amount(value)}" for n, value in counts.items())
    shown = _amount(counts[ranks]) if ranks in counts else f"不支持 N = {ranks}"
    return f'<span data-counted="{others}">{shown}</span>'


def _amount(value: int | Fraction) -> str:
    """A number of rounds as it is, a fraction of M with its unit."""
    return str(value) if isinstance(value, int) else size(value)


def cost_formula(page: Page, name: str) -> str:
    """Show the time of an algorithm in the alpha-beta-gamma model, from its closed form."""
    formulas = _algorithm(page, name).formulas
    terms = [rf"{_factor(formulas.rounds)}\,\alpha", rf"{formulas.beta}\,\beta"]
    if formulas.gamma != "0":
        terms.append(rf"{formulas.gamma}\,\gamma")
    return f"$$T = {' + '.join(terms)}$$\n"


def cost_table(page: Page, name: str, ranks: tuple[int, ...] = (2, 4, 8, 16)) -> str:
    """Show the counted cost of an algorithm over N."""
    algorithm = _algorithm(page, name)
    columns = [
        "N",
        *(parameter.title_zh for parameter in algorithm.parameters),
        "轮数",
        TRAFFIC,
        "归约量",
        "单个 rank 最多发送",
        "全部 rank 合计发送",
    ]
    rows = []
    for n in ranks:
        try:
            cost = count_cost(algorithm.schedule(n))
        except UnsupportedChoice as error:
            raise page.error(str(error)) from None
        rows.append(
            [str(n), *map(str, algorithm.resolve(n, {}).values()), str(cost.rounds)]
            + [size(c) for c in (cost.beta, cost.gamma, cost.max_sent, cost.total_sent)]
        )
    return _markdown_table(columns, rows)


def algorithm_users(page: Page, name: str) -> str:
    """Say who runs an algorithm, with the source file that was read, and for which N it works."""
    algorithm = _algorithm(page, name)
    users = "；".join(_user(use) for use in algorithm.used_by)
    sentence = f"**{algorithm.primitive_entry.title_en} · {algorithm.title}**：{users}。"
    if algorithm.rank_rule.reason_zh:
        sentence += f"适用的 N：{algorithm.rank_rule.reason_zh}"
    return sentence + "\n"


LIBRARIES = ("NCCL", "MPICH", "Open MPI", "Gloo")
"""The columns of the library matrix, by the first words of Usage.library."""


def library_matrix(page: Page) -> str:
    """Primitive by library: which algorithms of the registry the library runs."""
    rows = []
    for primitive in PRIMITIVES.values():
        link = page.link(f"primitives/{primitive.slug}.md")
        row = [f"[{primitive.title_en}]({link})"]
        for library in LIBRARIES:
            names = [
                f"[{algorithm.title_zh}]({page.link(f'algorithms/{algorithm.family}.md')})"
                for algorithm in algorithms_of(primitive.slug)
                if _uses(algorithm, library)
            ]
            row.append("<br>".join(names) or "—")
        rows.append(row)
    return _markdown_table(["原语", *(_version(page, library) for library in LIBRARIES)], rows)


def library_sources(page: Page, library: str) -> str:
    """List what a library runs, with the source file that was read or the way it was measured."""
    if library not in LIBRARIES:
        raise page.error(f"没有库 {library!r}；现有：{'、'.join(LIBRARIES)}")
    return "".join(
        f"- {primitive.title_en}："
        + "；".join(
            f"{algorithm.title_zh}，`{use.source}`" + (f"（{use.note_zh}）" if use.note_zh else "")
            for algorithm in algorithms_of(primitive.slug)
            for use in _uses(algorithm, library)
        )
        + "\n"
        for primitive in PRIMITIVES.values()
        if any(_uses(algorithm, library) for algorithm in algorithms_of(primitive.slug))
    )


def _uses(algorithm: Algorithm, library: str) -> list[Usage]:
    return [use for use in algorithm.used_by if use.library.startswith(library)]


def _version(page: Page, library: str) -> str:
    """The library with the version that was read, which all entries must agree on."""
    names = {use.library for entry in REGISTRY.values() for use in _uses(entry, library)}
    if len(names) != 1:
        raise page.error(f"算法里 {library} 的写法不一致：{'、'.join(sorted(names))}")
    return names.pop()


def _user(use: Usage) -> str:
    note = f"（{use.note_zh}）" if use.note_zh else ""
    return f"{use.library}：`{use.source}`{note}"


def size_of_m(page: Page, primitive: str) -> str:
    """Say in words what M is for a primitive."""
    return _primitive(page, primitive).size_zh


def size(amount: Fraction) -> str:
    """Write a fraction of M: ``0``, ``M``, ``3/2 M``."""
    if amount == 0:
        return "0"
    return "M" if amount == 1 else f"{amount} M"


def _primitive(page: Page, slug: str) -> Primitive:
    if slug not in PRIMITIVES:
        raise page.error(f"没有名为 {slug!r} 的原语；现有：{'、'.join(PRIMITIVES)}")
    return PRIMITIVES[slug]


def _algorithm(page: Page, name: str) -> Algorithm:
    if name not in REGISTRY:
        raise page.error(f"没有名为 {name!r} 的算法；现有：{'、'.join(REGISTRY)}")
    return REGISTRY[name]


def _proved(
    page: Page, name: str, ranks: int, root: int, **parameters: int
) -> tuple[Algorithm, Schedule]:
    """The algorithm and its schedule, proved, for an N that has a file."""
    algorithm = _algorithm(page, name)
    try:
        schedule = prove(algorithm.schedule(ranks, root, **parameters)).schedule
    except UnsupportedChoice as error:
        raise page.error(str(error)) from None
    if ranks not in published_ranks(algorithm):
        published = "、".join(map(str, published_ranks(algorithm)))
        raise page.error(f"{name} 没有 N = {ranks} 的日程文件，本站发布 N = {published}")
    return algorithm, schedule


def numbers(primitive: Primitive, schedule: Schedule, content: list[Block | None]) -> str:
    """The numbers of one buffer as the demo prints them, or the word for undefined data."""
    if all(block is None for block in content):
        return "未定义"
    values = []
    for block in content:
        if block is None:
            values.append("未定义")
        else:
            n, blocks = schedule.ranks, schedule.blocks
            values.append(
                str(sum(primitive.value(block.origin, rank, n, blocks) for rank in block.ranks()))
            )
    return f"`[{', '.join(values)}]`"


def _place(buffer: str, offset: int, blocks: int) -> str:
    return f"{buffer}[{offset}]" if blocks == 1 else f"{buffer}[{offset}:{offset + blocks}]"


def _transfer_words(transfer: Transfer) -> str:
    source = _place(transfer.from_buffer, transfer.from_offset, transfer.blocks)
    target = _place(transfer.to_buffer, transfer.to_offset, transfer.blocks)
    moved = source if source == target else f"{source} → {target}"
    way = (
        f"rank {transfer.src} 本地"
        if transfer.src == transfer.dst
        else f"rank {transfer.src} → rank {transfer.dst}"
    )
    return f"{way}：{moved}{'，归约' if transfer.op == REDUCE else ''}"


def _round_number(round_: Round, number: int) -> str:
    return "本地" if round_.is_local else str(number)


def _rounds_table(schedule: Schedule, title: str) -> str:
    """All rounds as an HTML table without a single script; slices are [first:last + 1]."""
    rows = []
    number = 0
    for round_ in schedule.rounds:
        number += not round_.is_local
        transfers = "".join(f"<li>{html.escape(_transfer_words(t))}</li>" for t in round_.transfers)
        rows.append(
            f'<tr><th scope="row">{_round_number(round_, number)}</th>'
            f"<td>{html.escape(PHASES[round_.phase])}</td>"
            f"<td>{html.escape(round_.caption)}</td><td><ul>{transfers}</ul></td></tr>"
        )
    return (
        f'<table class="cp-rounds"><caption>{html.escape(title)}：逐轮列表</caption>'
        '<thead><tr><th scope="col">轮</th><th scope="col">阶段</th>'
        '<th scope="col">做什么</th><th scope="col">传输</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _factor(formula: str) -> str:
    """Put brackets round a sum, so that it can stand before a symbol."""
    needs_brackets = any(sign in formula for sign in "+-") and not formula.endswith((")", "}"))
    return f"({formula})" if needs_brackets else formula


def _markdown_table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


MACROS: tuple[Callable[..., str], ...] = (
    player,
    state_table,
    algorithm_table,
    algorithm_ideas,
    algorithm_users,
    cost_formula,
    cost_table,
    library_matrix,
    library_sources,
    size_of_m,
)
"""Every macro of this module; ``site_macros`` fills in the page."""
