"""Install the pinned torch into the environment that runs this script, always a CPU build.

On Linux x86-64 the package index serves a CUDA build of several GB under the plain name `torch`;
everywhere else it serves a CPU build. So ask pip what it would take, and only when that drags in
GPU libraries let uv choose, which knows where the CPU builds are.

Standard library only: it runs before anything else is installed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

CONSTRAINTS = Path(__file__).resolve().parents[1] / "constraints.txt"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


def pinned_version(constraints: str) -> str:
    """Return the version of torch that the text of constraints.txt pins.

    Raises:
        ValueError: no line pins torch.
    """
    pin = re.search(r"^torch==([\w.]+)", constraints, re.MULTILINE)
    if pin is None:
        raise ValueError("constraints.txt pins no torch")
    return pin.group(1)


def installed_version() -> str | None:
    """Return the installed version without its build tag (2.13.0+cpu is 2.13.0), or None."""
    try:
        return version("torch").split("+")[0]
    except PackageNotFoundError:
        return None


def takes_gpu_packages(report: str) -> bool:
    """Tell whether a pip installation report (JSON) includes libraries only a GPU can use."""
    names = (item["metadata"]["name"].lower() for item in json.loads(report)["install"])
    return any(name.startswith(("nvidia-", "cuda-")) for name in names)


def main() -> int:
    """Install torch unless the pinned version is there; return the installer's exit code."""
    wanted = pinned_version(CONSTRAINTS.read_text(encoding="utf-8"))
    if installed_version() == wanted:
        return 0
    torch = ["-c", str(CONSTRAINTS), f"torch=={wanted}"]
    plan = subprocess.run(
        [*PIP, "install", "--quiet", "--dry-run", "--report", "-", *torch],
        stdout=subprocess.PIPE,
        check=False,
    )
    if plan.returncode:
        return plan.returncode
    if not takes_gpu_packages(plan.stdout.decode()):
        return subprocess.call([*PIP, "install", "--quiet", *torch])
    code = subprocess.call([*PIP, "install", "--quiet", "-c", str(CONSTRAINTS), "uv"])
    if code:
        return code
    uv = [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable]
    return subprocess.call([*uv, "--torch-backend=cpu", *torch])


if __name__ == "__main__":
    sys.exit(main())
