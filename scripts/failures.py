"""The failures that the site explains: read from docs/demos/failures/, checked, and how they run.

One registry for the pages, the tests and the recorded outputs. ``entries.yml`` holds the errors
that say something, ``silent.yml`` those that do not; each names the file that shows it, and
``expected/`` holds what that file prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import yaml

FOLDER = "demos/failures"
"""The folder of the files inside docs/, and on the site."""

GROUPS = ("start", "calls", "groups", "ends", "elsewhere")
"""Where in a run an error belongs; one section of the page each, in this order."""


class FailureError(ValueError):
    """The registry of failures contradicts itself; the message is one Chinese sentence."""


@dataclass(frozen=True)
class Loud:
    """An error with a message.

    Attributes:
        id: its anchor on the page.
        label: what it is, in a few Chinese words: its name in the table of contents.
        group: one of GROUPS.
        messages: the parts of its text that are the same in every run, as a reader meets them.
        error: the type of the exception, or what else begins the line.
        variants: what stands there instead of the messages when another version of Python or luck
            decides so.
        cause: why it happens.
        cure: what to do.
        file: the file that shows it; "" where none can on Linux without a GPU.
        also: further files that end in the same message, each for another reason.
        sources: addresses of reports or documentation.
        example: the whole message, only where no file shows it.
        absent: why no file shows it, only then.
    """

    id: str
    label: str
    group: str
    messages: tuple[str, ...]
    error: str
    cause: str
    cure: str
    file: str = ""
    also: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    example: str = ""
    absent: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that shows it, the one that the page quotes first."""
        return (self.file, *self.also) if self.file else ()


@dataclass(frozen=True)
class Silent:
    """A wrong value without an error.

    Attributes:
        id: its anchor on the page.
        title: what goes wrong, in a few Chinese words.
        file: the file that shows it.
        story: what happens in it and why.
        notice: how to notice it.
        prevent: how to prevent it.
        detail: what TORCH_DISTRIBUTED_DEBUG=DETAIL says about it; "" when it sees nothing.
        sources: addresses of reports or documentation.
    """

    id: str
    title: str
    file: str
    story: str
    notice: str
    prevent: str
    detail: str = ""
    sources: tuple[str, ...] = ()


Entry = TypeVar("Entry", Loud, Silent)


def read(kind: type[Entry], path: Path) -> list[Entry]:
    """Read the entries of one kind from a YAML file.

    Raises:
        FailureError: a field is missing, unknown or of the wrong type, or an id stands twice.
    """
    known = {field.name: field for field in fields(kind)}
    entries: list[Entry] = []
    for raw in yaml.safe_load(path.read_text(encoding="utf-8")):
        name = raw.get("id", raw)
        if unknown := set(raw) - set(known):
            raise FailureError(f"{path.name}：{name} 有不认识的字段 {sorted(unknown)}")
        for key, value in raw.items():
            wanted = list if "tuple" in str(known[key].type) else str
            if not isinstance(value, wanted):
                raise FailureError(f"{path.name}：{name} 的 {key} 应当是 {wanted.__name__}")
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value.strip()
            for key, value in raw.items()
        }
        try:
            entries.append(kind(**values))
        except TypeError as error:
            raise FailureError(f"{path.name}：{name} 缺少字段：{error}") from None
    names = [entry.id for entry in entries]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise FailureError(f"{path.name}：{twice} 出现了两次")
    return entries


def loud(docs: Path) -> list[Loud]:
    """Return the errors with a message, in the order of the page.

    Raises:
        FailureError: the registry is not sound.
    """
    entries = read(Loud, docs / FOLDER / "entries.yml")
    for entry in entries:
        if entry.group not in GROUPS:
            raise FailureError(f"{entry.id} 的 group 应当是 {'、'.join(GROUPS)} 之一")
        if entry.also and not entry.file:
            raise FailureError(f"{entry.id} 有 also，却没有 file")
        if bool(entry.file) == bool(entry.absent) or bool(entry.absent) != bool(entry.example):
            raise FailureError(f"{entry.id} 要么有 file，要么有 absent 和 example")
    return entries


def silent(docs: Path) -> list[Silent]:
    """Return the wrong values without an error, in the order of the page."""
    return read(Silent, docs / FOLDER / "silent.yml")


def recorded(docs: Path, file: str) -> str:
    """Return what a file printed when it was recorded.

    Args:
        docs: the folder docs/.
        file: its name, such as "busy_port.py"; or that of another recording, without ".txt".
    """
    path = docs / FOLDER / "expected" / f"{file.removesuffix('.py')}.txt"
    return path.read_text(encoding="utf-8")


MASKS = (
    # An error whose message begins on the next line.
    (r"(?<=Error:) *\n\s*(?=[A-Z])", " "),
    # Where the wheel was built, and where the reader's copy lies.
    (r"/\S*/(?=third_party/|site-packages/)", "…/"),
    (r"'/[^']*/(?=<stdin>')", "'…/"),
    # Ports, addresses in memory, the time of day.
    (r"(?<=port: )\d+|(?<=127\.0\.0\.\d, )\d+|(?<=127\.0\.0\.\d\]:)\d+", "PORT"),
    (r"(?<=127\.0\.0\.\d:)\d+", "PORT"),
    (r"0x[0-9a-f]{6,}", "0x…"),
    (r"(?<=\[)([A-Z])\d{4} [\d:.]+ (?=\w+\.cpp)", r"\1… "),
    # An emoji at the end of Gloo's own message.
    (r" ?[\U0001f300-\U0001faff\ufe0f]+", ""),
)


def masked(text: str) -> str:
    """Return the text without what differs from run to run and from machine to machine."""
    for pattern, replacement in MASKS:
        text = re.sub(pattern, replacement, text)
    return text


def telling(errors: str, entries: Iterable[Loud]) -> list[str]:
    """Return the lines of stderr that hold what an entry promises, in their order.

    A traceback quotes the line that raises, which is no message.
    """
    wanted = [t for e in entries for t in (*e.messages, *e.variants, e.error)]
    lines = [line.strip() for line in errors.splitlines()]
    return [
        line for line in lines if not line.startswith("raise ") and any(t in line for t in wanted)
    ]
