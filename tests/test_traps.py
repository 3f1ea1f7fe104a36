"""What the pages of the primitives say of wrong calls is what torch does with them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from built_site import ROOT
from collectives.primitives import PRIMITIVES
from record_expected import reader_environment

ONE = 1065353216
"""The bits of the float32 1.0, read as an int32."""

SEVEN = "9.8e-45"
"""The bits of the int32 7, read as a float32, as a page writes them."""

ROWS = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.fixture(scope="module")
def got() -> dict[str, list[object]]:
    """What each rank got in each case of traps.py."""
    run = subprocess.run(
        [sys.executable, Path(__file__).with_name("traps.py")],
        env=reader_environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    results: dict[str, list[object]] = {}
    for name, rank, result in sorted(map(json.loads, run.stdout.splitlines()), key=lambda r: r[:2]):
        assert rank == len(results.setdefault(name, []))
        results[name].append(result)
    return results


def mistakes(slug: str) -> str:
    """The section of a page about mistakes, as its author wrote it."""
    text = (ROOT / "docs/primitives" / f"{slug}.md").read_text(encoding="utf-8")
    return text.split("\n## 常见错误\n")[1].split("\n## ")[0]


def flat(value: object) -> list[float]:
    """All numbers, in the order of the memory."""
    return [n for part in value for n in flat(part)] if isinstance(value, list) else [value]  # type: ignore[list-item]


def written(number: float) -> str:
    """A very small number as the pages write it."""
    return f"{number:.1e}"


def test_a_shape_that_differs_is_filled_in_the_order_of_the_memory(got: dict[str, list[object]]):
    assert flat(got["broadcast_shape"][1]) == ROWS
    assert flat(got["gather_shape"][0]) == ROWS * 2
    for rank in (0, 1):
        assert flat(got["allgather_shape"][rank]) == ROWS * 2
        assert flat(got["allreduce_shape"][rank]) == [2 * number for number in ROWS]
    assert flat(got["reduce_shape"][0]) == [2 * number for number in ROWS]
    for slug in ("broadcast", "gather", "reduce", "allgather", "allreduce"):
        assert re.search("2 × 3.{0,12}3 × 2|3 × 2.{0,12}2 × 3", mistakes(slug)), slug


def test_types_that_differ_between_ranks_are_bytes_to_gloo(got: dict[str, list[object]]):
    for name, slug, numbers in (
        ("gather_types", "gather", got["gather_types"][0]),
        ("allgather_types", "allgather", got["allgather_types"][0]),
        ("alltoall_types", "alltoall", got["alltoall_types"][0]),
    ):
        assert written(flat(numbers)[-1]) == SEVEN, name
        assert SEVEN in mistakes(slug)
    assert flat(got["alltoall_types"][1])[0] == ONE
    assert str(ONE) in mistakes("alltoall")
    assert got["scatter_types"][1] == [1073741824, 1073741824]
    assert "2.0 变成 1073741824" in mistakes("scatter")
    assert [f"{number:.4f}" for number in flat(got["reduce_types"][0])] == ["1.0000"] * 4
    assert "打印出来全是 1.0000" in mistakes("reduce")
    assert [
        written(flat(got["reducescatter_types"][0])[0]),
        flat(got["reducescatter_types"][1])[0],
    ] == [
        "1.4e-44",
        ONE,
    ]
    assert f"实际是 1.4e-44 和 {ONE}" in mistakes("reducescatter")


def test_a_buffer_that_is_too_big_keeps_what_was_in_it(got: dict[str, list[object]]):
    assert got["broadcast_room"][1] == [0, 1, 2, 3, -1, -1]
    assert str(list(map(int, flat(got["broadcast_room"][1])))) in mistakes("broadcast")


def test_what_happens_in_place_is_what_the_pages_say(got: dict[str, list[object]]):
    assert got["scatter_in_place"][0] == [0, 1, 0, 1]
    assert "[0, 1, 0, 1]" in mistakes("scatter")
    assert got["allgather_in_place"] == [[[1, 1], [2, 2]]] * 2
    assert got["reducescatter_in_place"] == [[[10, 10], [1, 1]], [[10, 10], [12, 12]]]


def test_a_list_of_unequal_parts_is_reduced_and_scattered(got: dict[str, list[object]]):
    assert got["reducescatter_uneven"] == [[10, 10], [12, 12, 12]]


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("allgather_whole_for_list", "allgather"),
        ("allgather_single_square", "allgather"),
        ("reducescatter_whole_for_list", "reducescatter"),
        ("alltoall_whole_for_list", "alltoall"),
    ],
)
def test_a_list_and_a_whole_tensor_are_refused_in_the_words_of_the_page(
    got: dict[str, list[object]], name: str, slug: str
):
    quoted = re.findall("`((?:Expected parameter|invalid tensor size)[^`]+)`", mistakes(slug))
    for message in got[name]:
        # torch puts the name of the parameter in backticks, which a page cannot.
        assert any(words in str(message).replace("`", "") for words in quoted), message


def test_a_tensor_as_long_as_all_parts_takes_them(got: dict[str, list[object]]):
    assert got["allgather_single_long"] == [[1, 1, 2, 2]] * 2


@pytest.mark.parametrize("slug", PRIMITIVES)
def test_every_primitive_warns_of_the_order_of_calls_and_of_types_and_shapes(slug: str):
    text = mistakes(slug)
    assert "{{ order_of_calls() }}" in text
    assert "类型" in text
    assert re.search(r"\.\./failures/silent\.md#", text)
