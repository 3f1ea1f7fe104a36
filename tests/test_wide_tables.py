"""A table that is wider than the page scrolls in a box that the keyboard reaches."""

from __future__ import annotations

from markdown import Markdown

TABLE = "| 甲 | 乙 |\n|---|---|\n| 1 | 2 |\n"


def convert(text: str) -> str:
    extensions = ["admonition", "attr_list", "md_in_html", "tables", "wide_tables"]
    return Markdown(extensions=extensions).convert(text)


def test_a_table_stands_in_a_box_with_a_name_and_a_tab_stop():
    html = convert(f"前文\n\n{TABLE}\n后文")
    box = '<div aria-label="表格" class="table-box" role="group" tabindex="0">'
    assert html.replace("\n", "").startswith(f'<p>前文</p>{box}<table class="table">')
    assert html.endswith("</table></div>\n<p>后文</p>")


def test_a_table_inside_a_block_has_its_box_too():
    indented = "".join(f"    {line}\n" for line in TABLE.splitlines())
    html = convert(f'!!! note "标题"\n\n{indented}\n    后文\n')
    assert html.count('class="table-box"') == 1
    assert html.index("table-box") < html.index("后文")


def test_every_table_of_a_page_has_one_box():
    assert convert(f"{TABLE}\n\n{TABLE}").count("table-box") == 2


def test_a_table_that_a_page_styles_itself_is_left_alone():
    html = convert('<table class="own"><tr><td>1</td></tr></table>')
    assert "table-box" not in html
