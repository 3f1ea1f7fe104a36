"""The schedules that are animated run on real processes, and give what PyTorch gives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import run_schedule
from broken_schedules import CORPUS, as_json
from collectives.algorithms import REGISTRY
from collectives.prove import ProofError, prove
from collectives.serialize import schedule_to_json

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = str(ROOT / "scripts/run_schedule.py")


def run(*arguments: str, launcher: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *launcher, SCRIPT, *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


RANKS = [2, 3, 4, 5, 6, 8]


@pytest.fixture(scope="module")
def every_run() -> list[Any]:
    """What happened to every algorithm at every N, each run on real processes."""
    result = subprocess.run(
        [sys.executable, str(ROOT / "tests/run_every_schedule.py"), *map(str, RANKS)],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


@pytest.mark.parametrize("n", RANKS)
def test_every_algorithm_gives_what_pytorch_gives(n: int, every_run: list[Any]):
    runs = [entry for entry in every_run if entry["ranks"] == n]
    expected = {
        algorithm.name for algorithm in REGISTRY.values() if algorithm.valid_ranks(range(n, n + 1))
    }
    assert {entry["run"][0] for entry in runs} == expected
    for entry in runs:
        assert entry["wrong"] == [], entry
        assert entry["sees_tampering"], entry
        assert entry["total_as_counted"], entry
        assert entry["most_as_counted"], entry
    if n == 4:
        combinations = {(dtype, op) for _, _, _, dtype, op in (entry["run"] for entry in runs)}
        assert {("int64", op) for op in run_schedule.OPS} <= combinations


def test_the_report_tells_each_rank_what_it_sent_and_how_long_it_took():
    result = run("scatter/binomial", "--ranks", "4", "--root", "1", "--bytes", "64KB")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "scatter/binomial，N = 4，根 = 1，M = 16384 个 float32"
    assert [line.split("，用时")[0] for line in lines[1:5]] == [
        "[rank 0] 发送 0 个消息，0 字节",
        "[rank 1] 发送 2 个消息，49152 字节",
        "[rank 2] 发送 0 个消息，0 字节",
        "[rank 3] 发送 1 个消息，16384 字节",
    ]
    assert lines[5] == "与 PyTorch 自带的集合通信结果一致"


def test_a_file_that_the_reader_wrote_runs_too(tmp_path):
    file = tmp_path / "mine.json"
    proved = prove(REGISTRY["allreduce/two_shot"].schedule(3))
    file.write_text(schedule_to_json(proved), encoding="utf-8")
    result = run(str(file), "--op", "max", "--dtype", "int32", "--bytes", "300")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("allreduce/two_shot，N = 3，M = 75 个 int32，max")


def test_it_runs_under_torchrun_with_one_process_per_rank():
    result = run(
        "allgather/bruck",
        launcher=("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3"),
    )
    assert result.returncode == 0, result.stderr
    assert "allgather/bruck，N = 3" in result.stdout
    assert result.stdout.count("[rank ") == 3


@pytest.mark.parametrize(
    "name",
    ["ring_reduce_scatter_that_ends_at_the_next_rank", "exchange_done_one_after_the_other"],
)
def test_a_wrong_file_is_refused_with_the_provers_own_sentence(tmp_path, name):
    file = tmp_path / "wrong.json"
    case = CORPUS[name]
    file.write_text(as_json(case.schedule), encoding="utf-8")
    with pytest.raises(ProofError) as refusal:
        prove(case.schedule)
    result = run(str(file))
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == f"run_schedule.py：{refusal.value}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["allreduce/rings"], "没有名为 'allreduce/rings' 的算法或文件"),
        (["allgather/recursive_doubling", "--ranks", "6"], "不支持 N = 6：伙伴按编号异或来配"),
        (["allreduce/ring", "--root", "2"], "没有根"),
        (["reduce/binomial", "--root", "4"], "没有 rank 4"),
        (["allreduce/ring", "--ranks", "1"], "至少要有 2 个 rank"),
        (["allreduce/ring", "--bytes", "many"], "'many' 不是大小"),
        (["allreduce/ring", "--bytes", "0"], "'0' 不是大小"),
        (["broadcast/flat", "--op", "max"], "Broadcast 不做归约"),
        (["broadcast/chain", "--chunks", "5"], "chunks 不能是 5"),
        (["broadcast/flat", "--chunks", "2"], "没有参数 chunks"),
        (["allreduce/ring", "--dtype", "float8"], "float8"),
        ([str(ROOT / "pyproject.toml")], "不是完整的 JSON"),
        ([], "schedule"),
    ],
)
def test_a_wrong_argument_is_one_line_and_exit_code_two(arguments, words):
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("run_schedule.py：")
    assert words in result.stderr


def test_a_rank_that_dies_ends_the_run_in_seconds(tmp_path):
    process = subprocess.Popen(
        [sys.executable, SCRIPT, "allreduce/ring", "--bytes", "32MB", "--repeat", "100000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        victim = _wait_for_a_busy_child(process.pid)
        os.kill(victim, signal.SIGKILL)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 1
        assert "run_schedule.py：rank" in errors
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    # Python's resource tracker ends by itself a moment after the parent.
    deadline = time.monotonic() + 20
    while _group(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _group(process.pid)


def _group(leader: int) -> list[int]:
    """Processes of a session that are still there."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[3]) == leader and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def _wait_for_a_busy_child(leader: int) -> int:
    """A rank that has connected to its peers: it has more than a few sockets open."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for pid in _group(leader):
            if pid == leader:
                continue
            try:
                names = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if sum(name.startswith("socket:") for name in names) >= 5:
                return pid
        time.sleep(0.1)
    raise AssertionError("no rank connected within a minute")
