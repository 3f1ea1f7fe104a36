"""The tables of algorithms show counted numbers, at the N that the reader chose in the player."""

from __future__ import annotations

import pytest

from collectives.algorithms import algorithms_of
from collectives.cost import count_cost
from collectives.primitives import PRIMITIVES
from schedule_macros import size


def counted(primitive: str, n: int) -> list[str]:
    """What the table must show at N: rounds, busiest port, reductions, most sent; bounds last."""
    entry = PRIMITIVES[primitive]
    texts = []
    for algorithm in algorithms_of(primitive):
        if not algorithm.valid_ranks(range(n, n + 1)):
            texts += [f"不支持 N = {n}"] * (4 if entry.reduces else 3)
            continue
        cost = count_cost(algorithm.schedule(n))
        texts += [str(cost.rounds), size(cost.beta)]
        texts += [size(cost.gamma)] if entry.reduces else []
        texts.append(size(cost.max_sent))
    bound = entry.lower_bound(n)
    texts += [str(bound.rounds), size(bound.beta)]
    return texts + ([size(bound.gamma)] if entry.reduces else [])


@pytest.mark.parametrize("primitive", PRIMITIVES)
def test_the_table_shows_what_is_counted_and_follows_the_reader(primitive, visit):
    page = visit(f"primitives/{primitive}/")
    page.wait_for_selector("collective-player[ready]")
    shown = page.locator("[data-counted]")
    assert shown.all_inner_texts() == counted(primitive, 4)
    page.get_by_role("button", name="增加 GPU").first.click()
    page.wait_for_function("document.querySelector('[data-chosen-ranks]').textContent === '5'")
    assert shown.all_inner_texts() == counted(primitive, 5)


def test_a_link_to_another_n_shows_its_numbers_at_once(visit):
    page = visit("primitives/allreduce/#op=allreduce&algo=ring&n=12")
    page.wait_for_function("document.querySelector('[data-chosen-ranks]').textContent === '12'")
    assert page.locator("[data-counted]").all_inner_texts() == counted("allreduce", 12)


def test_without_scripts_the_numbers_at_four_ranks_are_there(visit):
    page = visit("primitives/alltoall/", javascript=False)
    assert page.locator("[data-counted]").all_inner_texts() == counted("alltoall", 4)
