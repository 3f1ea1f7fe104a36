"""The build is strict: it either shows what a page asked for, or fails and names page and value."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace

import jinja2
import pytest

import site_macros
from built_site import ROOT, Site, build_site
from html_page import HTMLPage

TRICKY_DEMO = '''\
# 运行方式: python tricky_cpu_demo.py


def worker(rank):
    """A docstring with a fence in it.

    ```python
    {{ demo("x.py") }}
    ```

    ````
    --8<-- "mkdocs.yml"
    ````
    """
    cost = "$x^2$ <b>&amp;</b> [[% if %]]"
    print(f"[rank {rank}] {cost!r} \\u4e2d {'*' * 3}")
'''


TWO_RIGHT = "几轮？\n\n- [x] 3\n  对。\n- [x] 6\n  也对。\n- [ ] 9\n  不对。\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the site's sources that a test may damage."""
    copy = tmp_path / "project"
    copy.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for folder in ("docs", "overrides", "scripts"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=ignored)
    shutil.copy(ROOT / "mkdocs.yml", copy)
    return copy


@pytest.fixture
def edited(project: Path) -> Path:
    """The copy, with a source of the player changed after it was bundled."""
    module = project / "docs" / "assets" / "js" / "dom.js"
    module.write_text(module.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    return project


Build = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def build_with(project: Path, tmp_path: Path) -> Build:
    """A function that builds the copy with a text on its first page, and with further pages."""

    def build(
        text: str, further: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        # What one page does to a build does not depend on the other pages, but its time does.
        for page in (project / "docs").rglob("*.md"):
            page.unlink()
        for name, more in {**(further or {}), "index": text}.items():
            page = project / "docs" / f"{name}.md"
            page.write_text(f"# 首页\n\n{more}", encoding="utf-8")
        config = project / "mkdocs.yml"
        settings = config.read_text(encoding="utf-8")
        config.write_text(re.sub(r"(?ms)^nav:\n.*?(?=^\S)", "", settings), encoding="utf-8")
        return build_site(tmp_path / "site", config=config)

    return build


def test_the_strict_build_has_nothing_to_complain_about(site: Site):
    assert "WARNING" not in site.log
    assert "ERROR" not in site.log


def test_the_site_builds_where_torch_cannot_be_imported(tmp_path: Path):
    blocker = tmp_path / "blocker"
    blocker.mkdir()
    (blocker / "torch.py").write_text("raise ImportError('torch is not here')\n")
    result = build_site(tmp_path / "site", PYTHONPATH=str(blocker))
    assert result.returncode == 0, result.stdout


def test_a_second_build_leaves_every_generated_file_alone(site: Site, tmp_path: Path):
    assets = ROOT / "docs" / "assets"

    def written() -> dict[Path, int]:
        files = [*(assets / "schedules").rglob("*.json"), assets / "search" / "aliases.js"]
        return {path: path.stat().st_mtime_ns for path in files}

    before = written()
    assert len(before) > 1
    assert build_site(tmp_path / "site").returncode == 0
    assert written() == before


def test_a_strict_build_refuses_a_bundle_that_is_older_than_its_sources(
    edited: Path, tmp_path: Path
):
    result = build_site(tmp_path / "site", config=edited / "mkdocs.yml")
    assert result.returncode != 0
    assert "WARNING -  播放器的源文件改过：运行 make player 重新打包\n" in result.stdout
    assert "Aborted with 1 warnings" in result.stdout


def test_the_preview_shows_an_edit_of_the_player_that_is_not_bundled_yet(
    edited: Path, tmp_path: Path
):
    result = build_site(tmp_path / "site", config=edited / "mkdocs.yml", strict=False)
    assert result.returncode == 0, result.stdout
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert 'src="assets/js/collective-player.js"' in index
    assert 'href="assets/css/collective-player.css"' in index
    assert "assets/player/" not in index


def test_a_harmless_addition_to_a_page_still_builds(build_with: Build):
    result = build_with("## 多一节 { #more }\n\n公式 $x^2$，[链接](#more)。\n")
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{{ player("allreduce/no_such_algorithm") }}', "no_such_algorithm"),
        ("{{ no_such_macro() }}", "no_such_macro"),
        (
            f"[[% call quiz() %]]\n{TWO_RIGHT}\n[[% endcall %]]",
            "小测第 1 题「几轮？」有 2 个对的选项",
        ),
        (r"公式 $\frac{a$ 没写完。", r"\frac{a"),
        ("[断掉的链接](no-such-page.md)", "no-such-page.md"),
        ("[断掉的锚点](#no-such-anchor)", "no-such-anchor"),
    ],
)
def test_a_mistake_on_a_page_fails_the_build_and_names_page_and_value(
    build_with: Build, text: str, named: str
):
    result = build_with(text)
    assert result.returncode != 0, result.stdout
    assert "index.md" in result.stdout
    assert named in result.stdout


def test_a_demo_without_recorded_output_fails_the_build(project: Path, build_with: Build):
    (project / "docs" / "demos" / "tricky_cpu_demo.py").write_text(TRICKY_DEMO, encoding="utf-8")
    result = build_with('{{ demo_output("tricky_cpu_demo.py") }}')
    assert result.returncode != 0
    assert "expected/tricky_cpu_demo.txt" in result.stdout


def test_a_demo_that_cannot_be_shown_as_it_is_fails_the_build(project: Path, build_with: Build):
    demo = project / "docs" / "demos" / "tricky_cpu_demo.py"
    demo.write_text(TRICKY_DEMO + "\tprint()\n", encoding="utf-8")
    result = build_with('{{ demo("tricky_cpu_demo.py") }}')
    assert result.returncode != 0
    assert "无法原样显示" in result.stdout


@pytest.mark.parametrize("damage", ["\tprint()\n", "print()  \n", "print()"])
def test_tabs_blanks_at_the_end_and_a_missing_last_newline_cannot_be_shown(
    tmp_path: Path, damage: str
):
    demos = tmp_path / "demos"
    demos.mkdir()
    (demos / "tricky_cpu_demo.py").write_text(TRICKY_DEMO + damage, encoding="utf-8")
    page = site_macros.Page("index.md", "", tmp_path)
    with pytest.raises(site_macros.PageError, match="无法原样显示"):
        site_macros.demo(page, "tricky_cpu_demo.py")


AT_ANY_DEPTH = {
    "index": '{{ demo("tricky_cpu_demo.py") }}',
    "list": '1. 一步：\n\n    {{ demo("tricky_cpu_demo.py") }}\n\n2. 下一步',
    "blocks": '??? example "外层"\n\n    ??? example "内层"\n\n'
    '        {{ demo("tricky_cpu_demo.py") }}\n\n    后文',
    "demo_block": '{{ demo_block("tricky_cpu_demo.py", title="标题", open=True) }}',
    "list_block": '- 列表\n\n    ??? example "块"\n\n        {{ demo("tricky_cpu_demo.py") }}',
}
"""Name of a page -> a text that shows the demo somewhere inside something."""


def test_the_page_shows_a_demo_byte_for_byte_at_any_depth(
    project: Path, build_with: Build, tmp_path: Path
):
    demos = project / "docs" / "demos"
    (demos / "tricky_cpu_demo.py").write_text(TRICKY_DEMO, encoding="utf-8")
    (demos / "expected" / "tricky_cpu_demo.txt").write_text("[rank 0] ok\n", encoding="utf-8")
    result = build_with(AT_ANY_DEPTH["index"], AT_ANY_DEPTH)
    assert result.returncode == 0, result.stdout
    for name in AT_ANY_DEPTH:
        folder = tmp_path / "site" / ("" if name == "index" else name)
        blocks = HTMLPage.read(folder / "index.html").code_blocks
        shown = [block.text for block in blocks if block.title == "tricky_cpu_demo.py"]
        assert shown == [TRICKY_DEMO], name


class Environment:
    """What a site generator hands to `define_env`, as far as the macros look at it."""

    def __init__(self, page: SimpleNamespace) -> None:
        self.conf = {"docs_dir": str(ROOT / "docs")}
        self.page = page
        self.macros: dict[str, Callable[..., str]] = {}

    def macro(self, function: Callable[..., str], name: str) -> None:
        self.macros[name] = function


@pytest.mark.parametrize(
    "page",
    [
        SimpleNamespace(url="a/b/", meta={}, file=SimpleNamespace(src_uri="a/b.md")),
        SimpleNamespace(url="a/b/", meta={}, path="a/b.md"),
    ],
    ids=["MkDocs", "Zensical"],
)
def test_the_macros_know_their_page_under_mkdocs_and_under_its_successor(
    page: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
):
    # Importing the project's modules afresh is for `mkdocs serve`; here other tests hold them.
    monkeypatch.setattr(site_macros, "forget_project_modules", lambda: None)
    environment = Environment(page)
    site_macros.define_env(environment)
    assert "](../demos/allreduce_cpu_demo.py)" in environment.macros["demo"](
        "allreduce_cpu_demo.py"
    )
    with pytest.raises(ValueError, match=r"a/b\.md：没有名为 'x\.py' 的示例"):
        environment.macros["demo"]("x.py")


@pytest.fixture(scope="module")
def macros() -> dict[str, Callable[..., str]]:
    """The macros of a page."""
    page = SimpleNamespace(url="", meta={}, file=SimpleNamespace(src_uri="index.md"))
    environment = Environment(page)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site_macros, "forget_project_modules", lambda: None)
        site_macros.define_env(environment)
    return environment.macros


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{{ demo("no_such_demo.py") }}', "'no_such_demo.py'"),
        ('{{ demo("../../README.md") }}', "'../../README.md'"),
        ('{{ demo_output("no_such_demo.py") }}', "'no_such_demo.py'"),
        ('{{ demo_block("no_such_demo.py", title="x") }}', "'no_such_demo.py'"),
        ('{{ player("allreduce/ring", ranks=99) }}', "99"),
        ('{{ player("broadcast/binomial", root=7) }}', "7"),
    ],
)
def test_a_macro_that_cannot_answer_names_page_and_value(
    macros: dict[str, Callable[..., str]], text: str, named: str
):
    with pytest.raises(site_macros.PageError) as refusal:
        jinja2.Template(text).render(macros)
    assert "index.md" in str(refusal.value)
    assert named in str(refusal.value)


def test_every_demo_on_the_site_is_the_file_and_can_be_downloaded(site: Site):
    demos = sorted((ROOT / "docs" / "demos").glob("*.py"))
    assert demos
    for demo in demos:
        published = site.folder / "demos" / demo.name
        assert published.read_bytes() == demo.read_bytes()
    shown = [
        block
        for path in site.paths()
        for block in site.page(path).code_blocks
        if block.title.endswith("_demo.py")
    ]
    assert {block.title for block in shown} == {demo.name for demo in demos}
    for block in shown:
        assert block.text == (ROOT / "docs" / "demos" / block.title).read_text(encoding="utf-8")


def test_the_environment_of_a_reader_is_not_part_of_the_build(site: Site):
    """No path of the building machine gets into a page."""
    for path in site.paths():
        text = site.file(path).read_text(encoding="utf-8")
        assert str(ROOT) not in text
        assert os.fspath(Path.home()) + os.sep not in text
