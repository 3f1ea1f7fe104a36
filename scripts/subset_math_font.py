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

ITALIC_SMALL_H = 0x210E
"""Unicode keeps the italic h apart from its alphabet, as the Planck constant."""

RANGES = (
    (0x20, 0x7E),  # ASCII
    (0xA0, 0xA0),  # no-break space
    (0xB1, 0xB1),  # ±
    (0xB7, 0xB7),  # ·
    (0xD7, 0xD7),  # ×
    (0xF7, 0xF7),  # ÷
    (0x391, 0x3C9),  # Greek
    (0x2016, 0x2016),  # ‖
    (0x2026, 0x2026),  # …
    (0x2032, 0x2034),  # primes
    (0x2061, 0x2063),  # invisible operators
    (0x2190, 0x2194),  # arrows
    (0x21D0, 0x21D4),  # double arrows
    (0x2200, 0x2209),  # quantifiers, membership
    (0x220F, 0x2213),  # ∏ ∐ ∑ − ∓
    (0x2216, 0x221E),  # \ ∗ ∘ ∙ √ ∝ ∞
    (0x2223, 0x222B),  # | ∥ ∧ ∨ ∩ ∪ ∫
    (0x2248, 0x2248),  # ≈
    (0x2254, 0x2254),  # ≔
    (0x2260, 0x2265),  # ≠ ≡ ≤ ≥
    (0x226A, 0x226B),  # ≪ ≫
    (0x2282, 0x2287),  # subsets
    (0x2295, 0x2297),  # ⊕ ⊗
    (0x22C5, 0x22C5),  # ⋅
    (0x22EE, 0x22F1),  # ⋮ ⋯ ⋱
    (0x2308, 0x230B),  # ⌈ ⌉ ⌊ ⌋
    (0x27E8, 0x27E9),  # ⟨ ⟩
    (0x1D434, 0x1D467),  # italic letters
    (0x1D6A4, 0x1D6A5),  # dotless ı ȷ
    (0x1D6FC, 0x1D71B),  # italic Greek
)


def codepoints() -> list[int]:
    """Return the characters to keep."""
    return [ITALIC_SMALL_H, *(point for low, high in RANGES for point in range(low, high + 1))]


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
    subsetter.populate(unicodes=codepoints())
    subsetter.subset(font)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    subset.save_font(font, str(TARGET), options)
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
