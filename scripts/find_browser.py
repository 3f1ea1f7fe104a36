"""Find the browsers of the tests, or install them.

Chromium has to be there. Order: the one named by CHROMIUM; an installed Chromium, Chrome or Edge,
first of all the one without windows; the one Playwright has downloaded; with `--install` also
Playwright's download; then Debian's package. Where every engine is `required()`, `--install` adds
the one without windows to whatever is there. Playwright drives it through a Node of its own, which
needs a library that a bare Debian lacks; `--install` sees to that too.

Firefox (the one named by FIREFOX, else an installed one) and WebKit (WebKitGTK's MiniBrowser, its
driver, and a screen that is only memory) are taken where they are. `--install` adds them from
Debian's packages: as root, and on a CI machine through sudo where that asks no password. Elsewhere
one line says what is missing and the tests of that engine are skipped; where `required()` holds
they fail instead, and so does `--install`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

SHELL = "chromium-headless-shell"
"""Chromium without its windows, and Debian's package of it: opens a page in half the time."""

COMMANDS = (
    SHELL,
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

FIREFOX_COMMANDS = (
    "firefox-esr",
    "firefox",
    "/Applications/Firefox.app/Contents/MacOS/firefox",
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
    return [*QUIET, "--no-sandbox"] if is_root() else list(QUIET)


def download() -> None:
    """Let Playwright download its Chromium."""
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    subprocess.run(command, check=False)


def is_root() -> bool:
    """Tell whether this user may do everything on this machine."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def apt_get() -> list[str]:
    """Return the command that installs Debian packages without asking anyone, or an empty list.

    A reader's sudo is left alone: only a CI machine expects that packages are installed.
    """
    if not shutil.which("apt-get"):
        return []
    command = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet"]
    if is_root():
        return command
    if os.environ.get("CI") and starts("sudo", "-n", "true"):
        return ["sudo", "-n", *command]
    return []


def install_packages(*names: str) -> None:
    """Install Debian packages, where this user may."""
    command = apt_get()
    if command:
        for step in (["update"], ["install", "--yes", *names]):
            subprocess.run([*command, *step], check=False)


class WebKit(NamedTuple):
    """The programs that make up a WebKit under test."""

    driver: str
    browser: str
    screen: str


def find_firefox() -> str:
    """Return the path of Firefox.

    Raises:
        NoBrowserError: there is none, or FIREFOX names no executable file.
    """
    named = os.environ.get("FIREFOX")
    if named and not shutil.which(named):
        raise NoBrowserError(f"环境变量 FIREFOX 指向的 {named} 不是可执行文件")
    for command in (named,) if named else FIREFOX_COMMANDS:
        path = shutil.which(command)
        if path:
            return path
    raise NoBrowserError(
        "没有找到 Firefox：请安装它（Debian：sudo apt install firefox-esr），"
        "或用环境变量 FIREFOX 指定它的路径"
    )


def mini_browsers() -> list[str]:
    """Return the paths of WebKitGTK's own browser for tests, which is on nobody's PATH."""
    folders = ("lib*/webkit2gtk-4.1", "lib/*/webkit2gtk-4.1")
    return [str(path) for folder in folders for path in Path("/usr").glob(f"{folder}/MiniBrowser")]


def find_webkit() -> WebKit:
    """Return the programs of WebKitGTK.

    Raises:
        NoBrowserError: one of them is missing.
    """
    driver, screen, browsers = (
        shutil.which("WebKitWebDriver"),
        shutil.which("Xvfb"),
        mini_browsers(),
    )
    if driver and screen and browsers:
        return WebKit(driver, browsers[0], screen)
    raise NoBrowserError(
        "没有找到 WebKitGTK 的 WebKitWebDriver、MiniBrowser 或 Xvfb："
        "请安装它们（Debian：sudo apt install webkit2gtk-driver xvfb）"
    )


OTHER_ENGINES: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    "Firefox": (find_firefox, ("firefox-esr",)),
    "WebKit": (find_webkit, ("webkit2gtk-driver", "xvfb")),
}
"""How each engine beside Chromium is found, and the packages that bring it."""


def required() -> bool:
    """Tell whether every engine has to be there: on a CI machine, and where apt can install it."""
    return bool(os.environ.get("CI")) or (is_root() and bool(apt_get()))


def missing_engines() -> list[str]:
    """Install the engines beside Chromium; return a sentence for each that is still missing."""
    sentences = []
    for find_engine, packages in OTHER_ENGINES.values():
        try:
            find_engine()
        except NoBrowserError:
            install_packages(*packages)
            try:
                find_engine()
            except NoBrowserError as error:
                sentences.append(str(error))
    return sentences


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
    if required() and not shutil.which(SHELL):
        install_packages(SHELL)
    attempts: tuple[Callable[[], None], ...] = (download, lambda: install_packages("chromium"))
    for attempt in attempts:
        try:
            return find()
        except NoBrowserError:
            attempt()
    return find()


def main() -> int:
    """Print the path of a browser; with `--install`, install every engine that is missing."""
    unknown = [argument for argument in sys.argv[1:] if argument != "--install"]
    if unknown:
        print(f"find_browser.py：不认识的参数 {unknown[0]}", file=sys.stderr)
        return 2
    install = "--install" in sys.argv
    try:
        print(find_or_install() if install else find())
    except NoBrowserError as error:
        print(error, file=sys.stderr)
        return 1
    missing = missing_engines() if install else []
    for sentence in missing:
        skipped = "" if required() else "；它的测试会跳过"
        print(f"注意：{sentence}{skipped}", file=sys.stderr)
    return 1 if missing and required() else 0


if __name__ == "__main__":
    sys.exit(main())
