"""Chromium, Firefox and WebKit behind one interface, so that one suite holds in all of them.

To add tests for a panel or a view, in tests/test_engines.py or a file of its own:
1. Take the fixture `engine` (conftest.py); the test then runs once in each engine. Its first line
   is mostly `engine.open(tag(RING))`: a fresh page, the first player of which is drawn.
2. Do what a reader does: `click("更多")` finds by accessible name, `click(css=".cp-card")` by
   selector, `touch=True` is a finger; `press("Tab", "Shift+Tab", "?")`, `choose("GPU 数", "8")`,
   `drag(...)`, `swipe(...)`. A click waits until its target is there and nothing covers it.
3. Look with `evaluate("p.round")`, where `p` is the first player and `find(name)` an element by its
   name; what takes time is waited for: `wait_for("p.round === 2")`, never a sleep.
4. Uncaught errors, console errors and requests to other hosts fail the test by themselves.
5. What an engine lacks is made up for in its class and said there; no test asks which one it has.
"""

from __future__ import annotations

import abc
import atexit
import base64
import contextlib
import http.client
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

import find_browser
from find_browser import NoBrowserError
from player_bench import BenchPages

Point = tuple[float, float]
Action = dict[str, Any]

PATIENCE = 15
"""Seconds until something that is waited for counts as not happening."""

NOTE_PROBLEMS = """<script>
window.problems = [];
{
  const note = (text) => window.problems.push(String(text));
  addEventListener('error', ({ error, message }) => note(`${message}\\n${error?.stack ?? ''}`));
  addEventListener('unhandledrejection', ({ reason }) => note(reason?.stack ?? reason));
  addEventListener('securitypolicyviolation', ({ blockedURI, effectiveDirective }) =>
    note(`request to another host: ${blockedURI} (${effectiveDirective})`));
  const { error } = console;
  console.error = (...words) => { note(words.join(' ')); error.apply(console, words); };
}
</script>"""

ONLY_THIS_HOST = "default-src 'self' 'unsafe-inline' data: blob:"
"""The policy under which every engine refuses, and reports, a request to another host."""

PRELUDE = """
const p = document.querySelector('collective-player');
const find = (name, css = null, inside = null) => {
  const from = inside === null ? document : document.querySelector(inside);
  if (css !== null) return from?.querySelector(css) ?? null;
  const all = 'a, button, input, select, summary, textarea, [tabindex]';
  return [...from?.querySelectorAll(all) ?? []].find((node) => node.getClientRects().length
    && (node.getAttribute('aria-label') ?? node.textContent.trim()) === name) ?? null;
};
"""

ALL_CHOICES = """(!p.getAttribute('controls') || (p.querySelector('.cp-bar:not(.cp-waiting)')
  && [...p.querySelectorAll('.cp-bar select')].every((select) => select.options.length)))"""
"""Whether the bar of the first player has everything in it: it may play before that."""

KEYS = {
    "ArrowDown": "\ue015",
    "ArrowLeft": "\ue012",
    "ArrowRight": "\ue014",
    "ArrowUp": "\ue013",
    "Alt": "\ue00a",
    "Control": "\ue009",
    "End": "\ue010",
    "Enter": "\ue006",
    "Escape": "\ue00c",
    "Home": "\ue011",
    "Shift": "\ue008",
    "Tab": "\ue004",
}
"""Names of keys, as `KeyboardEvent.key` has them, in the alphabet of WebDriver."""


class Served:
    """The bench behind a real server, for engines whose requests no test can answer itself.

    Attributes:
        address: where the page is.
        pages: what is served.
    """

    def __init__(self, pages: BenchPages) -> None:
        pages.head = NOTE_PROBLEMS
        self.pages = pages

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path = urlsplit(self.path).path
                if path.startswith("/schedules/"):
                    pages.asked.append(path.removeprefix("/schedules/"))
                answer = pages.answer(path)
                kind, text = answer or ("text/plain; charset=utf-8", "")
                body = text.encode()
                self.send_response(200 if answer else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Content-Security-Policy", ONLY_THIS_HOST)
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                # A browser that leaves the page closes connections in the middle of an answer.
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing: the tests' output is for the tests."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Engine(abc.ABC):
    """A browser with one page, and what a reader does with it.

    An engine of its own kind only says how a page is opened, how a script is run, how pointer and
    keys act, how big the page is, what the system prefers, and what the page looks like.

    Attributes:
        name: of the engine.
        pages: what is served; a test may put files of its own into `pages.files`.
    """

    name: str

    def __init__(self, served: Served) -> None:
        self.served = served
        self.pages = served.pages
        self._visits = itertools.count()
        self._problems: list[str] = []

    # ------------------------------------------------------------------- what an engine must do

    @abc.abstractmethod
    def _navigate(self, url: str) -> None:
        """Open an address and wait until it is loaded."""

    @abc.abstractmethod
    def _run(self, body: str) -> str:
        """Run the body of an async function in the page; return the string that it returns."""

    @abc.abstractmethod
    def _act(self, source: Action) -> None:
        """Perform the actions of one input source, as WebDriver writes them."""

    @abc.abstractmethod
    def resize(self, width: int, height: int) -> None:
        """Give the page another size, in CSS pixels."""

    @abc.abstractmethod
    def prefer(self, scheme: str, motion: str) -> None:
        """Set what the system prefers, as the media queries of these names say it.

        It holds from the next page on; where the engine can, also for the page that is open.
        """

    @abc.abstractmethod
    def screenshot(self) -> bytes:
        """The page as it is seen, as PNG."""

    @abc.abstractmethod
    def close(self) -> None:
        """End everything that this engine has started."""

    # ------------------------------------------------------------------------- what a test does

    def open(
        self,
        body: str,
        *,
        hash: str = "",
        width: int = 1280,
        height: int = 900,
        scheme: str = "light",
        motion: str = "no-preference",
        ready: bool = True,
    ) -> None:
        """Open a page with `body` in it, and wait until its first player is drawn.

        Args:
            body: markup; see `player_bench.tag`.
            hash: end of the address.
            width: of the page, in CSS pixels.
            height: of the page, in CSS pixels.
            scheme: what the system prefers: "light" or "dark".
            motion: what the system prefers: "no-preference" or "reduce".
            ready: whether to wait for the first player, and for the choices in its bar.
        """
        self._collect_problems()
        self.prefer(scheme, motion)
        self.resize(width, height)
        self.pages.body = body
        # Another query each time: an address that differs in its hash alone loads nothing.
        self._navigate(f"{self.served.address}?{next(self._visits)}{hash}")
        if ready:
            self.wait_for(f"p?.hasAttribute('ready') && {ALL_CHOICES}")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, promises awaited, as far as JSON can carry it."""
        return json.loads(
            self._run(f"{PRELUDE} return JSON.stringify(await ({expression})) ?? 'null';")
        )

    def wait_for(self, condition: str) -> Any:
        """Wait until an expression is true; return its value.

        Raises:
            AssertionError: it never is.
        """
        answer = json.loads(
            self._run(f"""
            const until = Date.now() + {PATIENCE * 1000};
            for (;;) {{
              {PRELUDE}
              const value = await ({condition});
              const held = Boolean(value);
              if (held || Date.now() > until) return JSON.stringify({{ held, value }});
              await new Promise((again) => setTimeout(again, 10));
            }}""")
        )
        if not answer["held"]:
            self._collect_problems()
            noted = "\n".join(self._problems) or "no error on the page"
            raise AssertionError(f"{self.name}: this never became true: {condition}\n{noted}")
        return answer["value"]

    def point(
        self,
        name: str | None = None,
        *,
        css: str | None = None,
        inside: str | None = None,
        at: Point = (0.5, 0.5),
    ) -> Point:
        """A place on an element, scrolled into view; waits until nothing covers it.

        Args:
            name: the accessible name of the element, else
            css: its selector.
            inside: a selector: where to look for it.
            at: parts of its width and height.
        """
        x, y = self.wait_for(f"""(() => {{
            const node = find({json.dumps(name)}, {json.dumps(css)}, {json.dumps(inside)});
            if (!node) return null;
            const place = () => {{
              const box = node.getBoundingClientRect();
              return [Math.round(box.x + box.width * {at[0]}),
                Math.round(box.y + box.height * {at[1]})];
            }};
            let [x, y] = place();
            if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) {{
              node.scrollIntoView({{ block: 'center', inline: 'center', behavior: 'instant' }});
              [x, y] = place();
            }}
            return node.contains(document.elementFromPoint(x, y)) && [x, y];
        }})()""")
        return x, y

    def click(
        self,
        name: str | None = None,
        *,
        css: str | None = None,
        inside: str | None = None,
        at: Point = (0.5, 0.5),
        touch: bool = False,
    ) -> None:
        """Click, or tap, an element; see `point`."""
        self.drag([self.point(name, css=css, inside=inside, at=at)], touch=touch)

    def drag(self, points: Sequence[Point], *, touch: bool = False) -> None:
        """Press at the first point, move over the others, release at the last."""
        kind = "touch" if touch else "mouse"
        moves = [
            {"type": "pointerMove", "x": round(x), "y": round(y), "origin": "viewport"}
            for x, y in points
        ]
        self._act(
            {
                "type": "pointer",
                "id": kind,
                "parameters": {"pointerType": kind},
                "actions": [
                    moves[0],
                    {"type": "pointerDown", "button": 0},
                    *moves[1:],
                    {"type": "pointerUp", "button": 0},
                ],
            }
        )

    def swipe(self, css: str, across: float, down: float = 0) -> None:
        """Draw a finger over an element from its middle, so many CSS pixels across and down."""
        x, y = self.point(css=css)
        self.drag([(x + across * i / 8, y + down * i / 8) for i in range(9)], touch=True)

    def press(self, *keys: str) -> None:
        """Press keys one after the other: a character, a name of `KEYS`, or "Shift+Tab"."""
        for key in keys:
            names = [key] if len(key) == 1 else key.split("+")
            down = [{"type": "keyDown", "value": KEYS.get(name, name)} for name in names]
            up = [{"type": "keyUp", "value": KEYS.get(name, name)} for name in reversed(names)]
            self._act({"type": "key", "id": "keyboard", "actions": [*down, *up]})

    def focus(
        self, name: str | None = None, *, css: str | None = None, inside: str | None = None
    ) -> None:
        """Give an element the focus; see `point`."""
        where = f"find({json.dumps(name)}, {json.dumps(css)}, {json.dumps(inside)})"
        self.wait_for(f"({where}?.focus(), document.activeElement === {where})")

    def choose(self, name: str, value: str, *, inside: str | None = None) -> None:
        """Choose an option, as WebDriver clicks one: no engine shows its list to a test."""
        where = f"find({json.dumps(name)}, null, {json.dumps(inside)})"
        option = f"[...({where}?.options ?? [])].find((o) => o.value === {json.dumps(value)})"
        self.wait_for(f"{option}?.disabled === false")
        self.evaluate(f"""(() => {{
            const [select, option] = [{where}, {option}];
            select.focus();
            if (option.selected) return;
            option.selected = true;
            for (const kind of ['input', 'change']) {{
              select.dispatchEvent(new Event(kind, {{ bubbles: true }}));
            }}
        }})()""")

    def expected_problem(self, words: str) -> None:
        """Take a problem that the test provoked off the list; fail if it is not on it."""
        self._collect_problems()
        found = [problem for problem in self._problems if words in problem]
        assert found, f"{self.name}: nothing noted says {words!r}"
        self._problems = [problem for problem in self._problems if words not in problem]

    def finish(self) -> list[str]:
        """Leave the page as the next test expects it; return the problems that were noted."""
        self._collect_problems()
        problems, self._problems = self._problems, []
        self.pages.files.clear()
        self.pages.asked.clear()
        return problems

    def _collect_problems(self) -> None:
        self._problems += self.evaluate("""(() => {
            if (location.protocol !== 'http:') return [];
            localStorage.clear();
            sessionStorage.clear();
            return window.problems.splice(0);
        })()""")


class Chromium(Engine):
    """Chromium, driven by Playwright."""

    name = "Chromium"

    def __init__(self, served: Served, browser: Browser) -> None:
        super().__init__(served)
        self.page = browser.new_context(locale="zh-CN").new_page()
        self.wire = self.page.context.new_cdp_session(self.page)

    def _navigate(self, url: str) -> None:
        self.page.goto(url)

    def _run(self, body: str) -> str:
        return str(self.page.evaluate(f"async () => {{ {body} }}"))

    def _act(self, source: Action) -> None:
        if source["id"] == "touch":
            self._touch(source["actions"])
            return
        names = {value: name for name, value in KEYS.items()}
        mouse, keyboard = self.page.mouse, self.page.keyboard
        for action in source["actions"]:
            key = names.get(action.get("value", ""), action.get("value", ""))
            match action["type"]:
                case "pointerMove":
                    mouse.move(action["x"], action["y"])
                case "pointerDown":
                    mouse.down()
                case "pointerUp":
                    mouse.up()
                case "keyDown":
                    keyboard.down(key)
                case "keyUp":
                    keyboard.up(key)

    def _touch(self, actions: Sequence[Action]) -> None:
        points: list[dict[str, float]] = []
        down = False
        for action in actions:
            kind = action["type"]
            if kind == "pointerMove":
                points = [{"x": action["x"], "y": action["y"]}]
                if not down:
                    continue
            down = kind != "pointerUp"
            self.wire.send(
                "Input.dispatchTouchEvent",
                {
                    "type": {
                        "pointerDown": "touchStart",
                        "pointerMove": "touchMove",
                        "pointerUp": "touchEnd",
                    }[kind],
                    "touchPoints": points if down else [],
                },
            )

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def prefer(self, scheme: str, motion: str) -> None:
        self.page.emulate_media(
            color_scheme=scheme,  # type: ignore[arg-type]
            reduced_motion=motion,  # type: ignore[arg-type]
        )

    def screenshot(self) -> bytes:
        return self.page.screenshot()

    def close(self) -> None:
        self.page.context.close()


class Firefox(Engine):
    """Firefox, driven over WebDriver BiDi, which it speaks by itself."""

    name = "Firefox"

    PREFS = """\
user_pref("browser.startup.page", 0);
user_pref("intl.accept_languages", "zh-CN");
user_pref("network.proxy.type", 0);
"""

    def __init__(self, served: Served) -> None:
        super().__init__(served)
        path = find_browser.find_firefox()
        with contextlib.ExitStack() as things:
            profile = Path(things.enter_context(temporary_folder()))
            (profile / "user.js").write_text(self.PREFS, encoding="utf-8")
            command = [path, "--headless", "--no-remote", "--profile", str(profile)]
            # What the system prefers is a preference of the browser; pages may not change those.
            command += ["--remote-debugging-port=0", "--remote-allow-system-access"]
            things.enter_context(running(command, profile / "log"))
            spoken = profile / "WebDriverBiDiServer.json"
            port = wait_until(lambda: json.loads(spoken.read_text())["ws_port"], profile / "log")
            self.socket = things.enter_context(
                connect(f"ws://127.0.0.1:{port}/session", proxy=None, max_size=None)
            )
            self._ids = itertools.count(1)
            self._command("session.new", capabilities={})
            self.context = self._command("browsingContext.getTree")["contexts"][0]["context"]
            (chrome,) = self._command("browsingContext.getTree", **{"moz:scope": "chrome"})[
                "contexts"
            ]
            self.chrome = chrome["context"]
            self._things = things.pop_all()

    def _command(self, method: str, **parameters: Any) -> Any:
        number = next(self._ids)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv(timeout=4 * PATIENCE))
            if answer.get("id") == number:
                break
        assert answer["type"] == "success", f"{method}: {answer}"
        return answer["result"]

    def _call(self, context: str, body: str) -> Any:
        result = self._command(
            "script.callFunction",
            functionDeclaration=f"async () => {{ {body} }}",
            awaitPromise=True,
            target={"context": context},
        )
        assert result["type"] == "success", result["exceptionDetails"]["text"]
        return result["result"].get("value")

    def _navigate(self, url: str) -> None:
        self._command("browsingContext.navigate", context=self.context, url=url, wait="complete")
        # A browser that was just started has the focus in its address bar.
        self._call(self.chrome, "gBrowser.selectedBrowser.focus();")

    def _run(self, body: str) -> str:
        return str(self._call(self.context, body))

    def _act(self, source: Action) -> None:
        self._command("input.performActions", context=self.context, actions=[source])

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height}
        self._command("browsingContext.setViewport", context=self.context, viewport=size)

    def prefer(self, scheme: str, motion: str) -> None:
        self._call(
            self.chrome,
            f"""
            const scheme = 'layout.css.prefers-color-scheme.content-override';
            Services.prefs.setIntPref(scheme, {0 if scheme == "dark" else 1});
            Services.prefs.setIntPref('ui.prefersReducedMotion', {int(motion == "reduce")});
            """,
        )

    def screenshot(self) -> bytes:
        result = self._command("browsingContext.captureScreenshot", context=self.context)
        return base64.b64decode(result["data"])

    def close(self) -> None:
        with contextlib.suppress(AssertionError, OSError, WebSocketException):
            self._command("browser.close")
        self._things.close()


class WebKit(Engine):
    """WebKitGTK's MiniBrowser on a screen that is only memory, driven over WebDriver.

    What the system prefers is read once, when the browser starts; so each preference has a browser
    of its own, and only the last one is kept.
    """

    name = "WebKit"

    NARROW_TOOLBAR = """\
headerbar, headerbar *, toolbar, toolbar *, entry, button, image {
  min-width: 0; min-height: 0; padding: 0; margin: 0; font-size: 1px; -gtk-icon-source: none;
}
"""
    """The browser's own toolbar would not let its window be as narrow as a phone."""

    def __init__(self, served: Served) -> None:
        super().__init__(served)
        self.programs = find_browser.find_webkit()
        self._things = contextlib.ExitStack()
        self._browser = contextlib.ExitStack()
        self._preferred = ("", "")
        with contextlib.ExitStack() as things:
            self.folder = Path(things.enter_context(temporary_folder()))
            log = self.folder / "screen.log"
            reader, writer = os.pipe()
            command = [self.programs.screen, "-displayfd", str(writer), "-nolisten", "tcp"]
            things.enter_context(
                running([*command, "-screen", "0", "1600x1600x24"], log, pass_fds=[writer])
            )
            os.close(writer)
            with os.fdopen(reader) as said:
                self.display = said.readline().strip()
            if not self.display:
                raise NoBrowserError(f"Xvfb 启动不了：{tail(log)}")
            self.prefer("light", "no-preference")
            self._things = things.pop_all()

    def prefer(self, scheme: str, motion: str) -> None:
        if (scheme, motion) == self._preferred:
            return
        self._browser.close()
        config = self.folder / f"{scheme}-{motion}"
        toolkit = config / "gtk-3.0"
        toolkit.mkdir(parents=True, exist_ok=True)
        (toolkit / "settings.ini").write_text(
            f"[Settings]\ngtk-enable-animations={int(motion != 'reduce')}\n"
        )
        (toolkit / "gtk.css").write_text(self.NARROW_TOOLBAR)
        self._start(config, *["--dark-mode"] * (scheme == "dark"))
        self._preferred = (scheme, motion)

    def _start(self, config: Path, *arguments: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.lower().endswith("_proxy") and not name.startswith("WAYLAND")
        }
        environment |= {
            "DISPLAY": f":{self.display}",
            "GDK_BACKEND": "x11",
            "XDG_CONFIG_HOME": str(config),
            "XDG_DATA_HOME": str(config),
            "XDG_CACHE_HOME": str(config),
            "GSETTINGS_BACKEND": "memory",
            # No bus and no accessibility service: both would outlive the test.
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/dev/null",
            "NO_AT_BRIDGE": "1",
            # The pages are our own, and a sandbox inside a container does not start.
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
            "WEBKIT_DISABLE_DMABUF_RENDERER": "1",
            "LIBGL_ALWAYS_SOFTWARE": "1",
        }
        with contextlib.ExitStack() as things:
            log = self.folder / "driver.log"
            command = [self.programs.driver, "--host=127.0.0.1", f"--port={port}"]
            things.enter_context(running(command, log, env=environment))
            self.port = port
            self.session = ""
            wait_until(lambda: self._command("GET", "/status"), log)
            options = {"binary": self.programs.browser, "args": ["--automation", *arguments]}
            wanted = {"browserName": "MiniBrowser", "webkitgtk:browserOptions": options}
            result = self._command("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            self.session = f"/session/{result['sessionId']}"
            things.callback(self._quit)
            self._browser = things.pop_all()

    def _quit(self) -> None:
        with contextlib.suppress(AssertionError, OSError):
            self._command("DELETE", self.session)

    def _command(self, method: str, path: str, body: Action | None = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=4 * PATIENCE)
        with contextlib.closing(connection):
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"})
            response = connection.getresponse()
            value = json.loads(response.read())["value"]
        assert response.status == 200, f"{method} {path}: {value}"
        return value

    def _post(self, path: str, **body: Any) -> Any:
        return self._command("POST", f"{self.session}/{path}", body)

    def _navigate(self, url: str) -> None:
        self._post("url", url=url)

    def _run(self, body: str) -> str:
        script = f"""
            const done = arguments[arguments.length - 1];
            (async () => {{ {body} }})().then((value) => done({{ value }}),
                (error) => done({{ error: `${{error}}` }}));"""
        answer = self._post("execute/async", script=script, args=[])
        assert "error" not in answer, answer["error"]
        return str(answer.get("value"))

    def _act(self, source: Action) -> None:
        if source["id"] == "touch":
            self._touch(source["actions"])
        else:
            self._post("actions", actions=[source])

    def _touch(self, actions: Sequence[Action]) -> None:
        """Send the events of a finger from a script: this driver turns a finger into a mouse."""
        self._run(f"""
            let [x, y, from] = [0, 0, null];
            const send = (type, Kind, more) => {{
              const node = from ?? document.elementFromPoint(x, y);
              node.dispatchEvent(new Kind(type, {{ bubbles: true, cancelable: true, composed: true,
                clientX: x, clientY: y, pointerId: 1, pointerType: 'touch', isPrimary: true,
                view: window, ...more }}));
              return node;
            }};
            const start = [0, 0];
            for (const action of {json.dumps(actions)}) {{
              if (action.type === 'pointerMove') {{
                [x, y] = [action.x, action.y];
                if (from) send('pointermove', PointerEvent, {{ buttons: 1, button: -1 }});
              }} else if (action.type === 'pointerDown') {{
                from = send('pointerdown', PointerEvent, {{ buttons: 1 }});
                [start[0], start[1]] = [x, y];
              }} else {{
                send('pointerup', PointerEvent, {{}});
                if (Math.hypot(x - start[0], y - start[1]) < 10) {{
                  from.closest('button, a, input, select, [tabindex]')?.focus();
                  send('click', PointerEvent, {{ detail: 1 }});
                }}
              }}
            }}
            return '';""")

    def resize(self, width: int, height: int) -> None:
        inner = "JSON.stringify([outerWidth - innerWidth, outerHeight - innerHeight])"
        for _ in range(3):
            wide, high = json.loads(self._run(f"return {inner};"))
            self._post("window/rect", x=0, y=0, width=width + wide, height=height + high)
            if self.evaluate("[innerWidth, innerHeight]") == [width, height]:
                return
        size = self.evaluate("[innerWidth, innerHeight]")
        raise AssertionError(f"the page is {size} big and not {[width, height]}")

    def screenshot(self) -> bytes:
        # The driver waits for the next frame, and a page at rest has none.
        self._run("""
            const dot = document.createElement('div');
            dot.style.cssText = 'position: fixed; width: 1px; height: 1px; right: 0; bottom: 0';
            document.body.append(dot);
            let odd = false;
            const timer = setInterval(() => { dot.style.background = (odd = !odd) ? '#777' : ''; });
            window.endFlicker = () => { clearInterval(timer); dot.remove(); };
            return '';""")
        try:
            return base64.b64decode(self._command("GET", f"{self.session}/screenshot"))
        finally:
            self._run("window.endFlicker(); return '';")

    def close(self) -> None:
        self._browser.close()
        self._things.close()


# ---------------------------------------------------------------------------------- processes


@contextlib.contextmanager
def temporary_folder() -> Iterator[str]:
    """A folder that goes away even while the last of a browser's processes still writes to it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield folder


@contextlib.contextmanager
def running(
    command: Sequence[str],
    log: Path,
    *,
    env: dict[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> Iterator[None]:
    """A program that ends, with all that it started, when the block or the test run does."""
    # A test run that is killed can end nothing; then the kernel does, where it is asked to.
    guard = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*guard, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=env,
            pass_fds=pass_fds,
            start_new_session=True,
        )

    def end() -> None:
        for kind in (signal.SIGTERM, signal.SIGKILL):
            # The group outlives its first process where that one leaves others behind.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, kind)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)

    atexit.register(end)
    try:
        yield
    finally:
        atexit.unregister(end)
        end()


def wait_until(ask: Callable[[], Any], log: Path) -> Any:
    """Ask a program that has just been started until it answers.

    Raises:
        NoBrowserError: it never does.
    """
    until = time.monotonic() + 4 * PATIENCE
    while True:
        try:
            return ask()
        except (OSError, ValueError, KeyError) as error:
            if time.monotonic() > until:
                raise NoBrowserError(f"浏览器启动不了（{error}）：{tail(log)}") from error
            time.sleep(0.02)


def tail(log: Path) -> str:
    """The end of what a program has said."""
    return log.read_text(encoding="utf-8", errors="replace").strip()[-300:]
