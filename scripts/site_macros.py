"""What the pages may ask for: {{ demo("…") }} and its siblings, and the schedules they play.

MkDocs loads this module through the macros plugin (see mkdocs.yml) and calls `define_env`. Every
macro returns Markdown, or a number to reckon with in a question. A macro that cannot answer raises
PageError, which names the page and the value, and the build fails: nothing on a page is ever
missing without a word.

To add a macro: write it as a function of a `Page`, and add it to MACROS, here or in
schedule_macros, which holds those that ask the registry of algorithms.
"""

from __future__ import annotations

import functools
import posixpath
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from record_expected import demo_names, record_of

DEMOS = "demos"
"""Folder of the demo files inside docs/, and their folder on the site."""

SCHEDULES = "assets/schedules"
"""Folder of the generated schedules inside docs/, and their folder on the site."""


class PageError(ValueError):
    """A page asks for something that does not exist; the message names the page and the value."""


class Page(NamedTuple):
    """The page being built.

    Attributes:
        source: its path inside docs/, such as "primitives/allreduce.md".
        url: its address on the site, such as "primitives/allreduce/".
        docs: the folder docs/ itself.
        rewritten: whether addresses in raw HTML are taken as Markdown's and rewritten, as Zensical
            does it.
    """

    source: str
    url: str
    docs: Path
    rewritten: bool = False

    def link(self, target: str) -> str:
        """Return the path from this page to a file of docs/, as a Markdown link wants it."""
        folder = posixpath.dirname(self.source)
        return posixpath.relpath(target, folder or ".") + ("/" if target.endswith("/") else "")

    def url_of(self, target: str) -> str:
        """Return the address of a file of the site, relative to this page."""
        folder = self.url if self.url.endswith("/") else posixpath.dirname(self.url)
        return posixpath.relpath(target, folder or ".") + ("/" if target.endswith("/") else "")

    def html_link(self, target: str) -> str:
        """Return the same for an attribute `src` or `href` in raw HTML."""
        return self.link(target) if self.rewritten else self.url_of(target)

    def error(self, problem: str) -> PageError:
        """Return the error that stops the build of this page."""
        return PageError(f"{self.source}：{problem}")


# ---------------------------------------------------------------------------------------- demos


def fenced(text: str, language: str, title: str, *, wraps: bool = False) -> str:
    """Return a fenced code block that holds `text` exactly.

    The fence is longer than any run of backticks in the text, so no text can close it early.

    Args:
        text: what the block holds.
        language: what it is written in.
        title: stands above it.
        wraps: its long lines are sentences, which wrap instead of scrolling sideways.
    """
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    kind = f".{language} .wraps" if wraps else f".{language}"
    return f'{fence} {{ {kind} title="{title}" }}\n{text.rstrip()}\n{fence}'


def indented(text: str, spaces: int = 4) -> str:
    """Indent every line that is not empty: what stands inside a collapsible block."""
    return re.sub(r"^(?=.)", " " * spaces, text, flags=re.MULTILINE)


def read_demo_file(page: Page, name: str, path: str) -> str:
    """Return the text of a file below docs/demos/.

    Args:
        page: the page that asks.
        name: the demo, whose folder is part of its name: "training/ddp.py".
        path: the file of that demo, from docs/demos/.

    Raises:
        PageError: there is no such file, or Markdown would not show it as it is.
    """
    folder = page.docs / DEMOS
    known = demo_names(folder)
    if name not in known:
        raise page.error(f"没有名为 {name!r} 的示例；现有：{'、'.join(known)}")
    try:
        text = (folder / path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise page.error(f"示例 {name!r} 缺少文件 {DEMOS}/{path}") from None
    if "\t" in text or re.search(r"[ ]$", text, re.MULTILINE) or not text.endswith("\n"):
        raise page.error(f"{DEMOS}/{path} 里有制表符或行尾空格，或末尾没有换行，无法原样显示")
    return text


def demo(page: Page, name: str) -> str:
    """Show a demo: the whole file as it is, with a copy button and a download link.

    Args:
        page: the page that asks.
        name: path in docs/demos/, such as "allreduce_cpu_demo.py".
    """
    file = posixpath.basename(name)
    code = fenced(read_demo_file(page, name, name), "python", file)
    link = page.link(f"{DEMOS}/{name}")
    return f'{code}\n\n[下载 {file}]({link}){{ .demo-download download="{file}" }}\n'


def demo_output(page: Page, name: str) -> str:
    """Show what a demo prints: expected/<name>.txt beside it, recorded from a run and tested."""
    text = read_demo_file(page, name, record_of(Path(name)).as_posix())
    return fenced(text, "text", "实际输出") + "\n"


def demo_block(
    page: Page, name: str, title: str, open: bool = False, also: Sequence[str] = ()
) -> str:
    """Show a demo and its output in a collapsible block.

    Args:
        page: the page that asks.
        name: the demo's file name.
        title: the summary line.
        open: whether the block starts open.
        also: file names of further demos that do the same by another call, shown below the first.
    """
    parts = [demo(page, name), demo_output(page, name)]
    for other in also:
        parts += [f"换一种写法：`{other}`\n", demo(page, other), demo_output(page, other)]
    marker = "???+" if open else "???"
    return f'{marker} example "{title}"\n\n' + indented("\n".join(parts))


# ------------------------------------------------------------------------------------- plumbing

MACROS: tuple[Callable[..., str], ...] = (demo, demo_output, demo_block)
"""The macros of this module. Their first parameter is the page, which `define_env` fills in."""

PROJECT_MODULES = (
    "collectives",
    "generate_schedules",
    "schedule_macros",
    "benchmark_macros",
    "bibliography_macros",
    "failure_macros",
    "failures",
    "gloo_macros",
    "gloo_traffic",
    "launch_macros",
    "names",
    "names_macros",
    "race_macros",
    "figure_macros",
    "path_macros",
    "quiz_macros",
    "search_aliases",
    "sources",
    "training_macros",
    "training_traffic",
    "player_bundle",
    "cards",
)
"""What `mkdocs serve` imports afresh at every build, so that an edit to it is seen."""

INDENTED_CALL = re.compile(
    r"^([ \t]+)\{\{(?!.*\}\}.*\{\{|.*\| *indent)(.+?)\}\}[ \t]*$", re.MULTILINE
)
"""A line that is nothing but an indentation and one call that does not indent what it returns."""


def keep_indentation(markdown: str) -> str:
    """Make an indented call indent all the lines it returns, not only the first.

    Without this, a demo inside a list or a collapsible block would end after its first line.
    """

    def replacement(match: re.Match[str]) -> str:
        width = len(match[1].expandtabs(4))
        return f"{match[1]}{{{{ ({match[2].strip()}) | indent({width}) }}}}"

    return INDENTED_CALL.sub(replacement, markdown)


def define_env(env: Any) -> None:
    """Write the files that pages load, and register the macros.

    The macros plugin calls this at every build. Zensical, the successor of MkDocs, calls it for
    every page, and nothing else.

    Args:
        env: the macros plugin; its `conf` is the MkDocs configuration, its `page` the current page,
            which MkDocs has not yet.
    """
    docs = Path(env.conf["docs_dir"])
    page = getattr(env, "page", None)
    edited = max(file.stat().st_mtime_ns for file in Path(__file__).parent.rglob("*.py"))
    known = sys.modules.get("generate_schedules")
    # Zensical asks for every page; what the first page has imported and proved serves the others.
    up_to_date = page is not None and getattr(known, "imported_from", None) == edited
    if not up_to_date:
        forget_project_modules()
    import benchmark_macros
    import bibliography_macros
    import cards
    import failure_macros
    import figure_macros
    import generate_schedules
    import gloo_macros
    import launch_macros
    import names_macros
    import path_macros
    import player_bundle
    import quiz_macros
    import race_macros
    import schedule_macros
    import search_aliases
    import training_macros

    if page is None:
        player_bundle.warn_when_stale(docs)
    else:
        player_bundle.choose_for(page, docs)
        cards.choose_for(page, source_of(page))
    if not up_to_date:
        generate_schedules.generate(docs / SCHEDULES)
        search_aliases.generate(docs)
        generate_schedules.imported_from = edited

    def with_page(macro: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(macro)
        def call(*args: Any, **kwargs: Any) -> Any:
            here = Page(source_of(env.page), env.page.url, docs, rewritten=is_zensical(env.page))
            return macro(here, *args, **kwargs)

        return call

    modules = (
        schedule_macros,
        benchmark_macros,
        bibliography_macros,
        failure_macros,
        gloo_macros,
        launch_macros,
        names_macros,
        race_macros,
        figure_macros,
        path_macros,
        quiz_macros,
        training_macros,
    )
    for macro in (*MACROS, *(macro for module in modules for macro in module.MACROS)):
        env.macro(with_page(macro), macro.__name__)


def is_zensical(page: Any) -> bool:
    """Whether a page is one of Zensical's, the successor of MkDocs: it has no file of its own."""
    return not hasattr(page, "file")


def source_of(page: Any) -> str:
    """Return the path of a page inside docs/."""
    return str(page.path if is_zensical(page) else page.file.src_uri)


def on_pre_page_macros(env: Any) -> None:
    """Prepare the Markdown of a page. The macros plugin calls this before it renders the page."""
    import cards
    import player_bundle

    cards.choose_for(env.page, source_of(env.page))
    player_bundle.choose_for(env.page, Path(env.conf["docs_dir"]))
    env.markdown = keep_indentation(env.markdown)


def forget_project_modules() -> None:
    """Drop the project's own modules, so that the next import reads the files again."""
    for name in list(sys.modules):
        if name.split(".")[0] in PROJECT_MODULES:
            del sys.modules[name]
