"""Formulas become MathML when the page is built, wherever they stand, and code stays code."""

from __future__ import annotations

import re

import pytest
from markdown import Markdown

from mathml import MathError

EXTENSIONS = [
    "admonition",
    "attr_list",
    "tables",
    "toc",
    "pymdownx.details",
    "pymdownx.superfences",
    "mathml",
]


def convert(text: str) -> str:
    return Markdown(extensions=EXTENSIONS).convert(text)


def formulas(html: str) -> list[str]:
    """The text of each formula, its markup taken away."""
    found = re.findall(r"<math\b.*?</math>", html, re.DOTALL)
    return [re.sub(r"<[^>]*>", "", formula) for formula in found]


def test_an_inline_formula_becomes_mathml_in_its_sentence():
    html = convert("一共 $2(N-1)$ 轮。")
    assert re.fullmatch(r"<p>一共 <math>.*</math> 轮。</p>", html)
    assert formulas(html) == ["2(N−1)"]


def test_a_display_formula_is_a_block_that_can_scroll_and_be_reached_by_keyboard():
    html = convert("前文\n\n$$\nT = \\frac{N-1}{N} M\\beta\n$$\n\n后文")
    assert '<div class="math-display" tabindex="0"><math display="block">' in html
    assert "<mfrac>" in html
    assert "$" not in html


@pytest.mark.parametrize(
    "markdown",
    [
        "## 标题 $x+y$",
        "- 列表 $x+y$",
        "- 列表\n\n    $$x+y$$",
        "> 引用 $x+y$",
        '!!! note "标题 $x+y$"\n    正文',
        '??? note "标题"\n    正文 $x+y$',
        "| 甲 | 乙 |\n|---|---|\n| $x+y$ | 1 |",
        "**粗体 $x+y$**",
        "[链接 $x+y$](#x)",
    ],
)
def test_a_formula_works_wherever_text_may_stand(markdown):
    assert formulas(convert(markdown)) == ["x+y"]


def test_a_bar_inside_a_formula_does_not_cut_a_table_cell():
    html = convert("| 甲 | 乙 |\n|---|---|\n| $|x|$ 与 $\\frac{a}{b}$ | `a|b` 与 $|y|$ |")
    assert html.count("<td>") == 2
    assert formulas(html) == ["|x|", "ab", "|y|"]
    assert "<code>a|b</code>" in html


def test_markdown_inside_a_formula_is_left_to_latex():
    html = convert("$a_1 * b_2 * c_3 \\\\ d$ 与 $x^{*}_{*}$")
    assert "<em>" not in html
    assert html.count("<math>") == 2


@pytest.mark.parametrize(
    "markdown",
    [
        "`$x$`",
        "``a ` $x$``",
        "```\n$x$\n```",
        "```sh\necho $HOME $PATH\n```",
        "段落\n\n    缩进的代码 $x$",
        "- 列表\n\n        代码 $x$",
        '??? note "标题"\n\n    ```\n    $x$\n    ```',
        "| 甲 | 乙 |\n|---|---|\n| `$x$` | 1 |",
    ],
)
def test_code_is_never_touched(markdown):
    html = convert(markdown)
    assert "<math" not in html
    assert "$" in html


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        (r"价格是 \$5。", "价格是 $5。"),
        ("从 5 $ 到 6 $ 都行。", "从 5 $ 到 6 $ 都行。"),
        ("$5 和 $6", "$5 和 $6"),
        ("只有一个 $ 号", "只有一个 $ 号"),
    ],
)
def test_a_dollar_sign_in_a_sentence_stays_one(markdown, text):
    assert convert(markdown) == f"<p>{text}</p>"


@pytest.mark.parametrize("markdown", [r"$\frac{a$", r"$$\nosuchcommand$$", r"| $\frac{$ |"])
def test_broken_latex_stops_the_build_and_shows_the_formula(markdown):
    if markdown.startswith("|"):
        markdown = f"| 甲 |\n|---|\n{markdown}"
    with pytest.raises(MathError, match=r"公式无法转换：\\(frac\{|nosuchcommand)"):
        convert(markdown)
