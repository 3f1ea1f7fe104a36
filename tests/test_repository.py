"""The repository keeps its word: what README says exists, and what must agree does agree."""

from __future__ import annotations

import json
import re
import subprocess
from importlib.metadata import requires

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

from built_site import ROOT
from site_macros import PROJECT_MODULES

PYTHONS = ("3.10.0", "3.11.2", "3.11.9", "3.12.3", "3.13.0")
"""Among them the versions that Debian 12 and Ubuntu 22.04 and 24.04 ship."""


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def git(*arguments: str, text: str = "") -> str:
    """What a git command says."""
    command = ["git", "-c", "core.quotePath=false", *arguments]
    result = subprocess.run(
        command, cwd=ROOT, input=text, stdout=subprocess.PIPE, encoding="utf-8", check=False
    )
    return result.stdout


def texts() -> dict[str, str]:
    """The text files of the repository by name, those not committed yet included."""
    suffixes = (
        ".css",
        ".html",
        ".js",
        ".json",
        ".md",
        ".mjs",
        ".py",
        ".sh",
        ".toml",
        ".txt",
        ".yml",
    )
    names = git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    return {
        name: read(name) for name in names if name.endswith(suffixes) and (ROOT / name).exists()
    }


def applies(requirement: Requirement, python: str) -> bool:
    """Whether something is installed on a Python version, for one who runs the tests."""
    environment = {
        **default_environment(),
        "python_full_version": python,
        "python_version": ".".join(python.split(".")[:2]),
        "extra": "test",
    }
    return requirement.marker is None or requirement.marker.evaluate(environment)  # type: ignore[arg-type]


def pins(python: str) -> dict[str, str]:
    """The versions that constraints.txt pins for a Python version, by package."""
    found: dict[str, str] = {}
    for line in read("constraints.txt").splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            if applies(requirement, python):
                assert requirement.name not in found, f"{requirement.name} is pinned twice"
                found[requirement.name.lower()] = str(requirement.specifier)
    return found


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", ".github/workflows/ci.yml"])
def test_every_make_command_that_is_named_exists(name: str):
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))
    named = set(re.findall(r"(?:^|`|run: )make ([a-z]+)", read(name), re.MULTILINE))
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
        if 'extra == "test"' in declared and not applies(requirement, python):
            continue
        version = pinned[requirement.name.lower()]
        assert re.fullmatch(r"==[\w.]+", version)
        assert requirement.specifier.contains(version.removeprefix("=="))
    assert f"setuptools{pinned['setuptools']}" in read("pyproject.toml")


@pytest.mark.parametrize("folder", ["", "scripts/lighthouse/"])
def test_every_node_package_has_one_exact_version_and_no_address(folder: str):
    declared = json.loads(read(f"{folder}package.json"))["devDependencies"]
    locked = json.loads(read(f"{folder}package-lock.json"))["packages"]
    assert declared
    for name, version in declared.items():
        assert locked[f"node_modules/{name}"]["version"] == version
    for name, entry in locked.items():
        assert "resolved" not in entry
        assert not name or entry["integrity"].startswith("sha512-")


def test_serving_the_site_needs_no_torch():
    docs = [
        Requirement(declared).name
        for declared in requires("collectives-illustrated") or []
        if 'extra == "docs"' in declared
    ]
    assert "mkdocs-material" in docs
    assert "torch" not in docs
    built_with = [
        ROOT / "scripts" / f"{module}.py"
        for module in (*PROJECT_MODULES, "site_macros", "light_code", "mathml", "wide_tables")
        if module != "collectives"
    ]
    for path in (*built_with, *(ROOT / "scripts/collectives").rglob("*.py")):
        assert not re.search(r"^\s*(import|from) torch\b", path.read_text("utf-8"), re.M), path


def test_every_page_is_in_the_navigation():
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    navigation = read("mkdocs.yml").split("\nnav:")[1].split("\ntheme:")[0]
    assert set(re.findall(r"[\w/-]+\.md", navigation)) == pages


def test_the_old_word_for_reduction_stands_once_as_an_alias():
    word = "\u89c4\u7ea6"
    read_by_people = {name: text for name, text in texts().items() if not name.startswith("tests/")}
    found = {name: text.count(word) for name, text in read_by_people.items() if word in text}
    assert found == {"docs/terminology.md": 1}


def test_nothing_is_left_unfinished():
    mark = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b|待补充|待完善|敬请期待")
    found = [name for name, text in texts().items() if mark.search(text)]
    assert [name for name in found if name != "tests/test_repository.py"] == []


def test_no_page_or_script_holds_an_emoji():
    emoji = re.compile("[\U0001f300-\U0001faff\ufe0f\u2705\u2728\u274c\u26a0\u26a1]")
    assert [name for name, text in texts().items() if emoji.search(text)] == []


def test_git_ignores_what_a_build_leaves_behind():
    left = [
        "site/index.html",
        ".venv/x",
        "docs/assets/schedules/catalog.json",
        "scripts/x.egg-info/y",
        "node_modules/x",
    ]
    assert git("check-ignore", "--stdin", text="\n".join(left)).split() == left
