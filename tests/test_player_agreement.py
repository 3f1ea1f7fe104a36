"""Python and the player agree: on every state of every file, on every number, on every refusal."""

from __future__ import annotations

import copy
import functools
import hashlib
import json
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from broken_schedules import CORPUS, as_json
from collectives.algorithms import REGISTRY
from collectives.cost import round_costs
from collectives.primitives import PRIMITIVES, Block
from collectives.prove import ProofError, State, prove, replay
from collectives.schedule import Schedule
from collectives.serialize import schedule_from_json, schedule_to_json
from generate_schedules import published_ranks, schedule_path
from player_node import ask


def published(schedules: Path) -> Iterator[tuple[str, str]]:
    """Every published file as (path, text)."""
    for algorithm in REGISTRY.values():
        for n in published_ranks(algorithm):
            for parameters in algorithm.combinations(n):
                path = schedule_path(algorithm, n, parameters)
                yield path, (schedules / path).read_text(encoding="utf-8")


@functools.cache
def cell_text(cell: Block | None) -> str:
    if cell is None:
        return "-"
    return f"{cell.origin}:{'.'.join(map(str, cell.ranks()))}"


def digest(state: State) -> str:
    """A digest of a state; agreement.mjs writes states the same way."""
    text = "|".join(
        ";".join(f"{name}={','.join(map(cell_text, held[name]))}" for name in sorted(held))
        for held in state
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_every_state_of_every_published_file_is_the_same_for_every_root_up_to_nine(schedules):
    questions: list[dict[str, Any]] = []
    expected: list[tuple[str, list[str]]] = []
    for path, text in published(schedules):
        primitive, slug, _ = path.split("/")
        algorithm = REGISTRY[f"{primitive}/{slug}"]
        read = schedule_from_json(text)
        n = read.ranks
        rooted = PRIMITIVES[primitive].rooted
        for root in range(n) if rooted and n <= 9 else [0]:
            questions.append({"schedule": text, "root": root if rooted else None})
            states = replay(algorithm.schedule(n, root, **read.parameters))
            expected.append((f"{path} root={root}", [digest(state) for state in states]))
    answers = ask(questions, schedules)
    assert len(answers) == len(expected)
    for answer, (name, digests) in zip(answers, expected, strict=True):
        assert answer == digests, name


def number(schedule: Schedule, cell: Block, op: str) -> int:
    """What a cell shows: the operation over the demo's numbers of its contributors."""
    value = PRIMITIVES[schedule.primitive].value
    numbers = [value(cell.origin, rank, schedule.ranks, schedule.blocks) for rank in cell.ranks()]
    operations: dict[str, Callable[[list[int]], int]] = {
        "sum": sum,
        "max": max,
        "min": min,
        "prod": math.prod,
    }
    return operations[op](numbers)


@pytest.mark.parametrize("name", REGISTRY)
def test_every_number_in_every_cell_is_the_demos_number(name, schedules):
    algorithm = REGISTRY[name]
    for n in (2, 4, 7):
        if n not in published_ranks(algorithm):
            continue
        schedule = algorithm.schedule(n)
        text = (schedules / schedule_path(algorithm, n, {})).read_text(encoding="utf-8")
        (answer,) = ask([{"values": text}], schedules)
        for op, shown in zip(("sum", "max", "min", "prod"), answer, strict=True):
            numbers = [
                [
                    [
                        [str(number(schedule, cell, op)) if cell else None for cell in held[buffer]]
                        for buffer in sorted(held)
                    ]
                    for held in state
                ]
                for state in replay(schedule)
            ]
            assert shown == numbers, f"n={n} {op}"


def test_the_player_counts_every_round_as_python_does(schedules):
    files = list(published(schedules))
    answers = ask(({"spent": text} for _, text in files), schedules)
    for (path, text), spent in zip(files, answers, strict=True):
        schedule = schedule_from_json(text)
        for before, after, cost in zip(spent, spent[1:], round_costs(schedule), strict=False):
            assert Fraction(after["sentNow"], schedule.blocks) == cost.beta, path
            assert Fraction(after["reduced"] - before["reduced"], schedule.blocks) == cost.gamma
        assert len(spent) == len(schedule.rounds) + 1


def refusal(text: str) -> dict[str, Any] | None:
    """What Python says is wrong with a file."""
    try:
        prove(schedule_from_json(text))
    except ProofError as error:
        return {
            "rule": error.rule,
            "sentence": str(error),
            "round": error.round,
            "rank": error.rank,
            "buffer": error.buffer,
            "block": error.block,
        }
    return None


def test_the_player_refuses_the_corpus_for_the_same_reasons(schedules):
    texts = {name: as_json(case.schedule) for name, case in CORPUS.items()}
    answers = ask(({"check": text} for text in texts.values()), schedules)
    for (name, text), answer in zip(texts.items(), answers, strict=True):
        expected = refusal(text)
        assert expected is not None
        if expected["rule"] == "format":
            assert answer["rule"] == "format", name
        else:
            assert answer == expected, name


def damaged(count: int) -> Iterator[str]:
    """Good schedules with one thing changed somewhere, always the same ones."""
    chance = random.Random(20240607)
    whole = [
        json.loads(schedule_to_json(prove(algorithm.schedule(n))))
        for algorithm in REGISTRY.values()
        for n in (2, 4, 5)
        if n in published_ranks(algorithm)
    ]
    for _ in range(count):
        data = copy.deepcopy(chance.choice(whole))
        transfers = chance.choice(data["rounds"])["transfers"]
        transfer = chance.choice(transfers)
        kind = chance.randrange(8)
        if kind == 0:
            transfers.remove(transfer)
        elif kind == 1:
            transfers.append(copy.deepcopy(transfer))
        elif kind == 2:
            transfer["op"] = {"copy": "reduce", "reduce": "copy"}[transfer["op"]]
        elif kind == 3:
            transfer["count"] += chance.choice([-2, -1, 1])
        elif kind == 4:
            chance.shuffle(data["rounds"])
        elif kind == 5:
            side = transfer[chance.choice(["from", "to"])]
            side[0] = chance.choice([*data["buffers"], "nowhere"])
        elif kind == 6:
            transfer[chance.choice(["from", "to"])][1] += chance.choice([-1, 1, 2])
        else:
            transfer[chance.choice(["src", "dst"])] = chance.randrange(-1, data["ranks"] + 1)
        yield json.dumps(data)


def test_whatever_is_done_to_a_schedule_python_and_the_player_judge_it_alike(schedules):
    texts = list(damaged(600))
    answers = ask(({"check": text} for text in texts), schedules)
    judged = [refusal(text) for text in texts]
    assert answers == judged
    assert sum(verdict is not None for verdict in judged) > 300
    assert len({verdict["rule"] for verdict in judged if verdict}) >= 6
