"""Beyond the eight primitives: the short programs print what is recorded, the table was tried."""

from __future__ import annotations

import ast
import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import measure_gloo_types as trying
import record_expected
from article import Article
from built_site import ROOT, Site
from demo_runner import Run, rehearse

BEYOND = ROOT / "docs" / "demos" / "beyond"
NAMES = sorted(path.name for path in BEYOND.glob("*.py"))
PAGE = "run/beyond/"
DATA: dict[str, Any] = json.loads(trying.RESULTS.read_text(encoding="utf-8"))

each_program = pytest.mark.parametrize("name", NAMES)


def source(name: str) -> str:
    return (BEYOND / name).read_text(encoding="utf-8")


def expected(name: str) -> list[str]:
    return record_expected.record_of(BEYOND / name).read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def runs(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Every program, copied from the page and run once, two at a time.

    Programs with the same frame are started as a reader does in test_training.
    """
    folder = tmp_path_factory.mktemp("reader")
    blocks = [block for block in site.page(PAGE).code_blocks if block.title in NAMES]
    with ThreadPoolExecutor(max_workers=2) as pool:
        started = {
            block.title: pool.submit(
                rehearse, folder / Path(block.title).stem, block.title, block.text
            )
            for block in blocks
        }
    return {name: run.result() for name, run in started.items()}


@each_program
def test_a_program_copied_from_the_page_prints_what_is_recorded(name: str, runs: dict[str, Run]):
    assert runs[name].check() == expected(name)
    assert runs[name].errors == ""


@each_program
def test_a_program_is_short_needs_nothing_but_torch_and_gives_up_by_itself(name: str):
    text = source(name)
    assert text.splitlines()[0] == f"# 运行方式: python {name}"
    assert len(text.splitlines()) <= 60
    modules = set(re.findall(r"^(?:from|import) (\w+)", text, flags=re.MULTILINE))
    assert modules - {"torch"} <= sys.stdlib_module_names
    (patience,) = re.findall(r"seconds=(\d+)", text)
    (gives_up,) = re.findall(r"dump_traceback_later\((\d+), exit=True\)", text)
    assert int(patience) < int(gives_up) < 30


def starts_when(text: str) -> str:
    """The condition under which a program starts its ranks."""
    (guard,) = [node for node in ast.parse(text).body if isinstance(node, ast.If)]
    return ast.unparse(guard.test)


@each_program
def test_a_program_started_under_torchrun_runs_once_as_the_other_demos_do(name: str):
    demo = (ROOT / "docs" / "demos" / "allreduce_cpu_demo.py").read_text(encoding="utf-8")
    assert starts_when(source(name)) == starts_when(demo)


def test_every_program_has_a_record_and_every_record_a_program():
    records = {path.stem for path in (BEYOND / "expected").iterdir()}
    assert records == {Path(name).stem for name in NAMES}


def test_every_program_is_on_the_page_with_its_output(site: Site):
    blocks = site.page(PAGE).code_blocks
    for name in NAMES:
        at = [block.title for block in blocks].index(name)
        assert blocks[at].text.rstrip() == source(name).rstrip()
        assert blocks[at + 1].text.splitlines() == expected(name)


# --------------------------------------------------------------------------- operators and types


def test_every_combination_tried_again_comes_out_as_recorded():
    assert trying.measure() == DATA["results"]


def test_the_table_says_when_and_on_which_torch():
    pinned = re.search(r'"torch==([\d.]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert pinned
    assert DATA["torch"].split("+")[0] == pinned[1]
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", DATA["date"])


def test_no_combination_gives_a_wrong_value_without_an_error():
    results = [result for row in DATA["results"].values() for result in row.values()]
    assert trying.RIGHT in results
    assert not [result for result in results if result.startswith(trying.WRONG)]


@pytest.mark.parametrize(
    ("operation", "dtype", "wanted"),
    [
        ("SUM", "float32", [6.0, 6.0]),
        ("AVG", "float64", [3.0, 3.0]),
        ("PRODUCT", "int8", [8, 0]),
        ("MIN", "int64", [2, 0]),
        ("BXOR", "uint8", [6, 6]),
        ("BXOR", "bool", [False, True]),
        ("BAND", "bool", [True, False]),
    ],
)
def test_the_right_values_are_worked_out_without_communication(
    operation: str, dtype: str, wanted: list[float]
):
    result = trying.expected(operation, dtype)
    assert result is not None
    assert result.tolist() == wanted


def test_the_page_shows_a_cell_for_every_combination(site: Site):
    article = Article(site.file(PAGE).read_text(encoding="utf-8"))
    (table,) = article.tables["Gloo 支持哪些运算和类型"]
    columns = [head.split("、") for head in table[0][1:]]
    assert [operation for names in columns for operation in names] == list(DATA["results"])
    for row in table[1:]:
        for names, cell in zip(columns, row[1:], strict=True):
            for operation in names:
                right = DATA["results"][operation][row[0]] == trying.RIGHT
                assert (cell == "✓") == right, (operation, row[0])
    assert [row[0] for row in table[1:]] == list(trying.DTYPES)
