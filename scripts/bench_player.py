"""What the player costs a reader: milliseconds a frame, dropped frames, memory.

Headless Chromium, software raster, the processor throttled four times, as the best published
animations of collectives were measured. Nothing is asserted: ``bench.py`` records the result.
"""

from __future__ import annotations

import os
import platform
import threading
from datetime import date
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import find_browser

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

THROTTLE = 4
SECONDS = 4.0
FRAME = 1000 / 60

CASES = {
    "环形 AllReduce，N = 4": "op=allreduce&algo=ring&n=4",
    "环形 AllReduce，N = 8": "op=allreduce&algo=ring&n=8",
    "环形 AllReduce，N = 16": "op=allreduce&algo=ring&n=16",
    "环形 AllReduce，N = 32，矩阵": "op=allreduce&algo=ring&n=32",
    "环形 AllReduce，N = 64，矩阵": "op=allreduce&algo=ring&n=64",
    "直接 All-to-All，N = 16，240 个块同时在路上": "op=alltoall&algo=direct&n=16",
    "环形 AllReduce，N = 16，时空": "op=allreduce&algo=ring&n=16&view=spacetime",
}

PAGE = """<!doctype html><html lang="zh"><meta charset="utf-8"><title>bench</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/player/collective-player.css">
<script type="module" src="/assets/player/collective-player.js"></script>
<body style="margin:20px"><collective-player src="/assets/schedules/allreduce/ring/n4.json"
 controls="primitive algorithm ranks parameters root op view more"></collective-player>"""

PLAY = """async (seconds) => {
  const player = document.querySelector('collective-player');
  const times = [];
  let run = true;
  const tick = (now) => { times.push(now); if (run) requestAnimationFrame(tick); };
  player.play();
  requestAnimationFrame(tick);
  await new Promise((done) => setTimeout(done, seconds * 1000));
  run = false;
  player.pause();
  return times.slice(1).map((time, i) => time - times[i]);
}"""

SWITCH = """async ([from, to]) => {
  const player = document.querySelector('collective-player');
  const choices = ['op=allreduce&algo=ring&n=8', 'op=alltoall&algo=bruck&n=8',
    'op=broadcast&algo=binomial&n=16', 'op=reducescatter&algo=ring&n=4',
    'op=allreduce&algo=double_binary_tree&n=12'];
  for (let i = from; i < to; i += 1) {
    location.hash = `${choices[i % choices.length]}&root=0&round=${1 + (i % 2)}`;
    await new Promise((done) => player.addEventListener('roundchange', done, { once: true }));
  }
}"""


class Handler(SimpleHTTPRequestHandler):
    """Serves docs/ and the page with the player."""

    def do_GET(self) -> None:
        """Answer a request of the browser."""
        if self.path != "/":
            super().do_GET()
            return
        body = PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the terminal for the results."""


def measure() -> dict[str, Any]:
    """Measure all cases in one browser.

    Returns:
        ``date``, ``machine``, ``browser``, ``throttle``; ``frames``: per case the main thread's
        milliseconds a frame, the 95th percentile and the longest interval between frames in ms, and
        the most dropped frames in a row; ``heap``: MB after 0, 100, 200, 300 and 400 switches of
        the schedule.
    """
    from playwright.sync_api import sync_playwright

    handler = partial(Handler, directory=str(DOCS))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        browser = playwright.chromium.launch(
            executable_path=find_browser.find(),
            args=[*find_browser.arguments(), "--js-flags=--expose-gc"],
        )
        frames = {}
        for name, address in CASES.items():
            page = browser.new_page(viewport={"width": 1280, "height": 1000})
            page.goto(f"{url}#{address}&root=0&round=0")
            page.locator("collective-player[ready]").wait_for()
            frames[name] = _frames(page)
            page.close()
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(url)
        page.locator("collective-player[ready]").wait_for()
        heap = []
        for start in (0, 100, 200, 300):
            heap.append(_heap(page))
            page.evaluate(SWITCH, [start, start + 100])
        heap.append(_heap(page))
        version = f"Chromium {browser.version}"
        browser.close()
        server.shutdown()
    return {
        "date": date.today().isoformat(),
        "machine": machine(),
        "browser": version,
        "throttle": THROTTLE,
        "frames": frames,
        "heap": heap,
    }


def machine() -> str:
    """The machine in a few words, without its name."""
    return f"{platform.system()} {platform.machine()}，{os.cpu_count()} 核"


def _frames(page: Any) -> dict[str, float]:
    session = page.context.new_cdp_session(page)
    # Thread time does not count what other processes take.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.wait_for_timeout(300)
    session.send("Emulation.setCPUThrottlingRate", {"rate": THROTTLE})

    def busy() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration"))

    before = busy()
    intervals: list[float] = page.evaluate(PLAY, SECONDS)
    spent = busy() - before
    session.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    missed = [round(interval / FRAME) - 1 for interval in intervals]
    ordered = sorted(intervals)
    return {
        "main_thread": spent / len(intervals),
        "p95": ordered[int(0.95 * len(ordered))],
        "longest": ordered[-1],
        "dropped_in_a_row": max(missed),
    }


def _heap(page: Any) -> float:
    page.evaluate("() => { for (let i = 0; i < 5; i += 1) gc(); }")
    # What a page itself is told is rounded to steps of megabytes.
    session = page.context.new_cdp_session(page)
    return float(session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6
