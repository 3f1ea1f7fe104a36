"""What the tests share: the built site, a server that serves it at its own address, a browser."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

import find_browser
import generate_schedules
import search_aliases
from built_site import MOUNT, ROOT, Site, SiteHandler, build_site
from engines import Chromium, Engine, Firefox, Served, WebKit
from player_bench import Bench, BenchPages

# Zensical asks for Python 3.11, one more than the site does.
collect_ignore = ["test_zensical.py"] if sys.version_info < (3, 11) else []

SERVED_SITE = pytest.StashKey[tuple[str, str]]()
"""The folder that the site is served from, and the address, for all workers of a run."""


class QuietServer(ThreadingHTTPServer):
    """A server that does not report a browser that went away before it had its answer."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def pytest_configure(config: pytest.Config) -> None:
    """Do once what all workers share.

    Generated files are written before any test: workers must not read them half written. The site's
    server is here because it outlives every worker.
    """
    if hasattr(config, "workerinput"):
        config.stash[SERVED_SITE] = config.workerinput["served_site"]
        return
    generate_schedules.generate()
    search_aliases.generate(ROOT / "docs")
    folder = tempfile.TemporaryDirectory(prefix="site-")
    directory = str(Path(folder.name) / "site")

    def handler(*arguments: object) -> SiteHandler:
        return SiteHandler(*arguments, directory=directory)  # type: ignore[arg-type]

    server = QuietServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    config.stash[SERVED_SITE] = (
        folder.name,
        f"http://127.0.0.1:{server.server_port}{MOUNT}",
    )

    def close() -> None:
        server.shutdown()
        server.server_close()
        folder.cleanup()

    config.add_cleanup(close)


LONGEST = (
    "failures",
    "demos",
    "site",
    "engines",
    "build",
    "torchrun",
    "playground",
    "path",
    "training",
    "beyond",
    "race",
    "share",
    "player",
    "run_schedule",
)
"""Where most of the time goes: begun first, they leave no worker alone with one at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first; each keeps the order of its tests."""
    place = {f"test_{name}": number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(place)))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist where the site is."""
    node.workerinput["served_site"] = node.config.stash[SERVED_SITE]


@pytest.fixture(scope="session")
def site(request: pytest.FixtureRequest) -> Site:
    """The site, built once, strictly, and served at the address it was built for.

    The address matters: served from anywhere else, Material's instant navigation is silently off.
    """
    folder, url = request.config.stash[SERVED_SITE]
    root = Path(folder)
    log = root / "log.txt"
    with FileLock(root / "lock"):
        if not log.exists():
            result = build_site(root / "site", SITE_URL=url)
            assert result.returncode == 0, result.stdout
            log.write_text(result.stdout, encoding="utf-8")
    return Site(root / "site", url, log.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium-family browser without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser.find(), args=find_browser.arguments()
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def served() -> Iterator[Served]:
    """The player on a page of its own, served to any engine."""
    served = Served(BenchPages(generate_schedules.DEFAULT_OUTPUT))
    yield served
    served.close()


@pytest.fixture(scope="session", params=["Chromium", "Firefox", "WebKit"])
def launched(request: pytest.FixtureRequest, served: Served) -> Iterator[Engine]:
    """Each engine, started once; one that this machine lacks is skipped, on CI it is missed."""
    try:
        if request.param == "Chromium":
            engine: Engine = Chromium(served, request.getfixturevalue("browser"))
        else:
            engine = {"Firefox": Firefox, "WebKit": WebKit}[request.param](served)
    except find_browser.NoBrowserError as error:
        if find_browser.required():
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))
    yield engine
    engine.close()


@pytest.fixture
def engine(launched: Engine) -> Iterator[Engine]:
    """An engine to open pages in; the test fails when a page misbehaves in any way."""
    yield launched
    problems = launched.finish()
    assert not problems, "\n".join(problems)


@pytest.fixture(scope="session")
def schedules() -> Path:
    """The folder with every published schedule, written at the start of this run."""
    return generate_schedules.DEFAULT_OUTPUT


@pytest.fixture
def bench(browser: Browser, schedules: Path) -> Iterator[Bench]:
    """A page of one's own; the test fails on an uncaught error or a request to another host."""
    bench = Bench(browser, schedules)
    yield bench
    bench.close()
    assert not bench.problems, "\n".join(bench.problems)


def wait_until(page: Page, expression: str, arg: Any = None) -> None:
    """Wait for an expression to be true, or a function of `arg`, asking from outside.

    Playwright asks from inside the page, through eval, which the site's policy does not allow.
    """
    end = time.monotonic() + 30
    while True:
        try:
            if page.evaluate(expression, arg):
                return
        except Error as error:
            # The page that was asked gave way to the next one.
            if "Execution context was destroyed" not in str(error):
                raise
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(50)


class Visitor:
    """Opens pages of the site and notes everything a reader should never meet.

    Attributes:
        problems: console errors, uncaught errors and requests to other hosts, as sentences. A test
            that provokes one on purpose looks at it here and clears the list; anything left when
            the test ends fails it.
    """

    def __init__(self, browser: Browser, site: Site) -> None:
        self.browser = browser
        self.site = site
        self.problems: list[str] = []
        self.contexts: list[BrowserContext] = []

    def __call__(
        self,
        path: str = "",
        *,
        width: int = 1280,
        height: int = 900,
        scheme: str = "light",
        motion: str = "no-preference",
        javascript: bool = True,
    ) -> Page:
        """Open a page in a fresh profile.

        Args:
            path: address inside the site, such as "primitives/allreduce/#round=2".
            width: of the window, in CSS pixels.
            height: of the window, in CSS pixels.
            scheme: what the system prefers: "light" or "dark".
            motion: what the system prefers: "no-preference" or "reduce".
            javascript: whether scripts run.
        """
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,  # type: ignore[arg-type]
            reduced_motion=motion,  # type: ignore[arg-type]
            java_script_enabled=javascript,
            locale="zh-CN",
        )
        self.contexts.append(context)
        page = context.new_page()
        page.wait_for_function = partial(wait_until, page)  # type: ignore[assignment,method-assign]
        page.on("request", lambda request: self._note_request(request.url))
        page.on("pageerror", lambda error: self.problems.append(f"{page.url}: {error}"))
        page.on(
            "console",
            lambda message: (
                self.problems.append(
                    f"{page.url}: {message.type}: {message.text} ({message.location['url']})"
                )
                if message.type in ("error", "warning")
                else None
            ),
        )
        page.goto(self.site.url + path)
        return page

    def _note_request(self, url: str) -> None:
        address = urlsplit(url)
        if address.scheme in ("http", "https", "ws", "wss") and (
            address.netloc != urlsplit(self.site.url).netloc
        ):
            self.problems.append(f"request to another host: {url}")

    def close(self) -> None:
        for context in self.contexts:
            context.close()


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Visitor]:
    """A function that opens a page; the test fails when the page misbehaves in any way."""
    visitor = Visitor(browser, site)
    yield visitor
    visitor.close()
    assert not visitor.problems, "\n".join(visitor.problems)
