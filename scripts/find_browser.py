"""Find a Chromium-family browser for the tests, or install one.

Order: the one named by CHROMIUM; an installed Chromium, Chrome or Edge; the one Playwright has
downloaded; with `--install` also Playwright's download; then, as root, Debian's package.

Playwright drives the browser through a Node of its own, which needs a library that a bare Debian
lacks; `--install` sees to that too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

COMMANDS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "microsoft-edge-stable",
    "chrome",
    "msedge",
)

APPLICATIONS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)

WINDOWS_PROGRAMS = (
    "Chromium/Application/chrome.exe",
    "Google/Chrome/Application/chrome.exe",
    "Microsoft/Edge/Application/msedge.exe",
)

QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""A browser that talks to nobody on its own, so that every request seen is the page's."""

HELP = (
    "没有找到浏览器：请安装 Chromium、Chrome 或 Edge（Debian：sudo apt install chromium），"
    "或用环境变量 CHROMIUM 指定它的路径"
)


DRIVER_HELP = (
    "Playwright 自带的 Node 无法启动，缺少系统库：请安装 libatomic1"
    "（Debian：sudo apt install libatomic1）"
)


class NoBrowserError(RuntimeError):
    """Nothing on this machine can run the browser tests; the message says what to install."""


def starts(*command: str) -> bool:
    """Tell whether a program starts here: all its libraries are present."""
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def driver_starts() -> bool:
    """Tell whether the Node inside Playwright starts here."""
    from playwright._impl._driver import compute_driver_executable

    return starts(compute_driver_executable()[0], "--version")


def installed() -> Iterator[str]:
    """Yield the browsers that are installed on this machine, as paths."""
    for command in COMMANDS:
        path = shutil.which(command)
        if path:
            yield path
    yield from (path for path in APPLICATIONS if Path(path).is_file())
    for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
        folder = os.environ.get(variable)
        if folder:
            yield from (
                str(Path(folder, program))
                for program in WINDOWS_PROGRAMS
                if Path(folder, program).is_file()
            )


def downloaded() -> Iterator[str]:
    """Yield Playwright's own Chromium, if it has been downloaded and starts here."""
    from playwright.sync_api import sync_playwright

    if not driver_starts():
        return
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    # The download brings no system libraries: on a bare Linux it is there but cannot start. Only
    # there is it asked for its version, which opens a window on Windows.
    if Path(path).is_file() and (sys.platform != "linux" or starts(path, "--version")):
        yield path


def find() -> str:
    """Return the path of a Chromium-family browser.

    Raises:
        NoBrowserError: there is none, or CHROMIUM names no executable file.
    """
    named = os.environ.get("CHROMIUM")
    if named:
        path = shutil.which(named)
        if path is None:
            raise NoBrowserError(f"环境变量 CHROMIUM 指向的 {named} 不是可执行文件")
        return path
    for source in (installed, downloaded):
        for path in source():
            return path
    raise NoBrowserError(HELP)


def arguments() -> list[str]:
    """Return the command-line switches for a browser under test."""
    # Chromium refuses to start its sandbox as root.
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*QUIET, "--no-sandbox"] if as_root else list(QUIET)


def download() -> None:
    """Let Playwright download its Chromium."""
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    subprocess.run(command, check=False)


def install_packages(*names: str) -> None:
    """Install Debian packages, where this user may."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for step in (["update"], ["install", "--yes", *names]):
            subprocess.run(["apt-get", "--quiet", *step], env=environment, check=False)


def find_or_install() -> str:
    """Return a browser, installing one when there is none.

    Raises:
        NoBrowserError: none was found and none could be installed, or Playwright cannot start.
    """
    if not driver_starts():
        install_packages("libatomic1")
        if not driver_starts():
            raise NoBrowserError(DRIVER_HELP)
    if os.environ.get("CHROMIUM"):
        return find()
    attempts: tuple[Callable[[], None], ...] = (download, lambda: install_packages("chromium"))
    for attempt in attempts:
        try:
            return find()
        except NoBrowserError:
            attempt()
    return find()


def main() -> int:
    """Print the path of a browser; with `--install`, install one when there is none."""
    unknown = [argument for argument in sys.argv[1:] if argument != "--install"]
    if unknown:
        print(f"find_browser.py：不认识的参数 {unknown[0]}", file=sys.stderr)
        return 2
    try:
        print(find_or_install() if "--install" in sys.argv else find())
    except NoBrowserError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
