"""Count what a schedule costs: rounds, bytes on the busiest port, reductions.

All sizes are exact fractions of M, the size that nccl-tests reports for the primitive. Local moves
cost nothing. The closed forms beside the algorithms must equal what is counted here.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import NamedTuple

from collectives.schedule import REDUCE, Round, Schedule


class Cost(NamedTuple):
    """The cost fields of format v1.

    Attributes:
        rounds: rounds with at least one transfer between two ranks; the factor of alpha.
        beta: sum over rounds of the most that any rank sends or receives in it, in M.
        gamma: sum over rounds of the most that any rank reduces in it, in M.
        max_sent: the most that any one rank sends over all rounds, in M.
        total_sent: what all ranks send over all rounds, in M.
    """

    rounds: int
    beta: Fraction
    gamma: Fraction
    max_sent: Fraction
    total_sent: Fraction


class RoundCost(NamedTuple):
    """The largest amounts of one round in M: on a port, sent by a rank, reduced by a rank."""

    beta: Fraction
    sent: Fraction
    gamma: Fraction


def _count(round_: Round) -> tuple[dict[int, int], dict[int, int], dict[int, int]]:
    """Blocks sent, received and reduced per rank in one round."""
    sent: dict[int, int] = defaultdict(int)
    received: dict[int, int] = defaultdict(int)
    reduced: dict[int, int] = defaultdict(int)
    for src, dst, op, _, _, _, _, count in round_.transfers:
        if src != dst:
            sent[src] += count
            received[dst] += count
        if op == REDUCE:
            reduced[dst] += count
    return sent, received, reduced


def round_costs(schedule: Schedule) -> list[RoundCost]:
    """One entry per round, local rounds included (with zeros)."""
    costs = []
    for round_ in schedule.rounds:
        sent, received, reduced = _count(round_)
        most_sent = max(sent.values(), default=0)
        busiest = max(most_sent, max(received.values(), default=0))
        costs.append(
            RoundCost(
                Fraction(busiest, schedule.blocks),
                Fraction(most_sent, schedule.blocks),
                Fraction(max(reduced.values(), default=0), schedule.blocks),
            )
        )
    return costs


def count_cost(schedule: Schedule) -> Cost:
    """Count the whole schedule in whole blocks, then divide by the blocks of M once."""
    rounds = beta = gamma = total = 0
    sent_by_rank: dict[int, int] = defaultdict(int)
    for round_ in schedule.rounds:
        sent, received, reduced = _count(round_)
        if sent:
            rounds += 1
            beta += max(max(sent.values()), max(received.values()))
        gamma += max(reduced.values(), default=0)
        for rank, blocks in sent.items():
            sent_by_rank[rank] += blocks
            total += blocks
    return Cost(
        rounds,
        Fraction(beta, schedule.blocks),
        Fraction(gamma, schedule.blocks),
        Fraction(max(sent_by_rank.values(), default=0), schedule.blocks),
        Fraction(total, schedule.blocks),
    )
