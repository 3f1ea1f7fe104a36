"""What pages may ask of the recorded benchmarks: tables and a plot.

The data are ``docs/assets/benchmarks.json``, written by ``make bench`` on one machine at one time;
everything shown says which. Sizes are the same everywhere, so they are taken from the files
themselves. Registered by ``site_macros``.
"""

from __future__ import annotations

import gzip
import html
import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from collectives.algorithms import REGISTRY
from collectives.cost import count_cost
from collectives.primitives import PRIMITIVES
from player_bundle import BUNDLE, CHOICES, ENTRIES, MANIFEST
from schedule_macros import size as amount

if TYPE_CHECKING:
    from site_macros import Page

BUILT_IN = "torch"
"""The row of PyTorch's own collective."""

WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 12, 40
"""The plot and its margins, in pixels; the right one holds the names."""


def benchmark_setup(page: Page) -> str:
    """Say where, when and with what the numbers were taken."""
    data = _data(page)
    return (
        f"记录于 {data['date']}，{data['machine']}，torch {data['torch']}，"
        f"N = {data['ranks']}，每项 {data['repeat']} 次取中位数。\n"
    )


def benchmark_table(page: Page, primitive: str) -> str:
    """Show milliseconds by algorithm and size, and beside each its ratio to PyTorch's own call."""
    rows = _rows(page, primitive)
    sizes = list(rows[BUILT_IN])
    lines = [
        [PRIMITIVES[primitive].title, *(_size(size) for size in sizes)],
        ["---"] * (len(sizes) + 1),
    ]
    for slug, values in rows.items():
        cells = [f"{values[size] * 1000:.3g}" for size in sizes]
        if slug != BUILT_IN:
            cells = [
                f"{cell}<br>×{values[size] / rows[BUILT_IN][size]:.2g}"
                for cell, size in zip(cells, sizes, strict=True)
            ]
        lines.append([_name(page, primitive, slug), *cells])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n单位是毫秒；× 后面是与 torch 自带调用的比值，小于 1 表示更快。\n"


SMALL = 2**20
"""Bytes from which the time of copying stands out from that of waiting for a core."""


def benchmark_reading(page: Page, primitive: str) -> str:
    """Say what a table shows: whether small sizes grow at all, and what sends most at the largest.

    The sentences follow the recorded numbers, whatever they are.
    """
    rows = {slug: row for slug, row in _rows(page, primitive).items() if slug != BUILT_IN}
    shorter = longer = 0
    for row in rows.values():
        times = [seconds for size, seconds in row.items() if int(size) < SMALL]
        shorter += sum(then < before for before, then in pairwise(times))
        longer += sum(then >= before for before, then in pairwise(times))
    small = (
        f"不到 {_size(str(SMALL))} 时，同一个算法换到下一个更大的数据，"
        f"用时有 {longer} 次变长、{shorter} 次反而变短"
    )
    small += "：都是抖动，排不出先后。" if shorter * 4 > longer else "。"
    largest = list(next(iter(rows.values())))[-1]
    totals: dict[Fraction, dict[str, float]] = {}
    for slug, row in rows.items():
        total = count_cost(REGISTRY[f"{primitive}/{slug}"].schedule(_data(page)["ranks"]))
        totals.setdefault(total.total_sent, {})[slug] = row[largest]
    said = []
    for total_sent, times_of in sorted(totals.items()):
        spent = sorted({f"{seconds * 1000:.0f}" for seconds in times_of.values()}, key=int)
        who = (
            f"的{_name(page, primitive, next(iter(times_of)))}"
            if len(times_of) == 1
            else f"的 {len(times_of)} 种"
        )
        said.append(f"{amount(total_sent)} {who}用了 {' 到 '.join(spent[:1] + spent[1:][-1:])} ms")
    large = f"{_size(largest)} 时，按全部 rank 合计发送的字节排：{'，'.join(said)}。"
    return f"- {small}\n- {large}\n"


def benchmark_plot(page: Page, primitive: str) -> str:
    """Draw time over size on logarithmic scales, one line per algorithm."""
    rows = _rows(page, primitive)
    sizes = [int(size) for size in rows[BUILT_IN]]
    times = [seconds for values in rows.values() for seconds in values.values()]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    first, last = math.log2(sizes[0]), math.log2(sizes[-1])

    def x(size: float) -> float:
        return LEFT + (math.log2(size) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(seconds: float) -> float:
        return TOP + (high - math.log10(seconds)) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = []
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<path class="bench-grid" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(
            f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{_duration(power)}</text>'
        )
    for size in sizes[::2]:
        parts.append(
            f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">'
            f"{_size(str(size))}</text>"
        )
    ends = sorted((y(list(values.values())[-1]), slug) for slug, values in rows.items())
    labels: dict[str, float] = {}
    lowest = 0.0
    for at, slug in ends:
        lowest = labels[slug] = max(at, lowest + 16)
    for index, (slug, values) in enumerate(rows.items()):
        points = " ".join(f"{x(int(size)):.1f},{y(t):.1f}" for size, t in values.items())
        end = list(values.values())[-1]
        line = f'<polyline points="{points}"/>'
        leader = (
            f'<path d="M{WIDTH - RIGHT + 2} {y(end):.1f}L{WIDTH - RIGHT + 12} {labels[slug]:.1f}"/>'
        )
        name = html.escape(_name(page, primitive, slug))
        text = f'<text x="{WIDTH - RIGHT + 16}" y="{labels[slug] + 4:.1f}">{name}</text>'
        parts.append(f'<g class="bench-line bench-line-{index % 9}">{line}{leader}{text}</g>')
    title = f"{PRIMITIVES[primitive].title_en} 的用时随数据大小的变化，数值见下表"
    return (
        f'<div class="bench-plot" role="group" aria-label="{title}" tabindex="0" markdown="0">'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{title}">{"".join(parts)}</svg></div>\n'
    )


def proof_table(page: Page) -> str:
    """Show how long it takes to generate and prove the ring AllReduce over N."""
    lines = [
        "| N | 传输个数 | 用时 | 每个传输 |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row['ranks']} | {row['transfers']} | {row['seconds']:.3g} s "
        f"| {row['seconds'] / row['transfers'] * 1e6:.2f} µs |"
        for row in _data(page)["proof"]
    ]
    return "\n".join(lines) + "\n"


def frame_table(page: Page) -> str:
    """Show what a frame of the playing player costs, and how memory goes."""
    data = _data(page)["player"]
    lines = [
        "| 日程 | 每帧主线程 | 帧间隔 p95 | 最长的间隔 |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {name} | {frame['main_thread']:.1f} ms | {frame['p95']:.1f} ms "
        f"| {frame['longest']:.1f} ms |"
        for name, frame in data["frames"].items()
    ]
    heap = "、".join(f"{mb:.2f}" for mb in data["heap"])
    return (
        "\n".join(lines) + f"\n\n记录于 {data['date']}，{data['machine']}，{data['browser']}，"
        f"软件光栅化，处理器放慢到 1/{data['throttle']}。每秒 60 帧时间隔是 16.7 ms。"
        f"每换 100 次日程之后的内存依次是 {heap} MB。\n"
    )


def site_table(page: Page) -> str:
    """Show what pages cost a reader on a phone, beside a stock page of the same length."""
    data = _data(page)["site"]
    lines = [
        "| 页面 | 性能 | 无障碍 | 最佳实践 | SEO | TBT（ms） | CLS | KB |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    stock = f"Material {data['material']} 原样，同样长的一页"
    rows = {stock: data["stock"]}
    for path, found in data["pages"].items():
        target = page.link(f"{path.rstrip('/')}.md" if path else "index.md")
        rows[f"[`{path or '/'}`]({target})"] = found
    for name, found in rows.items():
        scores = " | ".join(str(score) for score in found["scores"].values())
        lines.append(
            f"| {name} | {scores} | {found['tbt']:.0f} | {found['cls']:.3f} | "
            f"{found['bytes'] / 1024:.0f} |"
        )
    return (
        f"{data['date']}，{data['machine']}，Lighthouse {data['lighthouse']}，手机，"
        f"每页 {data['runs']} 次取中位数。\n\n" + "\n".join(lines) + "\n"
    )


def bundle_table(page: Page) -> str:
    """Show how large the files of the player are, those that every page loads first."""
    files = [path for path in (page.docs / BUNDLE).iterdir() if path.name != MANIFEST]
    lines = ["| 文件 | 何时载入 | 字节 | gzip 后 |", "| --- | --- | ---: | ---: |"]
    sums = dict.fromkeys(("画第一幅图之前", "画好之后", "用到时"), 0)
    rows = []
    for path in files:
        content = path.read_bytes()
        packed = len(gzip.compress(content, 9))
        when = list(sums)[0 if path.stem in ENTRIES else 1 if path.stem in CHOICES else 2]
        sums[when] += packed
        rows.append((list(sums).index(when), path.name, when, len(content), packed))
    lines += [
        f"| `{name}` | {when} | {size} | {packed} |" for _, name, when, size, packed in sorted(rows)
    ]
    first, then, rest = (f"{size / 1000:.1f} KB" for size in sums.values())
    return (
        "\n".join(lines)
        + f"\n\n合计（gzip 后）：画第一幅图之前 {first}；画好之后，选择栏和地址 {then}；"
        f"其余 {rest} 用到时才载入。\n"
    )


def _data(page: Page) -> dict[str, Any]:
    path = page.docs / "assets" / "benchmarks.json"
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise page.error(f"读不了 assets/benchmarks.json：{error}；先运行 make bench") from None
    return data


def _rows(page: Page, primitive: str) -> dict[str, dict[str, float]]:
    """Algorithm -> size -> seconds, PyTorch's own call first."""
    rows: dict[str, dict[str, float]] | None = _data(page)["collectives"].get(primitive)
    if rows is None:
        raise page.error(f"没有测过原语 {primitive!r}")
    return rows


def _name(page: Page, primitive: str, slug: str) -> str:
    if slug == BUILT_IN:
        return "torch 自带"
    name = f"{primitive}/{slug}"
    if name not in REGISTRY:
        raise page.error(f"测速数据里的 {name} 已不在本站的算法里；重新运行 make bench")
    return REGISTRY[name].title_zh


def _size(size: str) -> str:
    kilobytes = int(size) // 1024
    return f"{kilobytes // 1024} MB" if kilobytes >= 1024 else f"{kilobytes} KB"


def _duration(power: int) -> str:
    """Ten to some power of seconds."""
    for unit, scale in (("s", 0), ("ms", -3), ("µs", -6)):
        if power >= scale:
            return f"{10 ** (power - scale)} {unit}"
    return f"{10.0 ** (power + 6):g} µs"


MACROS: tuple[Callable[..., str], ...] = (
    benchmark_setup,
    benchmark_table,
    benchmark_reading,
    benchmark_plot,
    proof_table,
    bundle_table,
    frame_table,
    site_table,
)
"""Every macro of this module; ``site_macros`` fills in the page."""
