"""What the libraries call each primitive: read from ``docs/assets/names.yml`` and checked."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from collectives.primitives import PRIMITIVES
from sources import Source, find

FILE = "assets/names.yml"
"""The names, inside docs/."""

LIBRARIES = ("PyTorch", "PyTorch 函数式", "NCCL", "MPI", "HCCL", "JAX")
"""The libraries in the order of every table. Each has an entry for each primitive."""


class NamesError(ValueError):
    """The file of names contradicts itself; the message is one Chinese sentence."""


@dataclass(frozen=True)
class Old:
    """An earlier name of a call.

    Attributes:
        name: the whole name, module included.
        changed: when another one took its place.
        source: where that is said, a source's id or the address of a thread.
    """

    name: str
    changed: str
    source: str


@dataclass(frozen=True)
class Name:
    """What one library calls a primitive.

    Attributes:
        primitive: its slug.
        library: one of LIBRARIES.
        call: the call, with its parameters where the library is written in Python; empty where the
            library has no such call.
        note: what is worth knowing, in Markdown.
        old: earlier names.
        sources: where the name stands, ids of sources or addresses of threads.
    """

    primitive: str
    library: str
    note: str
    sources: tuple[str, ...]
    call: str = ""
    old: tuple[Old, ...] = ()

    @property
    def short(self) -> str:
        """The name alone, without module and parameters."""
        return self.call.split("(")[0].split(".")[-1]


@functools.cache
def read(docs: Path) -> dict[str, list[Name]]:
    """Return the names by primitive, in the order of LIBRARIES.

    Raises:
        NamesError: a primitive or a library is missing or unknown, or a field is.
    """
    raw: dict[str, list[dict[str, Any]]] = yaml.safe_load((docs / FILE).read_text(encoding="utf-8"))
    if set(raw) != set(PRIMITIVES):
        raise NamesError(f"{FILE} 的原语与登记表不同：{sorted(set(raw) ^ set(PRIMITIVES))}")
    found: dict[str, list[Name]] = {}
    for primitive in PRIMITIVES:
        try:
            names = [_name(primitive, entry) for entry in raw[primitive]]
        except (TypeError, KeyError) as error:
            raise NamesError(f"{FILE}：{primitive} 的字段不对：{error}") from None
        libraries = [name.library for name in names]
        if sorted(set(libraries)) != sorted(LIBRARIES):
            raise NamesError(f"{FILE}：{primitive} 的库不全或不认识：{'、'.join(libraries)}")
        found[primitive] = sorted(names, key=lambda name: LIBRARIES.index(name.library))
    return found


def _name(primitive: str, entry: dict[str, Any]) -> Name:
    old = tuple(Old(**former) for former in entry.get("old", ()))
    rest = {key: value for key, value in entry.items() if key not in ("old", "sources")}
    return Name(primitive=primitive, sources=tuple(entry["sources"]), old=old, **rest)


def sources_of(name: Name, known: dict[str, Source]) -> Iterator[Source]:
    """Yield the sources of a name and of its earlier names, each once."""
    wanted = dict.fromkeys((*name.sources, *(old.source for old in name.old)))
    for source in wanted:
        yield find(known, source)
