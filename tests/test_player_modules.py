"""The DOM-free parts of the player keep their promises: tests/js, run by node --test."""

from __future__ import annotations

from pathlib import Path

import pytest

from generate_schedules import generate
from player_node import TESTS, node


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("schedules")
    generate(folder)
    return folder


@pytest.mark.parametrize("file", sorted(path.name for path in TESTS.glob("*.test.mjs")))
def test_the_modules_keep_the_promises_of_their_own_tests(file: str, generated: Path):
    result = node("--test", file, schedules=generated)
    assert result.returncode == 0, result.stdout + result.stderr
