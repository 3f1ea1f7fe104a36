"""Training in miniature: every program equals the single-process one, and would notice if not."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import record_expected
from article import Article
from built_site import ROOT, Site
from demo_runner import Run, rehearse, replaced, run_demo, with_fault

TRAINING = ROOT / "docs" / "demos" / "training"
NAMES = sorted(path.name for path in TRAINING.glob("*.py"))
PAGE = "run/training/"

Runner = Callable[[Path, str, str], Run]

each_program = pytest.mark.parametrize("name", NAMES)

BROKEN = {
    "ddp.py": ("        dist.all_reduce(bucket, op=dist.ReduceOp.SUM)\n", ""),
    "zero.py": ("own / world_size", "own"),
    "tensor_parallel.py": ("lambda ctx, grad: total(grad)", "lambda ctx, grad: grad"),
    "pipeline.py": ("dist.send(activations[-1].detach()", "dist.send(2 * activations[-1].detach()"),
    "expert_parallel.py": ("Exchange.apply(grad, receive, send)", "grad"),
}
"""One mistake each that leaves every rank running: the communication, or what is done with it."""


def source(name: str) -> str:
    return (TRAINING / name).read_text(encoding="utf-8")


def expected(name: str) -> list[str]:
    return record_expected.record_of(TRAINING / name).read_text(encoding="utf-8").splitlines()


def run_all(run: Runner, folder: Path, texts: dict[str, str]) -> dict[str, Run]:
    """Every program, run once, two at a time."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        started = {
            name: pool.submit(run, folder / Path(name).stem, name, text)
            for name, text in texts.items()
        }
    return {name: future.result() for name, future in started.items()}


@pytest.fixture(scope="module")
def runs(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """The programs as a reader copies them from the page."""
    blocks = site.page(PAGE).code_blocks
    texts = {block.title: block.text for block in blocks if block.title in NAMES}
    return run_all(run_demo, tmp_path_factory.mktemp("reader"), texts)


@pytest.fixture(scope="module")
def broken_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """The programs with one mistake each."""
    texts = {name: replaced(source(name), *BROKEN[name]) for name in NAMES}
    return run_all(rehearse, tmp_path_factory.mktemp("broken"), texts)


@each_program
def test_a_program_copied_from_the_page_prints_what_is_recorded(name: str, runs: dict[str, Run]):
    assert runs[name].check() == expected(name)
    assert runs[name].errors == ""


@each_program
def test_the_assertion_of_a_program_notices_a_mistake(name: str, broken_runs: dict[str, Run]):
    run = broken_runs[name]
    assert run.returncode == 1
    assert re.search(r"^(AssertionError|RuntimeError)", run.errors, flags=re.MULTILINE)
    assert not any("与单进程相同" in line for line in run.lines)
    assert not run.left


@each_program
def test_a_program_is_short_and_needs_nothing_but_torch(name: str):
    text = source(name)
    assert text.splitlines()[0] == f"# 运行方式: python {name}"
    assert len(text.splitlines()) <= 82
    modules = set(re.findall(r"^(?:from|import) (\w+)", text, flags=re.MULTILINE))
    assert modules - {"torch"} <= sys.stdlib_module_names


@each_program
def test_a_program_gives_up_within_thirty_seconds_and_says_where_it_stood(name: str):
    module = ast.parse(source(name)).body
    worker = next(n for n in module if isinstance(n, ast.FunctionDef) and n.name == "worker")
    first, second = (ast.unparse(node) for node in worker.body[:2])
    gives_up = re.fullmatch(r"faulthandler\.dump_traceback_later\((\d+), exit=True\)", first)
    patience = re.fullmatch(r"timeout = timedelta\(seconds=(\d+)\)", second)
    assert gives_up
    assert patience
    assert int(patience[1]) < int(gives_up[1]) < 30


def starts_when(text: str) -> str:
    """The condition under which a program starts its ranks."""
    (guard,) = [node for node in ast.parse(text).body if isinstance(node, ast.If)]
    return ast.unparse(guard.test)


@each_program
def test_a_program_started_under_torchrun_runs_once_as_the_other_demos_do(name: str):
    demo = (ROOT / "docs" / "demos" / "allreduce_cpu_demo.py").read_text(encoding="utf-8")
    assert starts_when(source(name)) == starts_when(demo)


def test_a_rank_that_hangs_ends_the_run_and_names_its_line(tmp_path: Path):
    hang = with_fault(source("pipeline.py"), 1, "time.sleep(10**6)")
    text = replaced(hang, "dump_traceback_later(25,", "dump_traceback_later(4,")
    run = run_demo(tmp_path / "hang", "pipeline.py", text)
    assert run.returncode == 1
    assert "Timeout (0:00:04)!" in run.errors
    assert re.search(r'pipeline\.py", line \d+ in worker', run.errors)
    assert not run.left


@each_program
def test_every_rank_of_a_program_says_that_it_equals_the_single_process(name: str):
    ranks = int(re.findall(r"world_size = (\d+)", source(name))[0])
    last = [line for line in expected(name) if "与单进程相同" in line]
    assert [line.split("]")[0] for line in last] == [f"[rank {rank}" for rank in range(ranks)]


def test_every_program_has_a_record_and_every_record_a_program():
    records = {path.stem for path in (TRAINING / "expected").iterdir()}
    assert records == {Path(name).stem for name in NAMES}
    assert set(BROKEN) == set(NAMES)
    assert len(NAMES) == 5


# ------------------------------------------------------------------------------------- the page


def sections() -> Iterator[tuple[str, str]]:
    """Name of the program and Markdown of the section that shows it."""
    text = (ROOT / "docs" / "run" / "training.md").read_text(encoding="utf-8")
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        if found := re.search(r'demo\("training/(\w+\.py)"\)', section):
            yield found[1], section


def test_every_program_stands_beside_a_player_and_its_output(site: Site):
    assert sorted(name for name, _ in sections()) == NAMES
    blocks = site.page(PAGE).code_blocks
    for name in NAMES:
        at = [block.title for block in blocks].index(name)
        assert blocks[at + 1].text.splitlines() == expected(name)
    article = Article(site.file(PAGE).read_text(encoding="utf-8"))
    assert len(article.players) == len(NAMES)


def test_the_bytes_on_the_page_are_those_that_the_programs_count():
    for name, section in sections():
        counted = {int(number) for line in expected(name) for number in re.findall(r"\d+", line)}
        told = {int(m) for m in re.findall(r"= (\d+)\$ 字节", section)}
        told |= {int(m) for m in re.findall(r"gloo_bytes\(\"\w+\", \d+, (\d+)\)", section)}
        assert told, name
        assert told <= counted, name
