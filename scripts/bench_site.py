"""What a page costs a reader on a phone: Lighthouse's scores, beside a stock page of Material.

Both are built and served in the same run, compressed as GitHub Pages does it. Nothing is asserted:
``bench.py`` records the result. Lighthouse is large and nothing else needs it, so it has a lock of
its own in ``scripts/lighthouse/`` and is installed when it is first asked for.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import bench_player
import find_browser
import node_tools
from site_macros import DEMOS

ROOT = Path(__file__).resolve().parent.parent
LIGHTHOUSE = ROOT / "scripts" / "lighthouse"

PAGES = (
    "",
    "start/primitives/",
    "primitives/allreduce/",
    "algorithms/ring/",
    "cost/model/",
    "training/data/",
    "run/training/",
    "failures/silent/",
    "faq/",
    "compare/",
    "playground/",
    "reference/player/",
)
"""One page of each kind, and the longest ones."""

STOCK = "primitives/allreduce/"
"""The page whose text the stock page has."""

CATEGORIES = ("performance", "accessibility", "best-practices", "seo")

STOCK_SETTINGS = """\
site_name: 集合通信图解
site_url: {url}
theme:
  name: material
  language: zh
  # Its default asks another host for fonts, which a machine without a network waits for.
  font: false
markdown_extensions: [admonition, attr_list, tables, pymdownx.details, pymdownx.superfences]
"""

COMPRESSED = (".html", ".css", ".js", ".json", ".svg", ".xml", ".txt")


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder, its text files compressed."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a request of the browser."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return
        body = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        if path.suffix in COMPRESSED:
            body = gzip.compress(body, 9)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the terminal for the results."""


class Server(ThreadingHTTPServer):
    """Says nothing of a browser that went away before it had its answer."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report what is not the browser's doing."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    handler = partial(Handler, directory=str(folder))
    with Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def _build(config: Path, target: Path, url: str) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", str(config)]
    environment = {**os.environ, "SITE_URL": url, "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run([*command, "--site-dir", str(target)], env=environment, check=True)


def stock_page(source: str, length: int) -> str:
    """Return a page of plain Markdown whose text is as long as that of one of ours.

    Args:
        source: the Markdown of our page; its demos stand in it as code, other macros as nothing.
        length: characters of the text of our page, as built.
    """

    def shown(call: re.Match[str]) -> str:
        name = re.fullmatch(r'demo\("(.+?)"\)', call[1].strip())
        code = (ROOT / "docs" / DEMOS / name[1]).read_text(encoding="utf-8") if name else ""
        return f"```python\n{code}```" if name else ""

    body = source.split("---\n", 2)[2]
    text = re.sub(r"(?m)^\{\{(.+?)\}\}$", shown, body)
    text = re.sub(r"\{\{.+?\}\}", "", text)
    text = re.sub(r"\]\([\w/-]+\.md\)", "](#)", text)
    paragraphs = [part for part in text.split("\n\n") if re.match(r"[\u4e00-\u9fff]", part)]
    at = 0
    while len(text) < length:
        text += f"\n\n{paragraphs[at % len(paragraphs)]}"
        at += 1
    return text


def _lighthouse() -> list[str]:
    """The command, installed if need be."""
    folder = LIGHTHOUSE / "node_modules" / "lighthouse"
    wanted = json.loads((LIGHTHOUSE / "package.json").read_text(encoding="utf-8"))
    version = wanted["devDependencies"]["lighthouse"]
    try:
        found = json.loads((folder / "package.json").read_text(encoding="utf-8"))["version"]
    except FileNotFoundError:
        found = None
    if found != version:
        npm = Path(sys.executable).parent / "npm"
        command = [str(npm), "ci", "--ignore-scripts", "--silent"]
        subprocess.run(command, cwd=LIGHTHOUSE, check=True)
    return [str(node_tools.node()), str(folder / "cli" / "index.js")]


def audit(command: list[str], address: str) -> dict[str, Any]:
    """Run Lighthouse once, as for a phone.

    Returns:
        ``scores`` in percent, ``tbt`` and ``lcp`` in ms, ``cls``, ``bytes`` over the wire and
        ``faults``: what keeps a score below 100, by its name in Lighthouse.
    """
    flags = " ".join(["--headless=new", *find_browser.arguments()])
    result = subprocess.run(
        [
            *(*command, address, "--quiet", "--output=json", "--output-path=stdout"),
            *(f"--chrome-flags={flags}", f"--only-categories={','.join(CATEGORIES)}"),
        ],
        env={**os.environ, "CHROME_PATH": find_browser.find()},
        stdout=subprocess.PIPE,
        check=True,
    )
    report = json.loads(result.stdout)
    audits = report["audits"]
    return {
        "scores": {name: round(100 * report["categories"][name]["score"]) for name in CATEGORIES},
        "tbt": audits["total-blocking-time"]["numericValue"],
        "lcp": audits["largest-contentful-paint"]["numericValue"],
        "cls": audits["cumulative-layout-shift"]["numericValue"],
        "bytes": audits["total-byte-weight"]["numericValue"],
        "faults": sorted(
            reference["id"]
            for name in CATEGORIES[1:]
            for reference in report["categories"][name]["auditRefs"]
            if reference["weight"] and (audits[reference["id"]]["score"] or 0) < 1
            if audits[reference["id"]]["scoreDisplayMode"] not in ("notApplicable", "manual")
        ),
    }


def _median(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The middle of several runs, number by number; the faults of all of them."""
    return {
        "scores": {
            name: round(statistics.median(run["scores"][name] for run in runs))
            for name in CATEGORIES
        },
        **{key: statistics.median(r[key] for r in runs) for key in ("tbt", "lcp", "cls", "bytes")},
        "faults": sorted({fault for run in runs for fault in run["faults"]}),
    }


def measure(runs: int, pages: tuple[str, ...] = PAGES) -> dict[str, Any]:
    """Audit a page of each kind and a stock page of the same length.

    Args:
        runs: how often each page is looked at; the middle counts.
        pages: addresses inside the site.

    Returns:
        ``date``, ``machine``, ``lighthouse``, ``material``, ``runs``; ``pages`` and ``stock`` as
        `audit` says, the first by address.
    """
    from importlib.metadata import version

    from tqdm import tqdm

    command = _lighthouse()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        ours, project, stock = (Path(name) / part for part in ("ours", "project", "stock"))
        with _served(ours) as url, _served(stock) as stock_url:
            _build(ROOT / "mkdocs.yml", ours, url)
            html = (ours / STOCK / "index.html").read_text(encoding="utf-8")
            article = html.split("<article")[1].split("</article>")[0]
            length = len(re.sub(r"<[^>]+>", "", article))
            source = (ROOT / "docs" / f"{STOCK.rstrip('/')}.md").read_text(encoding="utf-8")
            (project / "docs").mkdir(parents=True)
            page = project / "docs" / "index.md"
            page.write_text(stock_page(source, length), encoding="utf-8")
            config = project / "mkdocs.yml"
            config.write_text(STOCK_SETTINGS.format(url=stock_url), encoding="utf-8")
            _build(config, stock, stock_url)
            addresses = [stock_url, *(url + path for path in pages)]
            found = {
                address: _median([audit(command, address) for _ in range(runs)])
                for address in tqdm(addresses, desc="Lighthouse", disable=None)
            }
    lighthouse = json.loads((LIGHTHOUSE / "package.json").read_text(encoding="utf-8"))
    return {
        "date": date.today().isoformat(),
        "machine": bench_player.machine(),
        "lighthouse": lighthouse["devDependencies"]["lighthouse"],
        "material": version("mkdocs-material"),
        "runs": runs,
        "stock": found[stock_url],
        "pages": {path: found[url + path] for path in pages},
    }
