"""Builds the site as `make site` does, and serves it as GitHub Pages does."""

from __future__ import annotations

import os
import subprocess
import sys
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

from html_page import HTMLPage

ROOT = Path(__file__).resolve().parents[1]

MOUNT = "/collectives-illustrated/"
"""The site is served below a path, as a project site on GitHub Pages is."""


def build_site(
    target: Path, *, config: Path | None = None, strict: bool = True, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Build the site into `target` in a process of its own: as `make site` does, else as a preview.

    Args:
        target: the folder for the site.
        config: another mkdocs.yml than that of the repository.
        strict: whether a warning fails the build.
        environment: variables on top of those of this process.
    """
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(target)]
    command += ["--strict"] if strict else []
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
