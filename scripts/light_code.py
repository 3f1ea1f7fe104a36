"""A Python-Markdown extension: code without the elements that colour nothing worth a colour.

Pygments wraps every name, sign and blank of a program into an element of its own: half of all the
elements of a page with long programs. Names have the colour of plain text anyway; here signs get
it too.
"""

from __future__ import annotations

import re
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor

PLAIN = re.compile(r'<span class="(?:n|o|p|w)">([^<]*)</span>')


class PlainTokens(Postprocessor):
    """Unwraps names, operators, punctuation and whitespace."""

    def run(self, text: str) -> str:
        """Return the page with fewer elements and the same text."""
        return PLAIN.sub(r"\1", text)


class LightCodeExtension(Extension):
    """Registers the postprocessor."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Look at the page when raw HTML (30), and with it the code, has been put back."""
        md.postprocessors.register(PlainTokens(md), "light-code", 5)


def makeExtension(**kwargs: Any) -> LightCodeExtension:
    """Return the extension; Python-Markdown looks for this name."""
    return LightCodeExtension(**kwargs)
