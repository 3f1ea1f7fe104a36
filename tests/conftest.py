"""What the tests share: the built site, a server that serves it at its own address, a browser."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

import find_browser
from html_page import HTMLPage

ROOT = Path(__file__).resolve().parents[1]

MOUNT = "/collectives-illustrated/"
"""The site is served below a path, as a project site on GitHub Pages is."""


def build_site(
    target: Path, *, config: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Build the site strictly into `target`, as `make site` does, in a process of its own."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)]
    if config is not None:
        command += ["--config-file", str(config)]
    return subprocess.run(
        command,
        cwd=ROOT if config is None else config.parent,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


class SiteHandler(SimpleHTTPRequestHandler):
    """Serves a folder below MOUNT and answers with its 404.html, as GitHub Pages does."""

    extensions_map = {  # noqa: RUF012 (the base class declares it so)
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".json": "application/json",
        ".woff2": "font/woff2",
        ".svg": "image/svg+xml",
    }

    def translate_path(self, path: str) -> str:
        path = urlsplit(path).path
        inside = path[len(MOUNT) :] if path.startswith(MOUNT) else "outside-of-the-site"
        return super().translate_path("/" + inside)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        page = Path(self.directory, "404.html")
        if code != 404 or not page.is_file():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Stay silent: what matters is what the browser saw."""


class Site:
    """The built site.

    Attributes:
        folder: the files.
        url: where they are served; ends with a slash.
        log: what the build said.
    """

    def __init__(self, folder: Path, url: str, log: str) -> None:
        self.folder = folder
        self.url = url
        self.log = log

    def page(self, path: str = "") -> HTMLPage:
        """Read a page, named as in its address: "" for the index, "primitives/allreduce/"."""
        return HTMLPage.read(self.file(path))

    def file(self, path: str) -> Path:
        """Return the file behind an address inside the site."""
        file = self.folder / path
        return file / "index.html" if file.is_dir() else file

    def paths(self) -> list[str]:
        """Return the addresses of all pages, 404.html included."""
        pages = sorted(self.folder.rglob("*.html"))
        names = [page.relative_to(self.folder).as_posix() for page in pages]
        return [name.removesuffix("index.html") for name in names]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site, built once, strictly, and served at the address it was built for.

    The address matters: served from anywhere else, Material's instant navigation is silently off.
    """
    folder = tmp_path_factory.mktemp("site")

    def handler(*arguments: object) -> SiteHandler:
        return SiteHandler(*arguments, directory=str(folder))  # type: ignore[arg-type]

    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        url = f"http://127.0.0.1:{server.server_port}{MOUNT}"
        result = build_site(folder, SITE_URL=url)
        assert result.returncode == 0, result.stdout
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Site(folder, url, result.stdout)
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium-family browser without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser.find(), args=find_browser.arguments()
        )
        yield browser
        browser.close()


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
        page.on("request", lambda request: self._note_request(request.url))
        page.on("pageerror", lambda error: self.problems.append(f"{page.url}: {error}"))
        page.on(
            "console",
            lambda message: (
                self.problems.append(f"{page.url}: {message.type}: {message.text}")
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
