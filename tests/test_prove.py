"""The prover refuses what is wrong, for the reason that is wrong, and accepts what is right."""

from __future__ import annotations

import dataclasses
import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oracle
from broken_schedules import CORPUS, as_json
from collectives.algorithms import REGISTRY
from collectives.prove import ProofError, ProvedSchedule, prove, replay
from collectives.schedule import Buffer, Round, Schedule, Transfer
from collectives.serialize import schedule_from_json


@pytest.mark.parametrize("name", CORPUS)
def test_every_broken_schedule_is_refused_for_its_named_reason(name):
    case = CORPUS[name]
    with pytest.raises(ProofError) as refusal:
        prove(case.schedule)
    assert refusal.value.rule == case.rule, str(refusal.value)
    assert refusal.value.round == case.round, str(refusal.value)


@pytest.mark.parametrize("name", CORPUS)
def test_a_broken_schedule_read_from_json_is_refused_for_the_same_reason(name):
    case = CORPUS[name]
    with pytest.raises(ProofError) as refusal:
        prove(schedule_from_json(as_json(case.schedule)))
    assert refusal.value.rule == case.rule


#: Where the numbers decide. A second port breaks the machine model, not the result, and a race may
#: end well by luck.
DECIDABLE = [
    name for name, case in CORPUS.items() if case.rule not in ("format", "port-limit", "write-race")
]


@pytest.mark.parametrize("name", DECIDABLE)
def test_the_corpus_is_really_broken_where_numbers_can_tell(name):
    assert not oracle.is_right(json.loads(as_json(CORPUS[name].schedule)))


def test_a_refusal_names_round_rank_buffer_block_expected_and_found():
    with pytest.raises(ProofError) as refusal:
        prove(CORPUS["exchange_done_one_after_the_other"].schedule)
    error = refusal.value
    assert (error.round, error.transfer, error.rank, error.buffer, error.block) == (
        2,
        1,
        1,
        "tensor",
        0,
    )
    assert error.expected == "不含 rank 1 的贡献"
    assert error.found == "块 0（rank 0、1 的贡献）"
    for word in ("第 2 步", "rank 1", "tensor[0]", "两次"):
        assert word in str(error)


def test_a_lost_end_state_names_what_was_expected_and_what_was_found():
    with pytest.raises(ProofError) as refusal:
        prove(CORPUS["no_rounds_at_all"].schedule)
    error = refusal.value
    assert (error.rank, error.buffer, error.block) == (0, "tensor", 0)
    assert error.expected == "块 0（rank 0、1、2、3 的贡献）"
    assert error.found == "块 0（rank 0 的贡献）"


def test_nobody_but_prove_can_make_a_proved_schedule():
    with pytest.raises(TypeError):
        ProvedSchedule(REGISTRY["allreduce/ring"].schedule(4), token=object())


def test_two_reductions_into_one_block_in_one_round_are_no_race():
    n = 4
    rounds = tuple(
        Round(
            "reduce",
            "",
            tuple(Transfer(r, 0, "reduce", "tensor", 0, "tensor", 0, n) for r in range(1, n)),
        )
        for _ in range(1)
    )
    flat = REGISTRY["reduce/flat"].schedule(n)
    assert prove(dataclasses.replace(flat, ports="multi", rounds=rounds))


def test_after_reduce_the_tensors_of_the_other_ranks_are_undefined():
    schedule = REGISTRY["reduce/binomial"].schedule(4, root=1)
    *_, before_last, last = replay(schedule)
    assert all(block is not None for rank in before_last for block in rank["tensor"])
    assert all(block is None for rank in (0, 2, 3) for block in last[rank]["tensor"])
    assert [block.ranks() for block in last[1]["tensor"] if block] == [[0, 1, 2, 3]] * 4


def test_replay_gives_one_state_more_than_there_are_rounds():
    schedule = REGISTRY["allreduce/ring"].schedule(5)
    assert len(list(replay(schedule))) == len(schedule.rounds) + 1


def test_enormous_counts_are_refused_before_anything_is_allocated():
    schedule = REGISTRY["allreduce/ring"].schedule(4)
    for enormous in (
        dataclasses.replace(schedule, ranks=10**9),
        dataclasses.replace(
            schedule, blocks=4 * 10**12, buffers=(Buffer("tensor", "inout", 4 * 10**12),)
        ),
    ):
        with pytest.raises(ProofError) as refusal:
            prove(enormous)
        assert refusal.value.rule == "format"


# --------------------------------------------------------------------------- random damage

NAMES = list(REGISTRY)


@st.composite
def damaged_schedules(draw: st.DrawFn) -> Schedule:
    """A schedule of the registry after one to three random changes."""
    algorithm = REGISTRY[draw(st.sampled_from(NAMES))]
    n = draw(st.sampled_from(algorithm.valid_ranks(range(2, 8))))
    root = draw(st.integers(0, n - 1)) if algorithm.primitive_entry.rooted else 0
    schedule = algorithm.schedule(n, root)
    rounds = [list(round_.transfers) for round_ in schedule.rounds]
    names = [buffer.name for buffer in schedule.buffers]
    for _ in range(draw(st.integers(1, 3))):
        full = [index for index, transfers in enumerate(rounds) if transfers]
        if not full:
            break
        index = draw(st.sampled_from(full))
        position = draw(st.integers(0, len(rounds[index]) - 1))
        transfer = rounds[index][position]
        match draw(st.integers(0, 10)):
            case 0:
                del rounds[index][position]
            case 1:
                rounds[index].append(transfer)
            case 2:
                rounds[index][position] = transfer._replace(dst=draw(st.integers(0, n)))
            case 3:
                rounds[index][position] = transfer._replace(src=draw(st.integers(-1, n - 1)))
            case 4:
                other = "copy" if transfer.op == "reduce" else "reduce"
                rounds[index][position] = transfer._replace(op=other)
            case 5:
                step = draw(st.sampled_from([-2, -1, 1, 2]))
                rounds[index][position] = transfer._replace(from_offset=transfer.from_offset + step)
            case 6:
                step = draw(st.sampled_from([-2, -1, 1, 2]))
                rounds[index][position] = transfer._replace(to_offset=transfer.to_offset + step)
            case 7:
                rounds[index][position] = transfer._replace(
                    blocks=transfer.blocks + draw(st.sampled_from([-1, 1]))
                )
            case 8:
                other_index = draw(st.integers(0, len(rounds) - 1))
                rounds[index], rounds[other_index] = rounds[other_index], rounds[index]
            case 9:
                rounds[index][position] = transfer._replace(
                    from_buffer=draw(st.sampled_from(names)),
                    to_buffer=draw(st.sampled_from(names)),
                )
            case 10:
                moved = rounds[index].pop(position)
                rounds[draw(st.integers(0, len(rounds) - 1))].append(moved)
    return dataclasses.replace(
        schedule, rounds=tuple(Round("exchange", "", tuple(t)) for t in rounds)
    )


@settings(
    max_examples=4000,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(schedule=damaged_schedules(), seed=st.integers(0, 2**32))
def test_whatever_the_oracle_finds_wrong_the_prover_refuses(schedule, seed):
    if oracle.is_right(json.loads(as_json(schedule)), seed):
        return
    with pytest.raises(ProofError):
        prove(schedule)


def test_the_random_damage_often_does_harm_and_often_none():
    """The property above would be worth nothing if nearly all damage fell on one side."""
    generator = random.Random(7)
    harmful = harmless = 0
    for _ in range(300):
        algorithm = REGISTRY[generator.choice(NAMES)]
        schedule = algorithm.schedule(4)
        rounds = [list(round_.transfers) for round_ in schedule.rounds]
        if generator.random() < 0.5:
            del generator.choice(rounds)[0]
        else:
            generator.choice(rounds).reverse()
        damaged = dataclasses.replace(
            schedule, rounds=tuple(Round("exchange", "", tuple(t)) for t in rounds)
        )
        right = oracle.is_right(json.loads(as_json(damaged)))
        harmless += right
        harmful += not right
    assert harmful > 50
    assert harmless > 50
