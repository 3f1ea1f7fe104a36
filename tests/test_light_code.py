"""Code on a page keeps its text and the colours that tell something, with fewer elements."""

from __future__ import annotations

import html
import re

import markdown

PROGRAM = """\
def total(values):  # 求和
    return sum(v * 2 for v in values if v != "<w>") + 1.5
"""


def shown(*extensions: str) -> str:
    text = f"```python\n{PROGRAM}```\n"
    return markdown.markdown(
        text, extensions=["pymdownx.superfences", "pymdownx.highlight", *extensions]
    )


def test_the_text_of_a_program_stays_as_it_is():
    code = re.search(r"<code>(.*)</code>", shown("light_code"), re.DOTALL)
    assert code
    assert html.unescape(re.sub(r"<[^>]+>", "", code[1])) == PROGRAM


def test_keywords_strings_numbers_and_comments_keep_their_colours():
    page = shown("light_code")
    kinds = set(re.findall(r'<span class="(\w+)">', page))
    assert {"k", "s2", "mf", "c1"} <= kinds
    assert not kinds & {"n", "o", "p", "w"}


def test_a_program_has_less_than_half_the_elements():
    assert 2 * shown("light_code").count("<span class") < shown().count("<span class")
