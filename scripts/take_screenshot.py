"""Take the picture of the player that README shows: docs/assets/images/player.png.

Builds the site into a temporary folder, serves it, and photographs the first page's player in the
middle of a ring AllReduce, through the player's public interface only. Run it when the look of the
player has changed:

    python scripts/take_screenshot.py
"""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import sync_playwright

import find_browser

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "assets" / "images" / "player.png"

STATE = "#op=allreduce&algo=ring&n=4&round=2"
"""What the picture shows."""


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves a folder without a word."""

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


def build(folder: str) -> None:
    """Build the site into a folder."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    subprocess.run(command, cwd=ROOT, check=True)


def photograph(address: str) -> None:
    """Write the picture of the first player at an address."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser.find(), args=find_browser.arguments()
        )
        page = browser.new_page(
            viewport={"width": 1280, "height": 1000},
            device_scale_factor=1.5,
            color_scheme="light",
            reduced_motion="reduce",
            locale="zh-CN",
        )
        page.goto(address + STATE)
        player = page.locator("collective-player[ready]").first
        player.wait_for()
        player.screenshot(path=TARGET)
        browser.close()


def main() -> None:
    """Build, serve, photograph."""
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        handler = functools.partial(QuietHandler, directory=folder)
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            photograph(f"http://127.0.0.1:{server.server_port}/")
            server.shutdown()
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
