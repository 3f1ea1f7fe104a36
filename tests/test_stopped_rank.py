"""A rank that is stopped, as by Ctrl-Z or a debugger, keeps no short program alive.

SIGTERM does not reach it, nor does its own alarm ring: the others give up, and the parent kills it.
"""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from built_site import ROOT
from demo_runner import Run, rehearse, replaced, with_fault

DEMOS = ROOT / "docs" / "demos"
FOLDERS = ("beyond", "faq", "start", "training")
ONE_OF_EACH = ("beyond/barrier.py", "faq/uneven_gather.py", "start/waiting.py", "training/ddp.py")

every_program = pytest.mark.parametrize(
    "file",
    [path for folder in FOLDERS for path in sorted(DEMOS.glob(f"{folder}/*.py"))],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)


@every_program
def test_the_waiting_of_the_others_and_the_grace_of_the_parent_add_up_to_less_than_thirty_seconds(
    file: Path,
):
    text = file.read_text(encoding="utf-8")
    (patience,) = re.findall(r"timeout = timedelta\(seconds=(\d+)\)", text)
    (grace,) = re.findall(r"\.join\(grace_period=(\d+)\)", text)
    # The parent waits twice: before it sends SIGTERM and before it sends SIGKILL.
    assert int(patience) + 2 * int(grace) < 30


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """One program of each folder, with less patience and a rank that stops, run side by side."""
    folder = tmp_path_factory.mktemp("stopped")

    def run(name: str) -> Run:
        text = (DEMOS / name).read_text(encoding="utf-8")
        text = replaced(text, "timeout = timedelta(seconds=20)", "timeout = timedelta(seconds=5)")
        stopped = with_fault(text, 1, "os.kill(os.getpid(), signal.SIGSTOP)")
        return rehearse(folder / Path(name).stem, Path(name).name, stopped)

    with ThreadPoolExecutor(max_workers=len(ONE_OF_EACH)) as pool:
        return dict(zip(ONE_OF_EACH, pool.map(run, ONE_OF_EACH), strict=True))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGSTOP")
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_the_run_ends_says_why_and_leaves_nothing(name: str, runs: dict[str, Run]):
    run = runs[name]
    assert run.returncode == 1
    assert "forcefully exiting via SIGKILL" in run.errors
    assert re.search("Timed out waiting 5000ms|wait timeout after 5000ms", run.errors)
    assert not run.left


def test_one_program_of_each_folder_is_stopped():
    assert [name.split("/")[0] for name in ONE_OF_EACH] == sorted(FOLDERS)
