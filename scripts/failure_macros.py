"""What pages may ask of the failures: the entries, the files that show them, what these print.

The registry is ``failures``; nothing on these pages is typed twice. Registered by ``site_macros``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import failures

if TYPE_CHECKING:
    from site_macros import Page

NOT_HERE = "未在本机复现"

SHORT = re.compile(r"https://github\.com/([^/]+/[^/]+)/(?:issues|pull)/(\d+)")
"""An issue or pull request of GitHub, which its project and number name well enough."""


def failure_counts(page: Page) -> str:
    """Say how many entries there are, and how many of them a file shows."""
    entries = failures.loud(page.docs)
    shown = sum(bool(entry.file) for entry in entries)
    return f"一共 {len(entries)} 条，其中 {shown} 条有能运行的文件"


def failure_entries(page: Page, group: str) -> str:
    """Show the errors of one group: the message as a heading, cause, cure, a real message.

    Args:
        page: the page that asks.
        group: one of failures.GROUPS.
    """
    entries = [entry for entry in failures.loud(page.docs) if entry.group == group]
    if not entries:
        raise page.error(f"没有 {group!r} 这一组错误")
    return "\n".join(_loud(page, entry) for entry in entries)


def silent_failures(page: Page) -> str:
    """Show every wrong value without an error: what is printed, why, how to notice and prevent."""
    return "\n".join(_silent(page, entry) for entry in failures.silent(page.docs))


def failure_file(page: Page, name: str, title: str = "") -> str:
    """Show a file of docs/demos/failures/ in a collapsible block, with a download link."""
    from site_macros import fenced, indented

    text = _read(page, name)
    link = page.link(f"{failures.FOLDER}/{name}")
    code = f"{fenced(text, 'python', name)}\n\n[下载 {name}]({link})"
    code += f'{{ .demo-download download="{name}" }}\n'
    return f'??? example "{title or name}"\n\n' + indented(code) + "\n"


def failure_output(page: Page, name: str) -> str:
    """Show what was recorded under a name of docs/demos/failures/expected/, without ".txt"."""
    from site_macros import fenced

    try:
        text = failures.recorded(page.docs, name)
    except FileNotFoundError:
        raise page.error(f"没有录下 {name!r} 的输出") from None
    return fenced(text, "text", "实际输出", wraps=True) + "\n"


def order_of_calls(page: Page) -> str:
    """Say what becomes of calls in another order, which is the same for every primitive."""
    loud = page.link("failures/errors.md#different-sizes")
    silent = page.link("failures/silent.md#swapped-calls")
    return (
        "**次序错开。** 各 rank 的调用只按次序配对，不看名字。种类不同，就等到超时，"
        f"或者[直接中止]({loud})；种类和大小都相同，就[悄悄配错]({silent})。"
    )


def _loud(page: Page, entry: failures.Loud) -> str:
    """One entry of the page of errors."""
    from site_macros import fenced

    heading = " / ".join(code(text) for text in (*entry.messages, *entry.variants))
    parts = [f'### {heading} {{ #{entry.id} data-toc-label="{_attribute(entry.label)}" }}']
    mark = f"（{NOT_HERE}：{entry.absent}）" if entry.absent else ""
    parts.append(f"**{entry.label}**{mark}。{entry.cause}")
    parts.append(f"**怎么办**：{entry.cure}")
    parts.append(fenced(example(page.docs, entry), "text", "完整的样子", wraps=True))
    where = []
    if entry.files:
        where.append(f"复现：{'、'.join(_download(page, file) for file in entry.files)}")
    if entry.sources:
        where.append(f"来源：{_sources(entry.sources)}")
    if where:
        parts.append("；".join(where) + "。")
    return "\n\n".join(parts) + "\n"


def _download(page: Page, file: str) -> str:
    """A link to a file that shows an error."""
    _read(page, file)
    link = page.link(f"{failures.FOLDER}/{file}")
    return f'[{file}]({link}){{ download="{file}" }}'


def example(docs: Path, entry: failures.Loud) -> str:
    """Return the whole message as it was recorded, or as the sources have it."""
    if entry.example:
        return entry.example
    lines = failures.recorded(docs, entry.file).splitlines()
    wanted = [*entry.messages, *entry.variants]
    found = [at for at, line in enumerate(lines) if any(text in line for text in wanted)]
    complete = [lines[at] for at in found if entry.error in lines[at]]
    if complete:
        return "\n".join(dict.fromkeys(complete))
    # A type that stands on a line of its own belongs to the message below it.
    return "\n".join(dict.fromkeys(line for at in found for line in lines[max(0, at - 1) : at + 1]))


def _silent(page: Page, entry: failures.Silent) -> str:
    """One section of the page of wrong values."""
    parts = [
        f"## {entry.title} {{ #{entry.id} }}"
        if "[" not in entry.title
        else f"## {code(entry.title)} {{ #{entry.id} }}"
    ]
    parts.append(entry.story)
    parts.append(failure_output(page, entry.file).rstrip())
    parts.append(f"**怎么发现**：{entry.notice}")
    parts.append(f"**怎么防**：{entry.prevent}")
    parts.append(f"**DETAIL**：{_detail(entry)}")
    if entry.sources:
        parts.append(f"来源：{_sources(entry.sources)}。")
    parts.append(failure_file(page, entry.file))
    return "\n\n".join(parts) + "\n"


def _detail(entry: failures.Silent) -> str:
    """What TORCH_DISTRIBUTED_DEBUG=DETAIL makes of it, in words."""
    if not entry.detail:
        return "看不见，输出和上面一字不差。"
    if entry.detail.startswith("Timeout"):
        return f"停住不动，直到闹钟响，打印 {code(entry.detail)}。"
    return f"看得见，报 {code(entry.detail)}。"


def _read(page: Page, name: str) -> str:
    path = page.docs / failures.FOLDER / name
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise page.error(f"没有 {failures.FOLDER}/{name}") from None


def _sources(addresses: tuple[str, ...]) -> str:
    """Links to the sources, each by the shortest name that says what it is."""
    links = []
    for address in addresses:
        short = SHORT.fullmatch(address)
        name = f"{short[1]}#{short[2]}" if short else address.split("//")[1].rstrip("/")
        links.append(f"[{name}]({address})")
    return "、".join(links)


def code(text: str) -> str:
    """Return a Markdown code span that holds the text exactly, backticks included."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"{fence}{text}{fence}"


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;")


MACROS: tuple[Callable[..., str], ...] = (
    failure_counts,
    failure_entries,
    silent_failures,
    failure_file,
    failure_output,
    order_of_calls,
)
"""The macros of this module. Their first parameter is the page, which `define_env` fills in."""
