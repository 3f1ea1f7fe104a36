"""A Python-Markdown extension: a table wider than its page scrolls in a box of its own.

Material wraps tables by script, in a box that the keyboard cannot reach. Here the box is made when
the page is built, can be focused, and has a name; the class on the table keeps Material away.
"""

from __future__ import annotations

import xml.etree.ElementTree as etree
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

BOX = {"class": "table-box", "tabindex": "0", "role": "group", "aria-label": "表格"}


class TableBoxes(Treeprocessor):
    """Puts every table that has no class of its own into a box."""

    def run(self, root: etree.Element) -> None:
        """Change the tree in place."""
        for parent in list(root.iter()):
            for position, child in enumerate(list(parent)):
                if child.tag == "table" and "class" not in child.attrib:
                    child.set("class", "table")
                    box = etree.Element("div", BOX)
                    box.tail, child.tail = child.tail, None
                    box.append(child)
                    parent[position] = box


class WideTablesExtension(Extension):
    """Registers the tree processor."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Add the boxes after inline text and attribute lists (8) have been worked out."""
        md.treeprocessors.register(TableBoxes(md), "table-boxes", 5)


def makeExtension(**kwargs: Any) -> WideTablesExtension:
    """Return the extension; Python-Markdown looks for this name."""
    return WideTablesExtension(**kwargs)
