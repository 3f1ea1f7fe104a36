"""Write constraints.txt: the exact version of everything that `.[test]` installs.

The versions are resolved once for every Python from 3.10 on and for Linux, macOS and Windows;
where one version does not fit all, the line carries an environment marker.
Run it with `make lock`. It needs the package `uv`, which is pinned here as well.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("pip", "setuptools", "uv")
"""Not dependencies of the project, but used to install it: pinned all the same."""

HEADER = """\
# The exact version of everything this project installs, for Python 3.10 and later.
# Written by `make lock` (scripts/lock.py) from pyproject.toml; do not edit by hand.
"""

GPU_PACKAGE = re.compile(r"(nvidia|cuda)[-_]|triton\b")
"""What only a CUDA build of torch needs; scripts/install_torch.py takes a CPU build."""


def resolve() -> str:
    """Return uv's universal resolution of `.[test]` and the installation tools."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"]
    command += ["--python-version", "3.10", "--no-annotate", "--no-header"]
    command += ["--no-emit-package", "collectives-illustrated"]
    command += ["--extra", "test", "pyproject.toml", "-"]
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    result = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        input="\n".join(TOOLS),
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    return result.stdout


def main() -> None:
    """Rewrite constraints.txt."""
    pins = [line for line in resolve().splitlines() if not GPU_PACKAGE.match(line)]
    (ROOT / "constraints.txt").write_text(HEADER + "\n".join(pins) + "\n", encoding="utf-8")
    print(f"constraints.txt: {len(pins)} pins")


if __name__ == "__main__":
    main()
