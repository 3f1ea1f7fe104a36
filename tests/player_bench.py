"""A bare page with the player and nothing else, so that tests can put anything into it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, Route, ViewportSize

ROOT = Path(__file__).resolve().parents[1]
ADDRESS = "http://player.test/"
CONTROLS = "primitive algorithm ranks root op"
TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".html": "text/html",
}

COUNT_FRAMES = """
window.frames = 0;
const request = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (callback) => { window.frames += 1; return request(callback); };
window.quiet = async () => {
    const before = window.frames;
    for (let i = 0; i < 6; i += 1) await new Promise(request);
    return window.frames === before;
};
"""
"""Counts the frames a page asks for; `quiet()` says whether it asks for none while six pass."""


def tag(src: str, controls: str | None = CONTROLS, inside: str = "", more: str = "") -> str:
    """A player as a page writes it; `src` is relative to the folder of schedules."""
    wanted = "" if controls is None else f' controls="{controls}"'
    table = inside or "<table><tr><td>后备表格</td></tr></table>"
    return f'<collective-player src="schedules/{src}"{wanted} {more}>{table}</collective-player>'


class BenchPages:
    """What a bench serves, whichever way it reaches the browser: a page, the player, schedules.

    Attributes:
        head: what stands before everything else in the page.
        body: what the page holds.
        files: path below schedules/ -> text, or None for 404; before what is on disk.
        asked: every path below schedules/ that was requested, in order.
    """

    def __init__(self, schedules: Path) -> None:
        self.schedules = schedules
        self.files: dict[str, str | None] = {}
        self.asked: list[str] = []
        self.head = ""
        self.body = ""

    def text(self, path: str) -> str:
        """A published file."""
        return (self.schedules / path).read_text(encoding="utf-8")

    def data(self, path: str) -> Any:
        """A published file, parsed."""
        return json.loads(self.text(path))

    def answer(self, path: str) -> tuple[str, str] | None:
        """The content type and the text of a path, or None where there is nothing."""
        if path == "/":
            return "text/html; charset=utf-8", self._page()
        if path.startswith("/schedules/"):
            name = path.removeprefix("/schedules/")
            file = self.schedules / name
            text = self.files[name] if name in self.files else _read(file)
        else:
            text = _read(ROOT / "docs" / path.lstrip("/"))
        kind = TYPES.get(Path(path).suffix, "text/plain")
        return None if text is None else (f"{kind}; charset=utf-8", text)

    def _page(self) -> str:
        return f"""<!doctype html>
<html lang="zh"><meta charset="utf-8">{self.head}<title>播放器</title>
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/css/collective-player.css">
<script type="module" src="/assets/js/collective-player.js"></script>
<body>{self.body}</body></html>"""


def _read(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None


class Bench(BenchPages):
    """Hands pages to Chromium out of the test itself.

    Attributes:
        problems: what no reader should meet: uncaught errors, requests to other hosts.
        held: paths below schedules/ whose answer waits until `release`.
    """

    def __init__(self, browser: Browser, schedules: Path) -> None:
        super().__init__(schedules)
        self.browser = browser
        self.problems: list[str] = []
        self.held: dict[str, list[Route]] = {}
        self.contexts: list[BrowserContext] = []

    def open(
        self,
        body: str,
        *,
        hash: str = "",
        width: int = 1280,
        height: int = 900,
        scheme: str = "light",
        motion: str = "no-preference",
        script: str = "",
        clock: bool = False,
        javascript: bool = True,
    ) -> Page:
        """Open a page with `body` in it; with `clock`, the page's time is the test's to command."""
        context = self.browser.new_context(
            viewport=ViewportSize(width=width, height=height),
            color_scheme=scheme,  # type: ignore[arg-type]
            reduced_motion=motion,  # type: ignore[arg-type]
            java_script_enabled=javascript,
            locale="zh-CN",
        )
        self.contexts.append(context)
        self.body = body
        page = context.new_page()
        page.on("pageerror", lambda error: self.problems.append(f"{error}\n{error.stack}"))
        page.route("**/*", self._answer)
        if clock:
            page.clock.install(time=0)
        if script:
            page.add_init_script(script)
        page.goto(ADDRESS + hash)
        return page

    def ready(self, body: str, **options: Any) -> Page:
        """Open a page and wait until its first player is drawn; then `clock` stands still."""
        page = self.open(body, **options)
        page.locator("collective-player[ready]").first.wait_for()
        if options.get("clock"):
            page.clock.pause_at(3_600_000)
        return page

    def release(self, path: str) -> None:
        """Answer the requests for a path that were held back."""
        for route in self.held.pop(path, []):
            self._send(route)

    def _answer(self, route: Route) -> None:
        address = urlsplit(route.request.url)
        name = address.path.removeprefix("/schedules/")
        if address.netloc != urlsplit(ADDRESS).netloc:
            self.problems.append(f"request to another host: {route.request.url}")
            route.abort()
            return
        if name != address.path:
            self.asked.append(name)
        if name in self.held:
            self.held[name].append(route)
        else:
            self._send(route)

    def _send(self, route: Route) -> None:
        answer = self.answer(urlsplit(route.request.url).path)
        if answer is None:
            route.fulfill(status=404, body="")
        else:
            kind, text = answer
            route.fulfill(content_type=kind, body=text)

    def close(self) -> None:
        for context in self.contexts:
            context.close()
