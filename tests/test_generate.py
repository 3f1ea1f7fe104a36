"""The build step writes only what is proved, only what changed, and fails in one clear line."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import generate_schedules
import oracle
from collectives.algorithms import REGISTRY
from collectives.prove import ProofError, prove
from collectives.serialize import schedule_from_json

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = json.loads((ROOT / "docs/assets/schedule.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schedules")
    generate_schedules.generate(folder)
    return folder


def schedule_files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*.json")) if path.name != "catalog.json"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts/generate_schedules.py"), *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def suffixes(parameters: list[dict[str, Any]], n: str) -> list[str]:
    """What the names of the files of one N end with, by the catalogue alone."""
    parts = [
        [
            "" if value == parameter["default"][n] else f"-{parameter['name']}{value}"
            for value in parameter["choices"][n]
        ]
        for parameter in parameters
    ]
    return ["".join(combination) for combination in itertools.product(*parts)]


def test_every_published_file_follows_the_schema(output):
    jsonschema_rs.meta.validate(SCHEMA)
    validator = jsonschema_rs.Draft202012Validator(SCHEMA)
    for path in schedule_files(output):
        validator.validate(json.loads(path.read_text(encoding="utf-8")))


def test_the_schema_refuses_what_is_not_format_v1(output):
    validator = jsonschema_rs.Draft202012Validator(SCHEMA)
    data = json.loads((output / "allreduce/ring/n4.json").read_text(encoding="utf-8"))
    for key, value in (("version", 2), ("ranks", 1), ("ports", "two"), ("surprise", 1)):
        assert not validator.is_valid({**data, key: value})
    del data["rounds"]
    assert not validator.is_valid(data)


def test_every_published_file_proves_again_when_it_is_read(output):
    for path in schedule_files(output):
        prove(schedule_from_json(path.read_text(encoding="utf-8")))


def test_a_replay_that_shares_no_code_reaches_the_end_of_every_published_file(output):
    for path in schedule_files(output):
        assert oracle.is_right(json.loads(path.read_text(encoding="utf-8"))), path


def test_the_catalogue_lists_the_files_that_exist_and_no_other(output):
    catalogue = json.loads((output / "catalog.json").read_text(encoding="utf-8"))
    listed = {
        algorithm["file"].replace("{ranks}", str(n)).replace("{parameters}", suffix)
        for primitive in catalogue["primitives"]
        for algorithm in primitive["algorithms"]
        for n in algorithm["ranks"]
        for suffix in suffixes(algorithm["parameters"], str(n))
    }
    assert listed == {path.relative_to(output).as_posix() for path in schedule_files(output)}
    names = [
        f"{primitive['slug']}/{algorithm['slug']}"
        for primitive in catalogue["primitives"]
        for algorithm in primitive["algorithms"]
    ]
    assert names == list(REGISTRY)


def test_a_second_run_writes_nothing(output):
    before = {path: path.stat().st_mtime_ns for path in output.rglob("*.json")}
    total, written, removed = generate_schedules.generate(output)
    assert (total, written, removed) == (len(before), 0, 0)
    assert before == {path: path.stat().st_mtime_ns for path in output.rglob("*.json")}


def test_a_file_that_no_algorithm_stands_for_is_removed(tmp_path):
    generate_schedules.generate(tmp_path)
    stale = tmp_path / "allreduce" / "gone" / "n4.json"
    stale.parent.mkdir()
    stale.write_text("{}", encoding="utf-8")
    assert generate_schedules.generate(tmp_path)[1:] == (0, 1)
    assert not stale.exists()


def test_a_wrong_algorithm_writes_nothing_at_all(tmp_path, monkeypatch):
    import dataclasses

    ring = REGISTRY["allreduce/ring"]

    def forgetful(n):
        schedule = ring.build(n)
        return dataclasses.replace(schedule, rounds=schedule.rounds[:-1])

    monkeypatch.setitem(REGISTRY, "allreduce/ring", dataclasses.replace(ring, build=forgetful))
    with pytest.raises(ProofError, match="结束后"):
        generate_schedules.generate(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments", [["--nope"], ["--output"], ["surprise"], ["--output", __file__]]
)
def test_a_wrong_argument_is_one_line_and_exit_code_two(arguments):
    result = run(*arguments)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("generate_schedules.py：")
    assert result.stdout == ""


def test_the_command_says_how_many_files_it_proved(tmp_path):
    result = run("--output", str(tmp_path / "new"))
    assert result.returncode == 0, result.stderr
    assert "全部证明通过" in result.stdout
    assert (tmp_path / "new" / "catalog.json").is_file()
