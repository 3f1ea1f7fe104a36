"""The scripts that set a machine up: they find what is there and say plainly what is missing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import find_browser
import install_torch
from built_site import ROOT

MAKE_VENV = ROOT / "scripts" / "make_venv.sh"
SHELL = shutil.which("sh")

on_posix = pytest.mark.skipif(SHELL is None, reason="make and sh are not used on Windows")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder that is the whole PATH of an imaginary machine."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def add_command(machine: Path, name: str, body: str) -> None:
    command = machine / name
    command.write_text(f"#!{SHELL}\n{body}\n", encoding="utf-8")
    command.chmod(0o755)


def add_python(machine: Path, name: str, version: tuple[int, int], *, venv: bool = True) -> None:
    """A python that knows its version, whether it has venv, and notes the environment it makes."""
    major, minor = version
    add_command(
        machine,
        name,
        f"""case "$*" in
        *ensurepip*) exit {0 if venv else 1} ;;
        *"< (3, 10)"*) exit {int(version < (3, 10))} ;;
        *version_info*) echo {major}.{minor} ;;
        "-m venv "*) echo "made by {name}" ;;
        esac""",
    )


def make_venv(machine: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert SHELL is not None
    return subprocess.run(
        [SHELL, str(MAKE_VENV), *arguments],
        env={"PATH": str(machine), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def only_line(result: subprocess.CompletedProcess[str]) -> str:
    """The one line of a failure."""
    assert result.returncode == 1
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


@on_posix
def test_a_new_enough_python3_makes_the_environment(machine: Path):
    add_python(machine, "python3", (3, 10))
    result = make_venv(machine, ".venv")
    assert (result.returncode, result.stdout) == (0, "made by python3\n")


@on_posix
def test_an_old_python3_is_passed_over_for_a_newer_one(machine: Path):
    add_python(machine, "python3", (3, 9))
    add_python(machine, "python3.12", (3, 12))
    result = make_venv(machine, ".venv")
    assert (result.returncode, result.stdout) == (0, "made by python3.12\n")


@on_posix
def test_the_python_that_was_asked_for_is_used(machine: Path):
    add_python(machine, "python3", (3, 11))
    add_python(machine, "python3.13", (3, 13))
    assert make_venv(machine, ".venv", "python3.13").stdout == "made by python3.13\n"


@on_posix
def test_a_python_that_is_too_old_is_named_with_the_package_that_helps(machine: Path):
    add_python(machine, "python3", (3, 8))
    add_command(machine, "apt-cache", '[ "$2" = python3.11-venv ]')
    line = only_line(make_venv(machine, ".venv"))
    assert "Python 3.8 太旧" in line
    assert line.endswith("sudo apt install python3.11 python3.11-venv")


@on_posix
def test_a_machine_without_python_is_told_what_to_install(machine: Path):
    line = only_line(make_venv(machine, ".venv"))
    assert line.endswith("sudo apt install python3 python3-venv")


@on_posix
def test_a_missing_venv_module_is_named_with_its_exact_package(machine: Path):
    add_python(machine, "python3", (3, 12), venv=False)
    line = only_line(make_venv(machine, ".venv"))
    assert line.endswith("sudo apt install python3.12-venv")


def report(*names: str) -> str:
    return json.dumps({"install": [{"metadata": {"name": name}} for name in names]})


@pytest.mark.parametrize("gpu_package", ["nvidia-cublas", "nvidia-cuda-runtime", "cuda-toolkit"])
def test_a_plan_with_gpu_libraries_is_recognised(gpu_package: str):
    assert install_torch.takes_gpu_packages(report("torch", "sympy", gpu_package))


def test_a_cpu_plan_is_taken_as_it_is():
    assert not install_torch.takes_gpu_packages(report("torch", "sympy", "networkx"))


@pytest.fixture
def installer(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[list[str]]]:
    """A function that runs install_torch on an imaginary machine and returns its commands."""

    def run(installed: str | None, plan: str) -> list[list[str]]:
        commands: list[list[str]] = []

        def call(command: list[str], **_: object) -> int:
            commands.append(command)
            return 0

        def plan_run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
            assert "--dry-run" in command
            return subprocess.CompletedProcess(command, 0, stdout=plan.encode())

        monkeypatch.setattr(install_torch, "installed_version", lambda: installed)
        monkeypatch.setattr(subprocess, "call", call)
        monkeypatch.setattr(subprocess, "run", plan_run)
        assert install_torch.main() == 0
        return commands

    return run


def test_the_pinned_torch_is_not_installed_again(installer):
    pin = install_torch.pinned_version((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    assert installer(pin, report("torch")) == []


def test_pip_installs_torch_where_it_would_take_a_cpu_build(installer):
    (command,) = installer(None, report("torch", "sympy"))
    assert command[:3] == [sys.executable, "-m", "pip"]
    assert command[-1].startswith("torch==")


def test_uv_picks_the_cpu_build_where_pip_would_take_a_gpu_build(installer):
    first, second = installer("2.1.0", report("torch", "nvidia-cublas"))
    assert first[-1] == "uv"
    assert "--torch-backend=cpu" in second
    assert second[-1].startswith("torch==")


@pytest.fixture
def no_browser(monkeypatch: pytest.MonkeyPatch, machine: Path) -> Path:
    """A machine that has no browser at all; returns its PATH."""
    monkeypatch.setenv("PATH", str(machine))
    monkeypatch.delenv("CHROMIUM", raising=False)
    for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(find_browser, "APPLICATIONS", ())
    monkeypatch.setattr(find_browser, "downloaded", lambda: iter(()))
    monkeypatch.setattr(find_browser, "driver_starts", lambda: True)
    return machine


@on_posix
def test_an_installed_browser_comes_first(no_browser: Path, monkeypatch: pytest.MonkeyPatch):
    add_command(no_browser, "google-chrome", "exit 0")
    monkeypatch.setattr(find_browser, "downloaded", lambda: iter(["/downloaded/chrome"]))
    assert find_browser.find() == str(no_browser / "google-chrome")


def test_a_downloaded_browser_comes_next(no_browser: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(find_browser, "downloaded", lambda: iter(["/downloaded/chrome"]))
    assert find_browser.find() == "/downloaded/chrome"


@on_posix
def test_a_browser_named_by_the_reader_beats_all(
    no_browser: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    add_command(no_browser, "chromium", "exit 0")
    add_command(tmp_path, "my-browser", "exit 0")
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "my-browser"))
    assert find_browser.find() == str(tmp_path / "my-browser")


def test_a_wrong_name_is_said_and_nothing_is_installed_instead(
    no_browser: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CHROMIUM", "/no/such/browser")
    monkeypatch.setattr(find_browser, "download", lambda: pytest.fail("downloaded a browser"))
    with pytest.raises(find_browser.NoBrowserError, match="/no/such/browser"):
        find_browser.find_or_install()


def test_where_every_engine_has_to_be_there_the_browser_without_windows_is_tried_first(
    no_browser: Path, monkeypatch: pytest.MonkeyPatch
):
    tried: list[str] = []
    monkeypatch.setattr(find_browser, "required", lambda: True)
    monkeypatch.setattr(find_browser, "download", lambda: pytest.fail("downloaded a browser"))
    monkeypatch.setattr(find_browser, "install_packages", tried.append)
    add_command(no_browser, "chromium", "exit 0")
    assert find_browser.find_or_install() == str(no_browser / "chromium")
    add_command(no_browser, "chromium-headless-shell", "exit 0")
    assert find_browser.find_or_install() == str(no_browser / "chromium-headless-shell")
    assert tried == ["chromium-headless-shell"]


def test_without_a_browser_the_download_is_tried_before_the_package(
    no_browser: Path, monkeypatch: pytest.MonkeyPatch
):
    tried: list[str] = []
    monkeypatch.setattr(find_browser, "required", lambda: False)
    monkeypatch.setattr(find_browser, "download", lambda: tried.append("download"))
    monkeypatch.setattr(find_browser, "install_packages", tried.append)
    with pytest.raises(find_browser.NoBrowserError, match="apt install chromium"):
        find_browser.find_or_install()
    assert tried == ["download", "chromium"]


def test_a_library_that_playwright_lacks_is_installed_or_named(
    no_browser: Path, monkeypatch: pytest.MonkeyPatch
):
    tried: list[str] = []
    monkeypatch.setattr(find_browser, "driver_starts", lambda: False)
    monkeypatch.setattr(find_browser, "install_packages", tried.append)
    with pytest.raises(find_browser.NoBrowserError, match="apt install libatomic1"):
        find_browser.find_or_install()
    assert tried == ["libatomic1"]


@on_posix
def test_a_program_that_lacks_a_library_does_not_count_as_there(machine: Path):
    add_command(machine, "whole", "exit 0")
    add_command(machine, "broken", "exit 127")
    assert find_browser.starts(str(machine / "whole"))
    assert not find_browser.starts(str(machine / "broken"))
    assert not find_browser.starts(str(machine / "missing"))


@pytest.fixture
def other_engines(no_browser: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """A machine with Chromium alone; returns what is installed on it, which brings nothing."""
    installed: list[tuple[str, ...]] = []
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("FIREFOX", raising=False)
    monkeypatch.setenv("CHROMIUM", sys.executable)
    monkeypatch.setattr(find_browser, "FIREFOX_COMMANDS", ("firefox-esr", "firefox"))
    monkeypatch.setattr(find_browser, "is_root", lambda: False)
    monkeypatch.setattr(find_browser, "install_packages", lambda *names: installed.append(names))
    monkeypatch.setattr(sys, "argv", ["find_browser.py", "--install"])
    return installed


def test_each_missing_engine_is_one_line_that_says_what_to_install(
    other_engines: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]
):
    assert find_browser.main() == 0
    assert other_engines == [("firefox-esr",), ("webkit2gtk-driver", "xvfb")]
    firefox, webkit = capsys.readouterr().err.splitlines()
    assert "apt install firefox-esr" in firefox
    assert "apt install webkit2gtk-driver xvfb" in webkit
    assert firefox.endswith("它的测试会跳过")
    assert webkit.endswith("它的测试会跳过")


@on_posix
def test_on_ci_and_where_apt_could_install_it_a_missing_engine_is_a_failure(
    other_engines: list[tuple[str, ...]],
    no_browser: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv("CI", "true")
    assert find_browser.main() == 1
    assert "跳过" not in capsys.readouterr().err
    monkeypatch.delenv("CI")
    add_command(no_browser, "apt-get", "exit 0")
    assert find_browser.main() == 0
    monkeypatch.setattr(find_browser, "is_root", lambda: True)
    assert find_browser.main() == 1


@on_posix
def test_engines_that_are_there_are_taken_and_nothing_is_installed(
    other_engines: list[tuple[str, ...]], no_browser: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("firefox", "WebKitWebDriver", "Xvfb"):
        add_command(no_browser, name, "exit 0")
    monkeypatch.setattr(find_browser, "mini_browsers", lambda: ["/usr/lib/MiniBrowser"])
    assert find_browser.main() == 0
    assert other_engines == []
    assert find_browser.find_firefox() == str(no_browser / "firefox")
    assert find_browser.find_webkit() == (
        str(no_browser / "WebKitWebDriver"),
        "/usr/lib/MiniBrowser",
        str(no_browser / "Xvfb"),
    )


@on_posix
def test_a_firefox_named_by_the_reader_beats_all_or_is_said_to_be_wrong(
    no_browser: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    add_command(no_browser, "firefox", "exit 0")
    add_command(tmp_path, "my-firefox", "exit 0")
    monkeypatch.setenv("FIREFOX", str(tmp_path / "my-firefox"))
    assert find_browser.find_firefox() == str(tmp_path / "my-firefox")
    monkeypatch.setenv("FIREFOX", "/no/such/firefox")
    with pytest.raises(find_browser.NoBrowserError, match="/no/such/firefox"):
        find_browser.find_firefox()


@on_posix
def test_only_root_and_ci_install_packages(no_browser: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(find_browser, "is_root", lambda: False)
    add_command(no_browser, "apt-get", "exit 0")
    add_command(no_browser, "sudo", "exit 0")
    assert find_browser.apt_get() == []
    monkeypatch.setenv("CI", "true")
    assert find_browser.apt_get()[:2] == ["sudo", "-n"]
    add_command(no_browser, "sudo", "exit 1")
    assert find_browser.apt_get() == []
    monkeypatch.setattr(find_browser, "is_root", lambda: True)
    assert find_browser.apt_get()[0] == "env"


def test_an_unknown_argument_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "argv", ["find_browser.py", "--instal"])
    assert find_browser.main() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--instal" in line
