"""Runs the player's DOM-free modules under the Node of the virtual environment."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import node_tools

TESTS = Path(__file__).resolve().parent / "js"


def node(*arguments: str, schedules: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Node in the folder of the JavaScript tests; `schedules` is the folder they read."""
    try:
        command = [str(node_tools.node()), *arguments]
    except node_tools.ToolMissing as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    return subprocess.run(
        command,
        cwd=TESTS,
        env={**os.environ, "SCHEDULES": str(schedules), "NO_COLOR": "1"},
        encoding="utf-8",
        capture_output=True,
        check=False,
        **options,
    )


def ask(questions: Iterable[dict[str, Any]], schedules: Path) -> list[Any]:
    """Put questions to agreement.mjs, all in one process; one answer each, in order."""
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    result = node("agreement.mjs", schedules=schedules, input=lines)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]
