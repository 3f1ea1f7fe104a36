"""The DOM-free parts of the player keep their promises: tests/js, run by node --test."""

from __future__ import annotations

from pathlib import Path

import pytest

from generate_schedules import generate
from player_node import TESTS, node


@pytest.mark.parametrize("file", sorted(path.name for path in TESTS.glob("*.test.mjs")))
def test_the_modules_keep_the_promises_of_their_own_tests(file: str, tmp_path: Path):
    generate(tmp_path)
    result = node("--test", file, schedules=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
