"""Every algorithm of the registry is right, costs what its closed form says, and is described."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

import oracle
from collectives.algorithm import UnsupportedChoice
from collectives.algorithms import REGISTRY, algorithms_of
from collectives.cost import count_cost, round_costs
from collectives.primitives import PRIMITIVES
from collectives.prove import prove, replay
from collectives.schedule import PHASES, relabel_root
from collectives.serialize import schedule_from_json, schedule_to_data, schedule_to_json

DOCS = Path(__file__).resolve().parents[1] / "docs"
EVERY_N = range(2, 34)
EVERY_ROOT_UP_TO = 9

each_algorithm = pytest.mark.parametrize("algorithm", REGISTRY.values(), ids=list(REGISTRY))
each_primitive = pytest.mark.parametrize("primitive", PRIMITIVES.values(), ids=list(PRIMITIVES))


@each_algorithm
def test_every_schedule_is_proved_for_every_valid_n(algorithm):
    for n in algorithm.valid_ranks(EVERY_N):
        for parameters in algorithm.combinations(n):
            prove(algorithm.schedule(n, **parameters))


@each_algorithm
def test_every_root_is_proved(algorithm):
    if not algorithm.primitive_entry.rooted:
        with pytest.raises(UnsupportedChoice, match="没有根"):
            algorithm.schedule(algorithm.valid_ranks(EVERY_N)[0], root=1)
        return
    for n in algorithm.valid_ranks(range(2, EVERY_ROOT_UP_TO + 1)):
        for root in range(n):
            proved = prove(algorithm.schedule(n, root)).schedule
            assert proved.root == root
            assert count_cost(proved) == count_cost(algorithm.schedule(n))


@each_algorithm
def test_the_counted_cost_equals_the_closed_form(algorithm):
    for n in algorithm.valid_ranks(EVERY_N):
        for parameters in algorithm.combinations(n):
            counted = count_cost(algorithm.schedule(n, **parameters))
            assert counted == algorithm.cost(n, **parameters), (n, parameters)


@each_algorithm
def test_no_one_port_schedule_beats_the_lower_bound(algorithm):
    if algorithm.ports != "single":
        return
    for n in algorithm.valid_ranks(EVERY_N):
        bound = algorithm.primitive_entry.lower_bound(n)
        for parameters in algorithm.combinations(n):
            cost = count_cost(algorithm.schedule(n, **parameters))
            assert cost.rounds >= bound.rounds
            assert cost.beta >= bound.beta
            assert cost.gamma >= bound.gamma


@each_algorithm
def test_a_replay_that_shares_no_code_agrees(algorithm):
    for n in algorithm.valid_ranks(range(2, 10)):
        for root in range(n) if algorithm.primitive_entry.rooted else [0]:
            data = schedule_to_data(prove(algorithm.schedule(n, root)))
            assert oracle.is_right(data, seed=n)


@each_algorithm
def test_the_input_of_the_call_is_never_written(algorithm):
    for n in algorithm.valid_ranks(range(2, 10)):
        schedule = algorithm.schedule(n)
        inputs = {buffer.name for buffer in schedule.buffers if buffer.role == "input"}
        for round_ in schedule.rounds:
            assert not inputs & {transfer.to_buffer for transfer in round_.transfers}


@each_algorithm
def test_an_unsupported_n_is_refused_with_the_value_and_the_rule(algorithm):
    for build in (algorithm.schedule, algorithm.build):
        with pytest.raises(UnsupportedChoice, match=r"N = 1：至少要有 2 个 rank"):
            build(1)
    for n in set(EVERY_N) - set(algorithm.valid_ranks(EVERY_N)):
        for build in (algorithm.schedule, algorithm.build):
            with pytest.raises(UnsupportedChoice, match=rf"N = {n}：") as refusal:
                build(n)
            assert algorithm.rank_rule.reason_zh in str(refusal.value)


@each_algorithm
def test_an_unknown_parameter_or_root_is_refused_by_name(algorithm):
    n = algorithm.valid_ranks(EVERY_N)[-1]
    with pytest.raises(UnsupportedChoice, match="没有参数 speed"):
        algorithm.schedule(n, speed=3)
    with pytest.raises(UnsupportedChoice, match=f"{n}"):
        algorithm.schedule(n, root=n)


@each_algorithm
def test_the_schedule_says_what_it_is(algorithm):
    for n in algorithm.valid_ranks(range(2, 10)):
        schedule = algorithm.schedule(n)
        assert schedule.name == algorithm.name
        assert schedule.ranks == n
        assert schedule.layout == algorithm.layout
        assert schedule.ports == algorithm.ports
        assert schedule.root == (0 if algorithm.primitive_entry.rooted else None)
        assert sum(buffer.blocks for buffer in schedule.buffers) >= 2


@each_algorithm
def test_every_round_has_a_known_phase_and_a_caption_of_its_own(algorithm):
    for n in algorithm.valid_ranks(range(2, 10)):
        for round_ in algorithm.schedule(n).rounds:
            assert round_.phase in PHASES
            assert round_.caption.endswith("。")
            assert round_.transfers
            assert (round_.phase == "local") == round_.is_local


@each_algorithm
def test_captions_stay_true_when_the_root_moves(algorithm):
    """After relabelling, a rank named by its number would be another rank."""
    if not algorithm.primitive_entry.rooted:
        return
    for n in algorithm.valid_ranks(range(2, 10)):
        for round_ in algorithm.schedule(n).rounds:
            assert not re.search(r"rank \d", round_.caption), round_.caption


@each_algorithm
def test_the_entry_tells_idea_users_and_sources(algorithm):
    assert algorithm.idea_zh.count("。") >= 2
    assert algorithm.wins_zh.endswith("。")
    assert algorithm.used_by
    assert algorithm.sources
    assert all(use.source for use in algorithm.used_by)
    assert (DOCS / "algorithms" / f"{algorithm.family}.md").is_file()


@each_primitive
def test_each_primitive_opens_with_exactly_one_algorithm(primitive):
    algorithms = algorithms_of(primitive.slug)
    assert [algorithm.opens for algorithm in algorithms] == [True] + [False] * (len(algorithms) - 1)
    assert set(range(2, 17)) == set(algorithms[0].valid_ranks(range(2, 17)))


@each_algorithm
def test_a_file_for_sixteen_ranks_fits_into_four_kilobytes(algorithm):
    n = algorithm.valid_ranks(range(2, 17))[-1]
    text = schedule_to_json(prove(algorithm.schedule(n)))
    assert len(gzip.compress(text.encode())) <= 4096


@each_algorithm
def test_a_written_schedule_reads_back_as_it_was(algorithm):
    n = algorithm.valid_ranks(range(2, 10))[-1]
    schedule = algorithm.schedule(n)
    assert schedule_from_json(schedule_to_json(prove(schedule))) == schedule


@each_algorithm
def test_the_costs_of_the_rounds_add_up_to_the_cost(algorithm):
    for n in algorithm.valid_ranks(range(2, 10)):
        schedule = algorithm.schedule(n)
        rounds = round_costs(schedule)
        cost = count_cost(schedule)
        assert len(rounds) == len(schedule.rounds)
        assert sum(round_.beta for round_ in rounds) == cost.beta
        assert sum(round_.gamma for round_ in rounds) == cost.gamma
        assert sum(round_.beta > 0 for round_ in rounds) == cost.rounds


def test_only_a_proved_schedule_can_be_written():
    with pytest.raises(TypeError, match="ProvedSchedule"):
        schedule_to_json(REGISTRY["allreduce/ring"].schedule(4))  # type: ignore[arg-type]


def test_relabelling_by_the_same_root_changes_nothing():
    schedule = REGISTRY["scatter/binomial"].schedule(8)
    moved = relabel_root(schedule, 3, PRIMITIVES["scatter"].rank_indexed)
    assert moved != schedule
    assert [r.transfers for r in relabel_root(moved, 3, frozenset()).rounds] == [
        r.transfers for r in moved.rounds
    ]


def test_a_message_that_wraps_round_the_list_is_split_but_stays_one_message():
    schedule = REGISTRY["scatter/binomial"].schedule(4, root=1)
    first = [t for t in schedule.rounds[0].transfers if t.src != t.dst]
    assert [(t.src, t.dst, t.from_offset, t.to_offset, t.blocks) for t in first] == [
        (1, 3, 6, 0, 2),
        (1, 3, 0, 2, 2),
    ]


def test_the_ring_of_four_is_the_one_in_the_textbook():
    """Patarasuk and Yuan's ring, written out by hand for rank 0."""
    schedule = REGISTRY["allreduce/ring"].schedule(4)
    sent = [(t.op, t.from_offset) for r in schedule.rounds for t in r.transfers if t.src == 0]
    assert sent == [
        ("reduce", 3),
        ("reduce", 2),
        ("reduce", 1),
        ("copy", 0),
        ("copy", 3),
        ("copy", 2),
    ]
    states = list(replay(schedule))
    assert states[3][0]["tensor"][0] == states[6][2]["tensor"][0]


def test_every_file_of_the_registry_is_found_by_its_name():
    assert {name.split("/")[0] for name in REGISTRY} == set(PRIMITIVES)
    json.dumps(list(REGISTRY))
