"""Photograph the cards that feeds show: docs/assets/images/cards/*.png.

Run it when a picture, the first sentence of a description or the colours have changed, and look at
what it wrote:

    python scripts/take_cards.py
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import cards
import find_browser

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / cards.FOLDER

COLOURS = 256

PIXELS = """
async (source) => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const counts = new Map();
  const near = (i) => (data[i] >> 4 << 8) | (data[i + 1] >> 4 << 4) | (data[i + 2] >> 4);
  for (let i = 0; i < data.length; i += 4) {
    const colour = data[i] << 16 | data[i + 1] << 8 | data[i + 2];
    const bin = counts.get(near(i)) ?? new Map();
    counts.set(near(i), bin.set(colour, (bin.get(colour) ?? 0) + 1));
  }
  const bins = [...counts.keys()];
  const index = new Map(bins.map((bin, i) => [bin, i]));
  const most = (bin) => [...counts.get(bin)].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
  const pixels = Array.from({ length: data.length / 4 }, (_, i) => index.get(near(4 * i)));
  return { palette: bins.map(most), pixels };
}
"""
"""Near colours become the one of them that there is most of: text and flat areas keep theirs."""


def indexed_png(page: Page, screenshot: bytes) -> bytes:
    """Return the same picture with a palette, which is a third of the size."""
    source = "data:image/png;base64," + base64.b64encode(screenshot).decode()
    found = page.evaluate(PIXELS, source)
    palette: list[int] = found["palette"]
    if len(palette) > COLOURS:
        raise ValueError(f"{len(palette)} colours do not fit a palette of {COLOURS}")
    pixels = bytes(found["pixels"])
    rows = (pixels[at : at + cards.WIDTH] for at in range(0, len(pixels), cards.WIDTH))
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", cards.WIDTH, cards.HEIGHT, 8, 3, 0, 0, 0),
        b"PLTE": b"".join(colour.to_bytes(3, "big") for colour in palette),
        b"IDAT": zlib.compress(b"".join(b"\0" + row for row in rows), 9),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks.items()
    )


def main() -> None:
    """Write every card that is out of date, and what it was made from."""
    TARGET.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser.find(), args=find_browser.arguments()
        )
        page = browser.new_page(viewport={"width": cards.WIDTH, "height": cards.HEIGHT})
        for name in cards.stale(ROOT):
            page.set_content(cards.markup(name, ROOT))
            path = TARGET / f"{name}.png"
            path.write_bytes(indexed_png(page, page.screenshot()))
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")
        browser.close()
    made_from = {name: cards.digest(name, ROOT) for name in cards.NAMES}
    text = json.dumps(made_from, indent=1) + "\n"
    (TARGET / cards.MANIFEST).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
