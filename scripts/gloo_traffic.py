"""Which algorithm of the registry has the traffic that was measured on Gloo's sockets.

Pure: what was measured comes in, names go out. ``measure_gloo_traffic`` measures and records,
``gloo_macros`` shows, and both ask here, so that a name is never more than what the numbers say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

from collectives.algorithm import Algorithm
from collectives.algorithms import algorithms_of
from collectives.schedule import Schedule

LATE = 1
"""The rank that joins late where traffic alone leaves several algorithms."""

Pairs = dict[tuple[int, int], Fraction]
"""(sender, receiver) -> what goes from one to the other, in M; pairs without traffic left out."""


class Match(NamedTuple):
    """An algorithm whose counted traffic equals the measured one.

    ``mirrored`` says that it does so with rank r renamed to (N - r) mod N, which keeps rank 0: the
    same ring, walked the other way.
    """

    algorithm: str
    mirrored: bool


def pair_traffic(schedule: Schedule) -> Pairs:
    """Count what every rank sends to every other one, in M."""
    blocks: dict[tuple[int, int], int] = {}
    for round_ in schedule.rounds:
        for transfer in round_.transfers:
            if transfer.src != transfer.dst:
                pair = (transfer.src, transfer.dst)
                blocks[pair] = blocks.get(pair, 0) + transfer.blocks
    return {pair: Fraction(count, schedule.blocks) for pair, count in blocks.items()}


def sent_by_rank(pairs: Mapping[tuple[int, int], Fraction], ranks: int) -> list[Fraction]:
    """What each rank sends in all."""
    return [
        sum((amount for (src, _), amount in pairs.items() if src == rank), Fraction(0))
        for rank in range(ranks)
    ]


def mirrored(pairs: Mapping[tuple[int, int], Fraction], ranks: int) -> Pairs:
    """The same traffic with rank r renamed to (N - r) mod N."""
    return {((-src) % ranks, (-dst) % ranks): amount for (src, dst), amount in pairs.items()}


def finished_without(schedule: Schedule, late: int) -> set[tuple[int, int]]:
    """The pairs that have exchanged everything although rank ``late`` has not called yet.

    A rank goes through its rounds in order and is held by a round in which its partner does not
    take part; from then on it holds others. Within a round nobody waits for a third rank.
    """
    held = {late}
    total = pair_traffic(schedule)
    moved: dict[tuple[int, int], int] = {}
    for round_ in schedule.rounds:
        waiting = set()
        for transfer in round_.transfers:
            if transfer.src == transfer.dst:
                continue
            if transfer.src in held or transfer.dst in held:
                waiting |= {transfer.src, transfer.dst}
            else:
                pair = (transfer.src, transfer.dst)
                moved[pair] = moved.get(pair, 0) + transfer.blocks
        held |= waiting
    return {
        pair for pair, count in moved.items() if Fraction(count, schedule.blocks) == total[pair]
    }


def matches(primitive: str, measured: Mapping[int, Pairs]) -> list[Match]:
    """The algorithms of a primitive with exactly this traffic between every pair, for every N.

    Args:
        primitive: its slug.
        measured: N -> traffic, with root 0 where the primitive has one.
    """

    def same(algorithm: Algorithm, mirror: bool) -> bool:
        for n, pairs in measured.items():
            if not algorithm.rank_rule.allows(n):
                return False
            wanted = mirrored(pairs, n) if mirror else pairs
            if not any(
                pair_traffic(algorithm.schedule(n, **parameters)) == wanted
                for parameters in algorithm.combinations(n)
            ):
                return False
        return True

    found = []
    for algorithm in algorithms_of(primitive):
        for mirror in (False, True):
            if same(algorithm, mirror):
                found.append(Match(algorithm.name, mirror))
                break
    return found


def told_apart(found: Iterable[Match], finished: Mapping[int, set[tuple[int, int]]]) -> list[Match]:
    """Those of several matches that also do as much while rank LATE is missing.

    Args:
        found: what :func:`matches` returned; mirrored ones are not handled and never come up.
        finished: N -> the pairs that were seen to finish without rank LATE.
    """
    registry = {a.name: a for match in found for a in algorithms_of(match.algorithm.split("/")[0])}
    return [
        match
        for match in found
        if not match.mirrored
        and all(
            finished_without(registry[match.algorithm].schedule(n), LATE) == pairs
            for n, pairs in finished.items()
        )
    ]


def twins(primitive: str, ranks: Iterable[int]) -> bool:
    """Whether a one-port and a multi-port algorithm of a primitive have the same traffic.

    Then only what happens while a rank is late can tell which of them runs.
    """
    counted: dict[str, list[list[Pairs]]] = {"single": [], "multi": []}
    ranks = list(ranks)
    for algorithm in algorithms_of(primitive):
        if all(algorithm.rank_rule.allows(n) for n in ranks):
            counted[algorithm.ports].append([pair_traffic(algorithm.schedule(n)) for n in ranks])
    return any(traffic in counted["single"] for traffic in counted["multi"])
