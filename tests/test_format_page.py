"""The page of the schedule format tells the truth: its example, its words and its lists."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest

from broken_schedules import CORPUS
from built_site import ROOT, Site
from collectives.algorithms import REGISTRY
from collectives.primitives import PRIMITIVES
from collectives.prove import ProofError, prove, replay
from collectives.schedule import Transfer, relabel_root
from collectives.serialize import schedule_from_data, schedule_to_data
from generate_schedules import catalogue

PAGE = "reference/schedule-format/"
SCHEMA = json.loads((ROOT / "docs" / "assets" / "schedule.schema.json").read_text("utf-8"))


def source() -> str:
    return (ROOT / "docs" / PAGE.rstrip("/")).with_suffix(".md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    """The Markdown below a heading of the page, up to the next heading of its level or above."""
    level = len(heading) - len(heading.lstrip("#"))
    pattern = rf"^{re.escape(heading)}(?: \{{[^\n]*)?\n(.*?)(?=^#{{2,{level}}} |\Z)"
    return re.search(pattern, source(), re.MULTILINE | re.DOTALL)[1]  # type: ignore[index]


def first_column(markdown: str) -> set[str]:
    """The code words in the first column of the tables."""
    cells = re.findall(r"^\| (`[^|]+`) \|", markdown, re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


def code(site: Site, title: str) -> str:
    """The text of a code block, as a reader copies it from the built page."""
    (block,) = [block for block in site.page(PAGE).code_blocks if block.title == title]
    return block.text


@pytest.fixture
def example(site: Site) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(code(site, "my_allreduce.json"))
    return data


def test_the_example_of_the_format_page_is_valid_proved_and_exact(example):
    jsonschema_rs.validate(SCHEMA, example)
    assert schedule_to_data(prove(schedule_from_data(example))) == example


def test_the_table_below_the_example_is_its_replay(example):
    def words(cells: list[Any]) -> str:
        return "，".join(
            f"块 {block.origin} {{{', '.join(map(str, block.ranks()))}}}" for block in cells
        )

    rows = re.findall(r"^\| (?:开始|第 \d 步后) \| .*$", section("## 一个完整的例子"), re.MULTILINE)
    assert rows == [
        f"| {f'第 {step} 步后' if step else '开始'} | "
        f"{' | '.join(words(held['tensor']) for held in state)} |"
        for step, state in enumerate(replay(schedule_from_data(example)))
    ]


def test_the_check_on_the_format_page_accepts_the_example_and_refuses_in_the_words_of_the_page(
    site, example, tmp_path, monkeypatch
):
    check = code(site, "check.py")
    file = tmp_path / "my_allreduce.json"
    monkeypatch.chdir(tmp_path)
    file.write_text(json.dumps(example), encoding="utf-8")
    exec(check, {})
    example["rounds"][1]["transfers"][0]["op"] = "reduce"
    file.write_text(json.dumps(example), encoding="utf-8")
    with pytest.raises(ProofError) as refusal:
        exec(check, {})
    assert f"\n> {refusal.value}\n" in source()


@pytest.mark.parametrize(
    ("heading", "where"),
    [
        ("### 顶层", ()),
        ("### `buffers` 里的每一项", ("buffers", "additionalProperties")),
        ("### `rounds` 里的每一项", ("rounds", "items")),
        ("### `transfers` 里的每一项", ("rounds", "items", "properties", "transfers", "items")),
    ],
)
def test_the_format_page_explains_every_key_of_the_schema_and_no_other(heading, where):
    schema = SCHEMA if not where else SCHEMA["properties"]
    for step in where:
        schema = schema[step]
    assert first_column(section(heading)) == set(schema["properties"])
    optional = set(schema["properties"]) - set(schema["required"])
    marked = re.findall(r"^\| `(\w+)` \| [^|]*可省 \|", section(heading), re.MULTILINE)
    assert set(marked) == optional


def test_the_format_page_explains_every_cost_field():
    assert first_column(section("## 代价")) == set(SCHEMA["properties"]["cost"]["properties"])


def test_the_format_page_lists_every_rule_that_refuses_a_broken_schedule():
    assert first_column(section("## 规则")) == {case.rule for case in CORPUS.values()}


def test_the_format_page_lists_the_buffers_of_every_primitive():
    entries = re.findall(
        r"^`(\w+)`\n:   (.*?)(?=^`|\Z)",
        section("## 开始和结束状态") + "\n",
        re.MULTILINE | re.DOTALL,
    )
    assert [name for name, _ in entries] == list(PRIMITIVES)
    for name, text in entries:
        listed = re.findall(r"`(\w+)`：(\w+)，(`blocks`|C) 块(，只在根上)?", text)
        assert listed == [
            (
                buffer.name,
                buffer.role,
                "`blocks`" if buffer.blocks == 8 else "C",
                "，只在根上" if buffer.on_root_only else "",
            )
            for buffer in PRIMITIVES[name].buffers(4, 8)
        ]


def test_the_format_page_explains_every_key_of_the_catalogue():
    catalog = catalogue()
    primitive = catalog["primitives"][0]
    keys = {*catalog, *primitive, *primitive["algorithms"][0]}
    with_parameters = next(
        algorithm
        for primitive in catalog["primitives"]
        for algorithm in primitive["algorithms"]
        if algorithm["parameters"]
    )
    keys |= {*with_parameters["parameters"][0]}
    assert first_column(section("## 目录 catalog.json")) == keys


def test_the_split_transfer_of_the_format_page_is_what_relabelling_does():
    schedule = REGISTRY["scatter/flat"].schedule(4)
    transfer = Transfer(0, 1, "copy", "scatter_list", 2, "scratch", 0, 4)
    with_it = replace(schedule, rounds=(schedule.rounds[0]._replace(transfers=(transfer,)),))
    moved = relabel_root(with_it, 2, PRIMITIVES["scatter"].rank_indexed).rounds[0].transfers
    assert [(t.src, t.dst, t.from_offset, t.blocks) for t in moved] == [(2, 3, 6, 2), (2, 3, 0, 2)]
    assert "块 2、3、4、5 改成 6、7、0、1，拆成从 6 起 2 块和从 0 起 2 块" in section("## 换一个根")
