"""The repository keeps its word: what README says exists, and what must agree does agree."""

from __future__ import annotations

import re
import subprocess
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

from built_site import ROOT, Site

PYTHONS = ("3.10.0", "3.11.2", "3.11.9", "3.12.3", "3.13.0")
"""Among them the versions that Debian 12 and Ubuntu 22.04 and 24.04 ship."""


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def tracked_files() -> list[Path]:
    """The files of the repository, generated and installed ones left out."""
    skipped = {".git", ".venv", "site", "build", "schedules", "__pycache__"}
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file()
        and not skipped.intersection(path.relative_to(ROOT).parts)
        and not any(part.endswith((".egg-info", "_cache")) for part in path.parts)
    ]


def texts() -> dict[str, str]:
    """The text files by name."""
    found = {}
    for path in tracked_files():
        if path.suffix in {".md", ".py", ".js", ".mjs", ".css", ".yml", ".html", ".txt", ".toml"}:
            found[path.relative_to(ROOT).as_posix()] = path.read_text(encoding="utf-8")
    return found


def pins(python: str) -> dict[str, str]:
    """The versions that constraints.txt pins for a Python version, by package."""
    environment = {
        **default_environment(),
        "python_full_version": python,
        "python_version": ".".join(python.split(".")[:2]),
    }
    found: dict[str, str] = {}
    for line in read("constraints.txt").splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate(environment):  # type: ignore[arg-type]
                assert requirement.name not in found, f"{requirement.name} is pinned twice"
                found[requirement.name.lower()] = str(requirement.specifier)
    return found


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", ".github/workflows/ci.yml"])
def test_every_make_command_that_is_named_exists(name: str):
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z]+)\b", read(name)))
    assert named <= targets
    if name == "README.md":
        assert {"serve", "test", "site"} <= named


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_file_that_is_named_exists(name: str):
    links = re.findall(r"\]\((?!http|#)([^)#]+)", read(name))
    paths = re.findall(r"`((?:docs|scripts|tests|overrides)/[\w./-]+)`", read(name))
    assert links or paths
    missing = [path for path in [*links, *paths] if not (ROOT / path).exists()]
    assert missing == []


def test_ci_runs_exactly_what_the_readme_promises():
    assert re.search(r"^make test$", read(".ci/run"), re.MULTILINE)
    assert "bash .ci/run" in read(".github/workflows/ci.yml")


def test_every_action_of_the_workflow_is_pinned_by_commit_with_its_version_beside_it():
    uses = re.findall(r"uses: (.*)", read(".github/workflows/ci.yml"))
    assert uses
    for action in uses:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


@pytest.mark.parametrize("python", PYTHONS)
def test_every_dependency_has_one_exact_version_on_every_supported_python(python: str):
    pinned = pins(python)
    for declared in requires("collectives-illustrated") or []:
        requirement = Requirement(declared)
        if requirement.name == "collectives-illustrated":
            continue
        version = pinned[requirement.name.lower()]
        assert re.fullmatch(r"==[\w.]+", version)
        assert requirement.specifier.contains(version.removeprefix("=="))
    assert f"setuptools{pinned['setuptools']}" in read("pyproject.toml")


def test_serving_the_site_needs_no_torch():
    docs = [
        Requirement(declared).name
        for declared in requires("collectives-illustrated") or []
        if 'extra == "docs"' in declared
    ]
    assert "mkdocs-material" in docs
    assert "torch" not in docs
    for path in (ROOT / "scripts").rglob("*.py"):
        assert not re.search(r"^\s*(import|from) torch\b", path.read_text("utf-8"), re.M), path


def test_every_demo_is_on_a_page_and_every_demo_of_a_page_exists(site: Site):
    files = {path.name for path in (ROOT / "docs" / "demos").glob("*.py")}
    shown = {
        block.title
        for path in site.paths()
        for block in site.page(path).code_blocks
        if block.title.endswith(".py")
    }
    assert files
    assert shown == files


def test_every_page_is_in_the_navigation(site: Site):
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    navigation = read("mkdocs.yml").split("\nnav:")[1].split("\ntheme:")[0]
    assert set(re.findall(r"[\w/-]+\.md", navigation)) == pages


def test_the_old_word_for_reduction_stands_once_as_an_alias():
    word = "\u89c4\u7ea6"
    found = {name: text.count(word) for name, text in texts().items() if word in text}
    assert found == {"docs/terminology.md": 1}


def test_nothing_is_left_unfinished():
    mark = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b|待补充|待完善|敬请期待")
    found = [name for name, text in texts().items() if mark.search(text)]
    assert [name for name in found if name != "tests/test_repository.py"] == []


def test_no_page_or_script_holds_an_emoji():
    emoji = re.compile("[\U0001f300-\U0001faff\ufe0f\u2705\u2728\u274c\u26a0\u26a1]")
    assert [name for name, text in texts().items() if emoji.search(text)] == []


def test_git_ignores_what_a_build_leaves_behind():
    ignored = subprocess.run(
        ["git", "check-ignore", "--stdin"],
        cwd=ROOT,
        input="site/index.html\n.venv/x\ndocs/assets/schedules/catalog.json\nscripts/x.egg-info/y\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert len(ignored.stdout.split()) == 4
