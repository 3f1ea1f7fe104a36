"""如果……: what a damaged schedule leads to, said by the player as Python's rules and numbers do."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import oracle
from collectives.algorithms import REGISTRY
from collectives.primitives import PRIMITIVES
from collectives.prove import ProofError, prove
from collectives.serialize import schedule_from_json
from generate_schedules import generate, published_ranks, schedule_path
from player_node import ask as ask_node

KINDS = ("drop", "redirect", "twice", "again")

Damage = dict[str, Any]


@pytest.fixture(scope="module")
def schedules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("schedules")
    generate(folder)
    return folder


def apply(data: dict[str, Any], damages: list[Damage]) -> dict[str, Any]:
    """Damage the data of a schedule; rounds and transfers are counted in it as it was."""
    whole: list[list[dict[str, Any]]] = [round_["transfers"] for round_ in data["rounds"]]
    rounds = copy.deepcopy(data["rounds"])
    rounds.append({"phase": "", "caption": "", "transfers": []})
    repeated: list[tuple[int, int]] = []
    # From the end, so that the places of the others stay what they are.
    for damage in sorted(damages, key=lambda d: (d["round"], d["transfer"]), reverse=True):
        at, index = damage["round"], damage["transfer"]
        transfers = rounds[at]["transfers"]
        match damage["kind"]:
            case "drop":
                del transfers[index]
            case "redirect":
                transfers[index]["dst"] = damage["dst"]
            case "twice":
                transfers.insert(index, copy.deepcopy(transfers[index]))
            case "again":
                repeated.append((at, index))
    for at, index in sorted(repeated):
        rounds[at + 1]["transfers"].append(whole[at][index])
    return {**data, "rounds": rounds if rounds[-1]["transfers"] else rounds[:-1]}


def some_damages(text: str, chance: random.Random) -> Iterator[list[Damage]]:
    """Every way to damage each kind of transfer of a schedule once, then two or three at a time."""
    data = json.loads(text)
    places: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    for at, round_ in enumerate(data["rounds"]):
        for index, transfer in enumerate(round_["transfers"]):
            kind = (transfer["op"], transfer["src"] == transfer["dst"])
            places.setdefault(kind, []).append((at, index))

    def damage(kind: str, at: int, index: int) -> Damage:
        transfer = data["rounds"][at]["transfers"][index]
        others = set(range(data["ranks"])) - {transfer["src"], transfer["dst"]}
        return {"kind": kind, "round": at, "transfer": index, "dst": chance.choice([*others])}

    for found in places.values():
        for kind in KINDS:
            yield [damage(kind, *chance.choice(found))]
    everywhere = [place for found in places.values() for place in found]
    for several in (2, 3):
        chosen = chance.sample(everywhere, min(several, len(everywhere)))
        yield [damage(chance.choice(KINDS), *place) for place in chosen]


def cases(schedules: Path) -> Iterator[tuple[str, str, list[Damage]]]:
    """(what it is, the whole schedule, the damages), always the same ones."""
    chance = random.Random(20261201)
    for algorithm in REGISTRY.values():
        for n in (3, 4, 5, 8):
            if n not in published_ranks(algorithm):
                continue
            path = schedule_path(algorithm, n, {})
            text = (schedules / path).read_text(encoding="utf-8")
            for damages in some_damages(text, chance):
                yield f"{path} {damages}", text, damages


@pytest.fixture(scope="module")
def answered(schedules: Path) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """(what it is, the damaged data, the player's answer)."""
    asked = list(cases(schedules))
    answers = ask_node(
        ({"whatif": text, "damages": damages} for _, text, damages in asked), schedules
    )
    return [
        (name, apply(json.loads(text), damages), answer)
        for (name, text, damages), answer in zip(asked, answers, strict=True)
    ]


def refusal(data: dict[str, Any]) -> dict[str, Any] | None:
    """What prove() says to it, without what it leaves open."""
    try:
        prove(schedule_from_json(json.dumps(data)))
    except ProofError as error:
        said = {
            "rule": error.rule,
            "sentence": str(error),
            "round": error.round,
            "transfer": error.transfer,
            "rank": error.rank,
            "buffer": error.buffer,
            "block": error.block,
        }
        return {key: value for key, value in said.items() if value is not None}
    return None


def test_what_is_refused_is_refused_by_the_rule_at_the_place_in_the_words_of_python(answered):
    rules = set()
    for name, data, answer in answered:
        expected = refusal(data)
        said = answer["refusal"]
        if said:
            said = {key: said[key] for key in said if key not in ("expected", "found")}
            rules.add(said["rule"])
        assert said == expected, name
    assert len(answered) > 800
    assert rules >= {
        "port-limit",
        "undefined-read",
        "mixed-blocks",
        "double-count",
        "write-race",
        "end-state",
        "unknown-buffer",
    }


def without_the_impossible(data: dict[str, Any]) -> dict[str, Any]:
    """The same without transfers into a buffer that their target does not have."""
    rooted = {name for name, buffer in data["buffers"].items() if buffer.get("on") == "root"}
    return {
        **data,
        "rounds": [
            {
                **round_,
                "transfers": [
                    transfer
                    for transfer in round_["transfers"]
                    if transfer["to"][0] not in rooted or transfer["dst"] == data["root"]
                ],
            }
            for round_ in data["rounds"]
        ],
    }


def test_what_every_block_ends_with_is_what_plain_numbers_end_with(answered):
    """Where the player says "undefined", other rubbish in the beginning gives another number."""
    for name, damaged, answer in answered:
        data = without_the_impossible(damaged)
        n, root = data["ranks"], data["root"] or 0
        primitive = PRIMITIVES[data["primitive"]]
        start = oracle.random_memory(data, seed=1)
        other = oracle.random_memory(data, seed=2)
        origin: dict[tuple[int, int], int] = {}
        for rank in range(n):
            for buffer, content in primitive.start(n, data["blocks"], root, rank).items():
                for at, block in enumerate(content):
                    if block is None:
                        continue
                    (contributor,) = block.ranks()
                    origin[block.origin, contributor] = start[rank][buffer][at]
                    other[rank][buffer][at] = start[rank][buffer][at]
        end = copy.deepcopy(start)
        assert oracle.carry_out(data, end), name
        assert oracle.carry_out(data, other), name
        for rank, held in enumerate(answer["held"]):
            assert held.keys() == end[rank].keys(), name
            for buffer, content in held.items():
                for at, heap in enumerate(content):
                    number = end[rank][buffer][at]
                    if heap is None:
                        assert number != other[rank][buffer][at], (name, rank, buffer, at)
                    else:
                        sum_of_it = sum(origin[block, who] * times for block, who, times in heap)
                        assert number == sum_of_it, (name, rank, buffer, at)
        wrong = oracle.wrong_blocks(data, start, end)
        assert [tuple(place) for place in answer["wrong"]] == wrong, name


def test_both_ends_are_met_damage_that_harms_and_damage_that_does_not(answered):
    outcomes = {(answer["refusal"] is None, answer["wrong"] == []) for _, _, answer in answered}
    assert outcomes == {(True, True), (False, True), (False, False)}
