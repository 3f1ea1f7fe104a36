"""Whatever reaches the player, by an address or as a file, it is refused or shown, and no more."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from collectives.algorithms import REGISTRY
from collectives.prove import ProofError, prove
from collectives.serialize import schedule_from_json, schedule_to_json
from generate_schedules import published_ranks
from player_bench import Bench, tag
from player_node import ask

FILES = 2_000
ADDRESSES_IN_A_BROWSER = 150
FILES_IN_A_BROWSER = 60

MARKUP = "<img src=x onerror=\"window.hit='markup'\"><script>window.hit='script'</script>"
HOSTILE = [
    MARKUP,
    "javascript:window.hit='address'",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "\x00\x0b\x1f",
    "\ud800",
    "\u202e\u2066",
    "'\"`${window.hit='template'}",
    "]]>&#x27;",
    "长" * 3_000,
    "",
    " ",
]
ODD: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    -0.0,
    0.5,
    4.0,
    1e300,
    2**31,
    2**53,
    10**30,
    float("nan"),
    float("inf"),
    [],
    {},
    [[]],
    ["tensor"],
    ["tensor", 0, 0],
    {"tensor": 0},
    "4",
    "reduce",
    "root",
]


def whole() -> list[dict[str, Any]]:
    """A published schedule of every algorithm, or two."""
    return [
        json.loads(schedule_to_json(prove(algorithm.schedule(n))))
        for algorithm in REGISTRY.values()
        for n in (2, 4)
        if n in published_ranks(algorithm)
    ]


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in some data, with each key or index of it."""
    entries = list(data.items() if isinstance(data, dict) else enumerate(data))
    for key, value in entries:
        yield data, key
        if isinstance(value, dict | list):
            yield from places(value)


def mistyped(data: dict[str, Any], chance: random.Random) -> str:
    """Something else where a value was, a key gone, or one too many."""
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        container, key = chance.choice(list(places(data)))
        kind = chance.randrange(5)
        if kind == 0:
            container[key] = copy.deepcopy(chance.choice(ODD))
        elif kind == 1:
            container[key] = chance.choice(HOSTILE)
        elif kind == 2:
            del container[key]
        elif isinstance(container, list):
            container.insert(key, copy.deepcopy(chance.choice([container[key], *ODD])))
        else:
            container[chance.choice([*HOSTILE, *container])] = container[key]
    return json.dumps(data, ensure_ascii=chance.random() < 0.5)


def cut(data: dict[str, Any], chance: random.Random) -> str:
    """A piece missing, at the end or within, or another character somewhere."""
    text = json.dumps(data, ensure_ascii=False)
    at = chance.randrange(len(text))
    kind = chance.randrange(3)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + text[at + chance.randrange(1, 30) :]
    return text[:at] + chance.choice('{}[]",:0-.eE\\/\x00 \ufeff') + text[at + 1 :]


def huge(data: dict[str, Any], chance: random.Random) -> str:
    """Much more of something than any schedule has."""
    kind = chance.randrange(6)
    if kind == 0:
        data["ranks"] = chance.choice([65, 1024, 1025, 10**6, 10**12])
    elif kind == 1:
        data["blocks"] = chance.choice([10**4, 10**6, 10**9])
    elif kind == 2:
        data["buffers"]["scratch"] = {"role": "scratch", "blocks": chance.choice([10**5, 10**8])}
    elif kind == 3:
        data["rounds"] = data["rounds"] * chance.choice([100, 400])
    elif kind == 4:
        transfers = data["rounds"][0]["transfers"]
        transfers[:] = transfers * 500
    else:
        depth = chance.choice([90, 300, 3_000])
        key, opening, closing = chance.choice([("more", "[", "]"), ("phases", '{"a":', "}")])
        deep = opening * depth + "0" + closing * depth
        return f'{json.dumps(data)[:-1]}, "{key}": {deep}}}'
    return json.dumps(data)


def damaged_files(count: int, seed: int) -> list[str]:
    """Files that something has happened to, always the same ones."""
    chance = random.Random(seed)
    good = whole()
    ways = [mistyped, mistyped, mistyped, cut, huge]
    return [chance.choice(ways)(copy.deepcopy(chance.choice(good)), chance) for _ in range(count)]


def rule_of(text: str) -> str | None:
    """What Python says is wrong with a file."""
    try:
        prove(schedule_from_json(text))
    except ProofError as error:
        return error.rule
    return None


def test_no_file_that_python_refuses_is_shown(schedules):
    texts = damaged_files(FILES, seed=20261201)
    answers = ask(({"play": text} for text in texts), schedules)
    accepted = 0
    refused = set()
    for text, answer in zip(texts, answers, strict=True):
        expected = rule_of(text)
        if expected is not None:
            assert answer is not None, text[:2_000]
            refused.add(expected)
        elif answer is None:
            accepted += 1
        else:
            # Right, but more than can be shown, or written as only Python writes it.
            assert answer == "format", text[:2_000]
    # Some damage does no harm; the most part does, in many ways.
    assert FILES / 50 < accepted < FILES / 2
    assert len(refused) >= 7


def test_a_whole_number_is_one_however_it_is_written(schedules):
    """4.0 is an integer to JSON Schema and to a browser, so it is one here; 4.5 is none."""
    text = json.dumps(whole()[0])
    ranks = json.loads(text)["ranks"]
    for written, rule in ((f"{ranks}.0", None), (f"{ranks}e0", None), (f"{ranks}.5", "format")):
        other = text.replace(f'"ranks": {ranks},', f'"ranks": {written},')
        assert other != text
        assert rule_of(other) == rule
        assert ask([{"play": other}], schedules) == [rule]


@pytest.mark.parametrize("key", ["ports", "layout", "parameters", "phases"])
def test_what_may_be_left_out_may_not_be_null(schedules, key: str):
    data = whole()[0]
    data[key] = None
    text = json.dumps(data)
    # Python does not read the names of phases at all.
    assert rule_of(text) == (None if key == "phases" else "format")
    assert ask([{"play": text}], schedules) == ["format"]


# ------------------------------------------------------------------------------------ in a browser


def untouched(page: Page) -> bool:
    """Whether nothing from outside has become more than text."""
    return bool(
        page.evaluate("""window.hit === undefined
            && document.querySelectorAll('body img, body iframe, body object').length === 0
            && [...document.scripts].every((script) => script.src.includes('/assets/'))
            && Object.keys(Object.prototype).length === 0
            && !document.body.innerHTML.includes('<img')""")
    )


def odd_addresses(count: int, seed: int) -> Iterator[str]:
    chance = random.Random(seed)
    keys = ["op", "algo", "n", "root", "reduce", "round", "view", "values", "speed", "chunks"]
    good = ["allreduce", "scatter", "ring", "binomial", "8", "16", "3", "max", "matrix", "symbols"]
    bad = [
        *HOSTILE,
        "-1",
        "20000",
        "1e9",
        "NaN",
        "%00",
        "%F0%9F%92%A9",
        "4" * 300,
        "[]",
        "&&&",
        "#",
    ]
    for _ in range(count):
        pairs = [
            f"{chance.choice(keys)}={chance.choice(chance.choice([good, good, bad]))}"
            for _ in range(chance.randrange(1, 8))
        ]
        yield f"#op={chance.choice([*good[:2], *bad])}&{'&'.join(pairs)}"


def test_addresses_that_nobody_meant_open_a_schedule_and_nothing_else(bench: Bench):
    controls = "primitive algorithm ranks parameters root op view more"
    page = bench.ready(tag("allreduce/ring/n4.json", controls))
    for address in odd_addresses(ADDRESSES_IN_A_BROWSER, seed=20261202):
        page.evaluate("(hash) => { location.hash = hash; }", address)
        # The next one often comes while this one is on its way.
        assert untouched(page), address
    page.evaluate("location.hash = '#op=gather&algo=flat&n=5&root=2&round=1'")
    expect(page.get_by_role("combobox", name="GPU 数")).to_have_value("5")
    page.get_by_role("button", name="跳到结尾").click()
    assert page.evaluate("document.querySelector('collective-player').round") == 4
    assert untouched(page)


def test_files_that_something_has_happened_to_are_explained_or_played(bench: Bench):
    page = bench.open(
        '<script type="module" src="/assets/js/schedule-playground.js"></script>'
        '<schedule-playground catalog="schedules/catalog.json"></schedule-playground>'
    )
    page.locator("schedule-playground[ready] collective-player[ready]").wait_for()
    kinds = []
    for text in damaged_files(FILES_IN_A_BROWSER, seed=20261203):
        page.evaluate("document.querySelector('.pg-verdict').dataset.kind = 'stale'")
        page.get_by_label("日程文件的内容").evaluate(
            "(box, text) => { box.value = text; box.dispatchEvent(new Event('input')); }", text
        )
        page.wait_for_function("document.querySelector('.pg-verdict').dataset.kind !== 'stale'")
        kind = page.locator(".pg-verdict").get_attribute("data-kind")
        kinds.append(kind)
        if kind == "right":
            assert rule_of(text) is None, text[:2_000]
            page.get_by_role("button", name="跳到结尾").click()
        assert untouched(page), text[:2_000]
        assert page.get_by_text("播放器内部出错").count() == 0, text[:2_000]
    assert set(kinds) == {"right", "wrong"}
