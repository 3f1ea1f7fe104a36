"""Cut a mathematics font down to what the formulas of this site may use.

    python scripts/subset_math_font.py NotoSansMath-Regular.ttf

writes docs/assets/fonts/math.woff2. The source is Noto Sans Math (SIL Open Font License 1.1), for
example from the npm package @fontsource/noto-sans-math. Needs `pip install "fonttools[woff]"`.

Browsers draw MathML with the tables of the font: without a mathematics font at hand, brackets,
roots and sums do not grow with what they enclose.
"""

from __future__ import annotations

import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "docs" / "assets" / "fonts" / "math.woff2"

UPRIGHT = "()[]+-,./=<_0123456789 \u00a0×−∗⋅≈≤⟹∑⌈⌉\u2061"
"""Digits, brackets and operators; the last is the invisible one behind a function."""

LETTERS = "ABCEFGLMNPRSTabcdefghijklmnoprstuwxy"
"""The letters of names: those that formulas use, for each is drawn upright, italic and small.
A test says which one is missing."""

GREEK = "αβγ"

ITALIC = {"A": 0x1D434, "a": 0x1D44E, "α": 0x1D6FC}
"""Where the italic letters begin that a browser takes for a single letter."""

ITALIC_SMALL_H = 0x210E
"""Unicode keeps the italic h apart from its alphabet, as the Planck constant."""


def italic(letter: str) -> int:
    """Return the character that a browser draws for a letter that stands alone."""
    first = next(first for first in ("α", "a", "A") if letter >= first)
    return ITALIC_SMALL_H if letter == "h" else ITALIC[first] + ord(letter) - ord(first)


def codepoints() -> set[int]:
    """Return the characters to keep."""
    upright = {ord(character) for character in UPRIGHT + LETTERS + GREEK}
    return upright | {italic(letter) for letter in LETTERS + GREEK}


def main() -> int:
    """Write the subset and say how large it is."""
    if len(sys.argv) != 2:
        print("用法：python scripts/subset_math_font.py 字体文件", file=sys.stderr)
        return 2
    from fontTools import subset

    options = subset.Options()
    options.flavor = "woff2"
    options.hinting = False
    # Layout features choose other shapes of letters, which MathML never asks for; ssty (the shapes
    # in scripts) and dtls (dotless under accents) are the two it does.
    options.layout_features = ["ssty", "dtls", "kern"]
    options.name_IDs = [0, 1, 2, 5, 13, 14]
    font = subset.load_font(sys.argv[1], options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=sorted(codepoints()))
    subsetter.subset(font)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    subset.save_font(font, str(TARGET), options)
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
