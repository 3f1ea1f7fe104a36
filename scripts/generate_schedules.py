#!/usr/bin/env python3
"""Build step: take every algorithm of the registry, prove its schedules, write them as JSON.

Writes ``catalog.json`` and ``<primitive>/<algorithm>/n<N>.json`` below ``docs/assets/schedules``;
a parameter that is not the default stands in the name (``n8-chunks4.json``).
A file is written only if its content changes, so that a watching ``mkdocs serve`` comes to rest,
and files that no algorithm stands for any more are removed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from collectives.algorithm import Algorithm
from collectives.algorithms import REGISTRY, algorithms_of
from collectives.primitives import PRIMITIVES
from collectives.prove import prove
from collectives.serialize import schedule_to_json

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_OUTPUT = ROOT / "docs" / "assets" / "schedules"

#: The numbers of ranks that the site publishes files for.
PUBLISHED_RANKS = range(2, 17)

#: Larger ones, for the matrix view, where all ranks together hold at most MATRIX_CELLS blocks:
#: beyond that the picture is a grey area and the file a burden.
MATRIX_RANKS = (32, 64)
MATRIX_CELLS = 9000

imported_from = 0
"""When the newest source was written, for whoever imports this module more than once."""


def published_ranks(algorithm: Algorithm) -> list[int]:
    """The numbers of ranks that there are files for, ascending."""
    return algorithm.valid_ranks(PUBLISHED_RANKS) + [
        n
        for n in MATRIX_RANKS
        if algorithm.valid_ranks(range(n, n + 1))
        and n * sum(buffer.blocks for buffer in algorithm.schedule(n).buffers) <= MATRIX_CELLS
    ]


def schedule_path(algorithm: Algorithm, ranks: int, parameters: Mapping[str, int]) -> str:
    """The path of a file relative to the catalogue; defaults of parameters are not in the name."""
    defaults = algorithm.resolve(ranks, {})
    suffix = "".join(
        f"-{name}{value}" for name, value in parameters.items() if value != defaults[name]
    )
    return f"{algorithm.primitive}/{algorithm.slug}/n{ranks}{suffix}.json"


def catalogue() -> dict[str, Any]:
    """The registry as the player reads it: primitives, their algorithms, valid N, file paths."""
    return {
        "format": "collective-catalog",
        "version": 1,
        "primitives": [
            {
                "slug": primitive.slug,
                "title": {"zh": primitive.title_zh, "en": primitive.title_en},
                "rooted": primitive.rooted,
                "reduces": primitive.reduces,
                "default": algorithms_of(primitive.slug)[0].slug,
                "algorithms": [
                    {
                        "slug": algorithm.slug,
                        "title": {"zh": algorithm.title_zh, "en": algorithm.title_en},
                        "layout": algorithm.layout,
                        "ports": algorithm.ports,
                        "ranks": published_ranks(algorithm),
                        "restriction": algorithm.rank_rule.reason_zh,
                        "file": f"{primitive.slug}/{algorithm.slug}/n{{ranks}}{{parameters}}.json",
                        "parameters": [
                            {
                                "name": parameter.name,
                                "symbol": parameter.symbol,
                                "title": parameter.title_zh,
                                "choices": {
                                    str(n): parameter.choices(n) for n in published_ranks(algorithm)
                                },
                                "default": {
                                    str(n): parameter.default(n) for n in published_ranks(algorithm)
                                },
                            }
                            for parameter in algorithm.parameters
                        ],
                    }
                    for algorithm in algorithms_of(primitive.slug)
                ],
            }
            for primitive in PRIMITIVES.values()
        ],
    }


def files() -> Iterable[tuple[str, str]]:
    """Every file of the catalogue as (relative path, text), each schedule proved on the way.

    Raises:
        ProofError: a schedule of the registry is wrong.
    """
    for algorithm in REGISTRY.values():
        for n in published_ranks(algorithm):
            for parameters in algorithm.combinations(n):
                schedule = algorithm.schedule(n, **parameters)
                yield schedule_path(algorithm, n, parameters), schedule_to_json(prove(schedule))
    text = json.dumps(catalogue(), ensure_ascii=False, separators=(",", ":"))
    yield "catalog.json", text + "\n"


def generate(output: Path = DEFAULT_OUTPUT) -> tuple[int, int, int]:
    """Bring ``output`` up to date.

    Nothing is written unless every schedule is proved.

    Returns:
        How many files there are, how many were written, how many stale ones were removed.

    Raises:
        ProofError: a schedule of the registry is wrong.
        OSError: a file cannot be written.
    """
    wanted = dict(files())
    written = 0
    for relative, text in wanted.items():
        path = output / relative
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            written += 1
    removed = 0
    for path in sorted(output.rglob("*.json")):
        if path.relative_to(output).as_posix() not in wanted:
            path.unlink()
            removed += 1
    return len(wanted), written, removed


class _OneLineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"generate_schedules.py：参数有误：{message}\n")


def main(arguments: list[str] | None = None) -> int:
    """Command line; exit code 0, or 2 with one line when an argument is wrong."""
    parser = _OneLineParser(description="生成并证明全部日程，写成 JSON。")
    parser.add_argument(
        "--output",
        type=Path,
        default=DEFAULT_OUTPUT,
        help="写到哪个目录（默认 docs/assets/schedules）",
    )
    options = parser.parse_args(arguments)
    if options.output.exists() and not options.output.is_dir():
        parser.error(f"--output {options.output} 不是目录")
    try:
        total, written, removed = generate(options.output)
    except OSError as error:
        parser.error(f"写不了 {options.output}：{error.strerror}")
    print(f"日程共 {total} 个文件，全部证明通过；写入 {written} 个，删除过期 {removed} 个。")
    return 0


if __name__ == "__main__":
    sys.exit(main())
