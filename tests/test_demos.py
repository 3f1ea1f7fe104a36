"""The demos: run as a reader runs them, out of the built page, and broken on purpose."""

from __future__ import annotations

import ast
import re
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

import record_expected
from built_site import ROOT, Site
from demo_runner import Run, RunningDemo, rehearse, replaced, run_demo, with_fault

DEMOS = ROOT / "docs" / "demos"
NAMES = sorted(path.name for path in DEMOS.glob("*.py"))

SEED_PORTS = range(29500, 29508)
"""The fixed ports of the first version of the page, one per demo."""

TWINS = [
    ("reducescatter_cpu_demo.py", "reducescatter_native_cpu_demo.py"),
    ("alltoall_cpu_demo.py", "alltoall_list_cpu_demo.py"),
]
"""Two ways to the same result: by other calls, and by the call of that name."""


def expected(name: str) -> list[str]:
    file = DEMOS / "expected" / f"{Path(name).stem}.txt"
    return file.read_text(encoding="utf-8").splitlines()


def source(name: str) -> str:
    return (DEMOS / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def on_the_page(site: Site) -> dict[str, str]:
    """The demos as a reader copies them: the text of the code blocks of the built site."""
    blocks = [block for path in site.paths() for block in site.page(path).code_blocks]
    return {block.title: block.text for block in blocks if block.title in NAMES}


@pytest.fixture(scope="module")
def busy_ports() -> Iterator[list[int]]:
    """The ports that every demo of the first version needed, taken by someone else."""
    with ExitStack() as stack:
        for port in SEED_PORTS:
            holder = stack.enter_context(socket.socket())
            with suppress(OSError):  # Whoever has it already keeps it busy for us.
                holder.bind(("", port))
                holder.listen()
        yield [port for port in SEED_PORTS if is_busy(port)]


def is_busy(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return True
        return False


@pytest.fixture(scope="module")
def runs(
    on_the_page: dict[str, str], busy_ports: list[int], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Run]:
    """Every demo of the site, run once, two at a time."""
    folder = tmp_path_factory.mktemp("reader")
    with ThreadPoolExecutor(max_workers=2) as pool:
        started = {
            name: pool.submit(run_demo, folder / Path(name).stem, name, text)
            for name, text in on_the_page.items()
        }
    return {name: run.result() for name, run in started.items()}


@pytest.mark.parametrize("name", NAMES)
def test_a_demo_copied_from_the_page_prints_what_is_recorded(name: str, runs: dict[str, Run]):
    assert runs[name].check() == expected(name)


def test_a_busy_port_does_not_break_a_demo(busy_ports: list[int], runs: dict[str, Run]):
    assert busy_ports == list(SEED_PORTS)
    assert {name: run.returncode for name, run in runs.items()} == dict.fromkeys(NAMES, 0)


def test_a_demo_leaves_no_process_behind(runs: dict[str, Run]):
    assert {name: run.left for name, run in runs.items()} == {name: [] for name in NAMES}


def test_a_demo_that_ends_well_has_nothing_to_say_on_stderr(runs: dict[str, Run]):
    assert {name: run.errors for name, run in runs.items()} == dict.fromkeys(NAMES, "")


def test_two_runs_of_a_demo_at_once_do_not_mix(on_the_page: dict[str, str], tmp_path: Path):
    name = "allreduce_cpu_demo.py"
    # Unbuffered, as in many containers: ranks then share lines.
    both = [
        RunningDemo(tmp_path / which, name, on_the_page[name], PYTHONUNBUFFERED="1")
        for which in ("one", "other")
    ]
    assert [run.finish().check() for run in both] == [expected(name)] * 2


@pytest.mark.parametrize("twins", TWINS, ids=lambda twins: twins[0])
def test_both_ways_to_the_same_result_agree(
    twins: tuple[str, str], runs: dict[str, Run], tmp_path: Path
):
    composed, direct = (runs[name].check() for name in twins)
    assert composed == direct
    two = [rehearse(tmp_path / name, name, with_two_ranks(source(name))) for name in twins]
    assert two[0].check() == two[1].check()
    assert len(two[0].lines) == 4


def with_two_ranks(text: str) -> str:
    return replaced(text, "world_size = 4", "world_size = 2")


# --------------------------------------------------------------------------- when a rank fails

BROKEN = "allreduce_cpu_demo.py"
"""The demo that is broken on purpose. All have the same frame, see the test of that name."""


def test_a_killed_rank_ends_the_run_and_is_named(tmp_path: Path):
    text = with_fault(source(BROKEN), 2, "os.kill(os.getpid(), signal.SIGKILL)")
    run = run_demo(tmp_path / "run", BROKEN, text)
    assert run.returncode == 1
    assert "process 2 terminated with signal SIGKILL" in run.errors
    assert not run.left


def test_a_rank_that_raises_ends_the_run_and_its_own_error_comes_first(tmp_path: Path):
    text = with_fault(source(BROKEN), 2, 'raise ValueError("the cause")')
    run = run_demo(tmp_path / "run", BROKEN, text)
    assert run.returncode == 1
    # Whichever rank the parent reports: what the others say of a lost connection comes later.
    errors = re.findall(r"^\w*Error: .*", run.errors, flags=re.MULTILINE)
    assert errors[0] == "ValueError: the cause"
    assert not run.left


def test_the_others_do_not_wait_for_ever_for_a_rank_that_sleeps(tmp_path: Path):
    text = with_fault(with_two_ranks(source(BROKEN)), 1, "time.sleep(10**6)")
    run = run_demo(tmp_path / "run", BROKEN, replaced(text, "seconds=30", "seconds=3"))
    assert run.returncode == 1
    assert "3000ms" in run.errors
    assert not run.left


def test_a_rank_that_was_stopped_does_not_keep_the_run_alive(tmp_path: Path):
    stop = "os.kill(os.getpid(), signal.SIGSTOP)"
    text = with_fault(with_two_ranks(source(BROKEN)), 1, stop)
    run = run_demo(tmp_path / "run", BROKEN, replaced(text, "Timer(120,", "Timer(8,"))
    assert run.returncode == 1
    assert "terminated with signal SIGKILL" in run.errors
    assert not run.left


# ----------------------------------------------------------------------------- what a demo says


@pytest.mark.parametrize("name", NAMES)
def test_the_first_line_tells_the_command_that_runs_the_demo(
    name: str, on_the_page: dict[str, str]
):
    assert on_the_page[name].splitlines()[0] == f"# 运行方式: python {name}"


@pytest.mark.parametrize("name", NAMES)
def test_a_demo_needs_torch_and_nothing_else(name: str):
    modules = set()
    for node in ast.walk(ast.parse(source(name))):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add((node.module or "").split(".")[0])
    assert "torch" in modules
    assert modules - {"torch"} <= sys.stdlib_module_names


def test_every_demo_has_the_same_frame():
    def frame(name: str) -> list[str]:
        """All but what the worker does between joining the group and leaving it."""
        module = ast.parse(source(name)).body
        worker = worker_of(module)
        rest = [node for node in module if node is not worker]
        ends = [*worker.body[:2], worker.body[-1]]
        return [ast.unparse(node) for node in (*rest, worker.args, *ends)]

    assert {name: frame(name) for name in NAMES} == dict.fromkeys(NAMES, frame(NAMES[0]))


def worker_of(module: list[ast.stmt]) -> ast.FunctionDef:
    return next(
        node for node in module if isinstance(node, ast.FunctionDef) and node.name == "worker"
    )


def seed_workers() -> dict[str, ast.FunctionDef]:
    """The function `worker` of every demo of the first version of the page."""
    text = (ROOT / "tests" / "seed_demos.txt").read_text(encoding="utf-8")
    parts = re.split(r"^# 运行方式: python (\S+)$", text, flags=re.MULTILINE)[1:]
    return {
        name: worker_of(ast.parse(code).body)
        for name, code in zip(parts[::2], parts[1::2], strict=True)
    }


SEED = seed_workers()


@pytest.mark.parametrize("name", SEED)
def test_the_values_and_the_print_format_of_the_first_version_are_kept(name: str):
    first, *kept = [ast.unparse(node) for node in SEED[name].body]
    assert first.startswith("dist.init_process_group(")
    worker = next(
        node for node in ast.parse(source(name)).body if isinstance(node, ast.FunctionDef)
    )
    now = [ast.unparse(node) for node in ast.walk(worker) if isinstance(node, ast.stmt)]
    assert [statement for statement in kept if statement not in now] == []


def test_the_eight_demos_of_the_first_version_are_all_there():
    assert len(SEED) == 8
    assert set(SEED) | {direct for _, direct in TWINS} == set(NAMES)


def test_what_reduce_leaves_on_the_other_ranks_is_not_recorded():
    after = [line for line in expected("reduce_cpu_demo.py") if "after" in line]
    assert after == [
        "[rank 0] after : [10.0, 10.0, 10.0, 10.0]",
        *(f"[rank {rank}] after : undefined" for rank in (1, 2, 3)),
    ]


# --------------------------------------------------------------------------- recording the output


def test_every_demo_has_a_record_and_every_record_a_demo():
    records = {path.name for path in (DEMOS / "expected").iterdir()}
    assert records == {f"{Path(name).stem}.txt" for name in NAMES}


def test_ranks_are_put_in_order_and_glued_lines_are_parted():
    printed = "[rank 1] a\n[rank 10] x[rank 0] y\n\n[rank 1] b[rank 0] z\n"
    assert record_expected.by_rank(printed) == [
        "[rank 0] y",
        "[rank 0] z",
        "[rank 1] a",
        "[rank 1] b",
        "[rank 10] x",
    ]


def test_a_line_that_no_rank_printed_is_not_lost():
    assert record_expected.by_rank("[rank 0] a\nWarning: b\n") == ["Warning: b", "[rank 0] a"]


@pytest.fixture
def demos(tmp_path: Path) -> Path:
    """A folder of its own for demos that the tests record."""
    folder = tmp_path / "demos"
    folder.mkdir()
    (folder / "good.py").write_text('print("[rank 1] b")\nprint("[rank 0] a")\n', encoding="utf-8")
    return folder


def test_recording_writes_the_lines_by_rank(demos: Path):
    assert record_expected.main([], demos) == 0
    assert (demos / "expected" / "good.txt").read_bytes() == b"[rank 0] a\n[rank 1] b\n"


def test_recording_leaves_a_record_alone_that_is_still_right(
    demos: Path, capsys: pytest.CaptureFixture[str]
):
    record_expected.main([], demos)
    record = demos / "expected" / "good.txt"
    before = record.stat().st_mtime_ns
    capsys.readouterr()
    assert record_expected.main(["good.py"], demos) == 0
    assert record.stat().st_mtime_ns == before
    assert "good.txt：没有变化" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ('import os\nprint("[rank 0] pid", os.getpid())', "bad.py 两次运行的输出不同"),
        ('print("[rank 0] a")\nraise ValueError("the cause")', "ValueError: the cause"),
        ("", "bad.py 什么也没有打印"),
    ],
    ids=["two runs differ", "it fails", "it is silent"],
)
def test_recording_refuses_a_demo_that_cannot_be_trusted_and_writes_nothing(
    code: str, sentence: str, demos: Path, capsys: pytest.CaptureFixture[str]
):
    (demos / "bad.py").write_text(code, encoding="utf-8")
    assert record_expected.main(["good.py", "bad.py"], demos) == 1
    assert sentence in capsys.readouterr().err
    assert not (demos / "expected").exists()


def test_recording_an_unknown_demo_says_which_there_are(
    demos: Path, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as end:
        record_expected.main(["no_such.py"], demos)
    assert end.value.code == 2
    assert capsys.readouterr().err == (
        "record_expected.py：没有名为 'no_such.py' 的示例；现有：good.py\n"
    )
