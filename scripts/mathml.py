r"""A Python-Markdown extension: LaTeX between dollar signs becomes MathML when the page is built.

`$…$` is set inline, `$$…$$` as a display. A browser draws MathML by itself, so a page with formulas
needs no script and no request. Code is left alone; `\$` is a plain dollar sign. As in Pandoc, an
inline formula has no space just inside its dollar signs and no digit right after the closing one,
so that "5 $ 和 6 $" stays text.

A formula that cannot be converted raises MathError, which fails the build.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as etree
from typing import Any

from markdown import Markdown
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from math_core import LatexError, LatexToMathML

DISPLAY = r"\$\$(?P<display>.+?)\$\$"
INLINE = r"(?<![\\$])\$(?!\s)(?P<inline>(?:\\.|[^$\\])+?)(?<!\s)\$(?![\d$])"
FORMULA = re.compile(f"{DISPLAY}|{INLINE}", re.DOTALL)
CODE_SPAN = r"(?P<ticks>(?<!`)`+(?!`)).+?(?<!`)(?P=ticks)(?!`)"
CODE_OR_FORMULA = re.compile(f"{CODE_SPAN}|{DISPLAY}|{INLINE}", re.DOTALL)
WHOLE_DISPLAY = re.compile(rf"^\s*{DISPLAY}\s*$", re.DOTALL)


class MathError(ValueError):
    """A formula that is not valid LaTeX; the message holds it and says what is wrong."""


class Converter:
    """LaTeX to MathML, kept in Markdown's stash of finished HTML: nothing touches it again."""

    def __init__(self, md: Markdown) -> None:
        self.md = md
        self.latex = LatexToMathML(fancy_error=False)

    def mathml(self, latex: str, *, display: bool) -> str:
        """Return the MathML of a formula.

        Raises:
            MathError: the formula is not valid LaTeX.
        """
        formula = latex.strip()
        try:
            return self.latex.convert_with_local_state(formula, displaystyle=display)
        except LatexError as error:
            raise MathError(f"公式无法转换：{formula}（{str(error).strip()}）") from error

    def stash(self, match: re.Match[str]) -> str:
        """Convert the formula a match holds and return the placeholder that stands for it."""
        groups = match.groupdict()
        display = groups["display"] is not None
        latex = groups["display"] if display else groups["inline"]
        return self.md.htmlStash.store(self.mathml(latex, display=display))


class DisplayProcessor(BlockProcessor):
    """A paragraph that is one `$$…$$` becomes a block of its own, which may scroll sideways."""

    def __init__(self, converter: Converter) -> None:
        super().__init__(converter.md.parser)
        self.converter = converter

    def test(self, parent: etree.Element, block: str) -> bool:
        """Tell whether the block is a display formula and nothing else."""
        return WHOLE_DISPLAY.match(block) is not None

    def run(self, parent: etree.Element, blocks: list[str]) -> None:
        """Append the formula to the parent."""
        match = WHOLE_DISPLAY.match(blocks.pop(0))
        assert match is not None
        formula = etree.SubElement(parent, "div", {"class": "math-display", "tabindex": "0"})
        latex = match.group("display")
        formula.text = self.converter.md.htmlStash.store(self.converter.mathml(latex, display=True))


class TableMathProcessor(BlockProcessor):
    """Convert the formulas of a table before it is cut into cells: they may contain `|`."""

    def __init__(self, converter: Converter) -> None:
        super().__init__(converter.md.parser)
        self.converter = converter

    def test(self, parent: etree.Element, block: str) -> bool:
        """Tell whether the block may be a table with formulas in it."""
        return "|" in block and "$" in block

    def run(self, parent: etree.Element, blocks: list[str]) -> bool:
        """Replace the formulas of the block and let the next processor go on with it."""
        blocks[0] = CODE_OR_FORMULA.sub(
            lambda match: match[0] if match["ticks"] else self.converter.stash(match), blocks[0]
        )
        return False


class InlineMathProcessor(InlineProcessor):
    """Formulas in running text, in headings and in the titles of collapsible blocks."""

    def __init__(self, converter: Converter) -> None:
        super().__init__(FORMULA.pattern, converter.md)
        self.converter = converter

    def handleMatch(  # type: ignore[override]
        self, match: re.Match[str], data: str
    ) -> tuple[str, int, int]:
        """Return the placeholder of the formula and the span it replaces."""
        return self.converter.stash(match), match.start(0), match.end(0)


class MathMLExtension(Extension):
    """Registers the processors; between which of Markdown's own each one runs matters."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Add formulas to a Markdown parser."""
        converter = Converter(md)
        md.ESCAPED_CHARS.append("$")
        # After indented code (80), before tables (75).
        md.parser.blockprocessors.register(DisplayProcessor(converter), "math-display", 78)
        md.parser.blockprocessors.register(TableMathProcessor(converter), "math-table", 77)
        # After code spans (190), before backslash escapes (180).
        md.inlinePatterns.register(InlineMathProcessor(converter), "math", 185)


def makeExtension(**kwargs: Any) -> MathMLExtension:
    """Return the extension; Python-Markdown looks for this name."""
    return MathMLExtension(**kwargs)
