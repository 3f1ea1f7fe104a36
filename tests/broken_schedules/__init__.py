"""Schedules that are wrong, each with the rule that must refuse it.

Most are mistakes that were really made: in tutorials, in animations, in first drafts of our own.
The same corpus is given to the player's checks in JavaScript (as JSON, by `as_json`).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from collectives.algorithms import REGISTRY
from collectives.primitives import ALLREDUCE, ALLTOALL, PRIMITIVES, REDUCESCATTER
from collectives.schedule import COPY, REDUCE, Buffer, Round, Schedule, Transfer


class BrokenSchedule(NamedTuple):
    """A wrong schedule.

    Attributes:
        rule: the rule of ProofError that must refuse it.
        round: the round that must be named, counted from 1; None when no round is to blame.
        schedule: the schedule itself.
    """

    rule: str
    round: int | None
    schedule: Schedule


CORPUS: dict[str, BrokenSchedule] = {}
"""Name -> broken schedule."""


def _broken(rule: str, round: int | None = None) -> Callable[[Callable[[], Schedule]], None]:
    def add(build: Callable[[], Schedule]) -> None:
        CORPUS[build.__name__] = BrokenSchedule(rule, round, build())

    return add


def _own(primitive: str, n: int, rounds: list[list[Transfer]], **changes: Any) -> Schedule:
    entry = PRIMITIVES[primitive]
    blocks = changes.pop("blocks", entry.blocks(n))
    schedule = Schedule(
        primitive,
        "broken",
        n,
        0 if entry.rooted else None,
        "single",
        blocks,
        entry.buffers(n, blocks),
        "ring",
        tuple(Round("exchange", "", tuple(transfers)) for transfers in rounds),
    )
    return dataclasses.replace(schedule, **changes)


def _changed(
    name: str, n: int, change: Callable[[list[list[Transfer]]], None], root: int = 0
) -> Schedule:
    schedule = REGISTRY[name].schedule(n, root)
    rounds = [list(round_.transfers) for round_ in schedule.rounds]
    change(rounds)
    return dataclasses.replace(
        schedule,
        rounds=tuple(
            Round(schedule.rounds[min(index, len(schedule.rounds) - 1)].phase, "", tuple(transfers))
            for index, transfers in enumerate(rounds)
        ),
    )


# ------------------------------------------------------- mistakes that tutorials and tools made


@_broken("end-state")
def ring_reduce_scatter_that_ends_at_the_next_rank() -> Schedule:
    """The ring of many tutorials: rank r first sends chunk r, so chunk r+1 is complete on r."""
    n, blocks = 4, 4
    work = Buffer("scratch", "scratch", blocks)
    clone = [Transfer(r, r, COPY, "input_list", 0, "scratch", 0, blocks) for r in range(n)]
    rounds = [clone]
    for t in range(n - 1):
        rounds.append(
            [
                Transfer(r, (r + 1) % n, REDUCE, "scratch", (r - t) % n, "scratch", (r - t) % n)
                for r in range(n)
            ]
        )
    rounds.append([Transfer(r, r, COPY, "scratch", (r + 1) % n, "output", 0) for r in range(n)])
    own = REDUCESCATTER.buffers(n, blocks)
    return _own("reducescatter", n, rounds, blocks=blocks, buffers=(*own, work))


@_broken("end-state")
def ring_allreduce_whose_allgather_is_off_by_one() -> Schedule:
    """Reduce-scatter that ends at r, allgather that believes in r+1: partial sums spread."""
    n = 4
    rounds = [
        [
            Transfer(r, (r + 1) % n, REDUCE, "tensor", (r - t) % n, "tensor", (r - t) % n)
            for r in range(n)
        ]
        for t in range(1, n)
    ]
    rounds += [
        [
            Transfer(r, (r + 1) % n, COPY, "tensor", (r + 1 - t) % n, "tensor", (r + 1 - t) % n)
            for r in range(n)
        ]
        for t in range(n - 1)
    ]
    return _own("allreduce", n, rounds)


@_broken("double-count", 2)
def exchange_done_one_after_the_other() -> Schedule:
    """In place, rank 0 adds rank 1's vector, then returns the sum: rank 1 counts twice."""
    return _own(
        "allreduce",
        2,
        [
            [Transfer(1, 0, REDUCE, "tensor", 0, "tensor", 0, 2)],
            [Transfer(0, 1, REDUCE, "tensor", 0, "tensor", 0, 2)],
        ],
    )


@_broken("double-count", 3)
def dissemination_sum_for_six_ranks() -> Schedule:
    """Everyone adds r + 1, r + 2, r + 4 (mod 6): right for a maximum, wrong for a sum."""
    n = 6
    return _own(
        "allreduce",
        n,
        [
            [Transfer((r + d) % n, r, REDUCE, "tensor", 0, "tensor", 0, n) for r in range(n)]
            for d in (1, 2, 4)
        ],
    )


@_broken("end-state")
def recursive_doubling_for_six_ranks_without_the_fold() -> Schedule:
    """Partners r XOR d that do not exist are skipped, and their contributions are lost."""
    n = 6
    return _own(
        "allreduce",
        n,
        [
            [Transfer(r, r ^ d, REDUCE, "tensor", 0, "tensor", 0, n) for r in range(n) if r ^ d < n]
            for d in (1, 2, 4)
        ],
    )


@_broken("rank-range", 2)
def recursive_doubling_for_six_ranks_that_calls_rank_six() -> Schedule:
    """The same without the check for partners that do not exist."""
    n = 6
    return _own(
        "allreduce",
        n,
        [
            [Transfer(r, r ^ d, REDUCE, "tensor", 0, "tensor", 0, n) for r in range(n)]
            for d in (1, 2, 4)
        ],
    )


@_broken("end-state")
def xor_pairs_for_six_ranks() -> Schedule:
    """All-to-All by r XOR i for i = 1..N-1: for N = 6 some pairs never meet."""
    n = 6
    blocks = ALLTOALL.blocks(n)
    size = blocks // n
    rounds = [
        [
            Transfer(
                r, r ^ i, COPY, "input_tensor", (r ^ i) * size, "output_tensor", r * size, size
            )
            for r in range(n)
            if r ^ i < n
        ]
        for i in range(1, n)
    ]
    rounds[0] += [
        Transfer(r, r, COPY, "input_tensor", r * size, "output_tensor", r * size, size)
        for r in range(n)
    ]
    return _own("alltoall", n, rounds)


@_broken("end-state")
def bruck_allgather_without_its_rotation() -> Schedule:
    """Bruck collects chunks r, r+1, r+2, ...; without the rotation they stay so."""
    n = 4
    size = 2
    first = [Transfer(r, r, COPY, "my_chunk", 0, "gather_list", 0, size) for r in range(n)]
    rounds = [first]
    for d in (1, 2):
        rounds.append(
            [
                Transfer(r, (r - d) % n, COPY, "gather_list", 0, "gather_list", d * size, d * size)
                for r in range(n)
            ]
        )
    return _own("allgather", n, rounds)


@_broken("port-limit", 1)
def one_shot_allreduce_on_a_single_port() -> Schedule:
    """Everyone sends to everyone in one round, but claims one port."""
    n = 4
    return _own(
        "allreduce",
        n,
        [
            [
                Transfer(r, s, REDUCE, "tensor", 0, "tensor", 0, n)
                for r in range(n)
                for s in range(n)
                if r != s
            ]
        ],
    )


@_broken("port-limit", 1)
def gather_in_one_round_on_a_single_port() -> Schedule:
    """The root receives from three ranks at once."""
    return _own(
        "gather",
        4,
        [[Transfer(r, 0, COPY, "my_chunk", 0, "gather_list", 2 * r, 2) for r in range(4)]],
    )


# --------------------------------------------------------------- one transfer damaged at a time


@_broken("end-state")
def dropped_transfer() -> Schedule:
    """The last round of a ring loses one of its transfers."""

    def drop(rounds: list[list[Transfer]]) -> None:
        del rounds[-1][-1]

    return _changed("allreduce/ring", 4, drop)


@_broken("undefined-read", 2)
def dropped_transfer_that_others_build_on() -> Schedule:
    """Binomial broadcast whose first transfer is lost: the second round sends undefined data."""

    def drop(rounds: list[list[Transfer]]) -> None:
        rounds[0] = [Transfer(0, 2, COPY, "tensor", 0, "tensor", 0, 3)]

    return _changed("broadcast/binomial", 4, drop)


@_broken("double-count", 2)
def doubled_transfer() -> Schedule:
    """A flat reduce adds the first rank a second time."""
    return _changed("reduce/flat", 4, lambda rounds: rounds.insert(1, rounds[0]))


@_broken("write-race", 1)
def the_same_copy_twice_in_a_round() -> Schedule:
    """Two writes to one block, even of the same value, are a race."""
    return _changed("broadcast/binomial", 4, lambda rounds: rounds[0].append(rounds[0][0]))


@_broken("write-race", 2)
def copy_and_reduce_into_one_block() -> Schedule:
    """While the neighbour's part is added, the own block is overwritten."""

    def add(rounds: list[list[Transfer]]) -> None:
        target = rounds[1][0]
        rounds[1].append(
            Transfer(
                target.dst,
                target.dst,
                COPY,
                "input_list",
                0,
                target.to_buffer,
                0,
                target.blocks,
            )
        )

    return _changed("reducescatter/ring", 4, add)


@_broken("end-state")
def misdirected_transfer() -> Schedule:
    """The last transfer of a flat scatter goes to a rank that has its chunk already."""

    def misdirect(rounds: list[list[Transfer]]) -> None:
        rounds[-1][0] = rounds[-1][0]._replace(dst=1)

    return _changed("scatter/flat", 4, misdirect)


@_broken("end-state")
def chunks_to_the_wrong_ranks() -> Schedule:
    """A flat scatter with two chunks exchanged."""

    def exchange(rounds: list[list[Transfer]]) -> None:
        first, second = rounds[1][0], rounds[2][0]
        rounds[1][0] = first._replace(dst=second.dst)
        rounds[2][0] = second._replace(dst=first.dst)

    return _changed("scatter/flat", 4, exchange)


@_broken("undefined-read", 1)
def reordered_rounds() -> Schedule:
    """Binomial broadcast with its rounds the other way round."""
    return _changed("broadcast/binomial", 4, lambda rounds: rounds.reverse())


@_broken("undefined-read", 1)
def rounds_merged_into_one() -> Schedule:
    """Forwarding what arrives only in the same round."""

    def merge(rounds: list[list[Transfer]]) -> None:
        rounds[:] = [rounds[0] + [rounds[1][1]]]

    return _changed("broadcast/binomial", 4, merge)


@_broken("end-state")
def copy_where_a_reduction_belongs() -> Schedule:
    """The last reduction of a binomial reduce overwrites the root's sum."""

    def overwrite(rounds: list[list[Transfer]]) -> None:
        rounds[-1] = [transfer._replace(op=COPY) for transfer in rounds[-1]]

    return _changed("reduce/binomial", 4, overwrite)


@_broken("mixed-blocks", 1)
def sum_of_two_different_blocks() -> Schedule:
    """Block 0 of one rank is added to block 1 of another."""

    def shift(rounds: list[list[Transfer]]) -> None:
        rounds[0][0] = rounds[0][0]._replace(from_offset=0, to_offset=1)

    return _changed("allreduce/ring", 4, shift)


@_broken("undefined-read", 1)
def reduction_into_an_undefined_buffer() -> Schedule:
    """Adding to an output that nobody has filled."""
    n = 2
    return _own(
        "reducescatter",
        n,
        [[Transfer(r, 1 - r, REDUCE, "input_list", 2 * (1 - r), "output", 0, 2) for r in range(n)]],
    )


@_broken("undefined-read", 4)
def send_of_a_buffer_that_nobody_filled() -> Schedule:
    """A complete allgather, and then one round that sends scratch nobody wrote."""
    n = 4

    def send(rounds: list[list[Transfer]]) -> None:
        rounds.append(
            [Transfer(r, (r + 1) % n, COPY, "scratch", 0, "gather_list", 0) for r in range(n)]
        )

    schedule = _changed("allgather/ring", n, send)
    return dataclasses.replace(
        schedule, buffers=(*schedule.buffers, Buffer("scratch", "scratch", 1))
    )


@_broken("unknown-buffer", 1)
def buffer_that_only_the_root_has() -> Schedule:
    """A rank without gather_list is asked to receive into it."""
    return _own("gather", 4, [[Transfer(1, 2, COPY, "my_chunk", 0, "gather_list", 2, 2)]])


@_broken("unknown-buffer", 1)
def buffer_that_nobody_declared() -> Schedule:
    """A name that the file does not declare."""
    return _own("allreduce", 2, [[Transfer(0, 1, REDUCE, "tensor", 0, "temp", 0, 2)]])


@_broken("offset-range", 1)
def blocks_past_the_end_of_a_buffer() -> Schedule:
    """Three blocks from the last one on."""
    return _own("allreduce", 4, [[Transfer(0, 1, REDUCE, "tensor", 3, "tensor", 3, 3)]])


@_broken("offset-range", 1)
def blocks_before_the_start_of_a_buffer() -> Schedule:
    """Offset -1, which Python would read as the last block."""
    return _own("allreduce", 4, [[Transfer(0, 1, REDUCE, "tensor", -1, "tensor", -1)]])


@_broken("offset-range", 1)
def transfer_of_nothing() -> Schedule:
    """A transfer of zero blocks."""
    return _own("allreduce", 4, [[Transfer(0, 1, REDUCE, "tensor", 0, "tensor", 0, 0)]])


@_broken("rank-range", 1)
def rank_that_does_not_exist() -> Schedule:
    """Rank N in a group of N."""
    return _own("allreduce", 4, [[Transfer(0, 4, REDUCE, "tensor", 0, "tensor", 0)]])


@_broken("rank-range", 1)
def negative_rank() -> Schedule:
    """Rank -1, the left neighbour of rank 0 when one forgets the modulus."""
    return _own("allreduce", 4, [[Transfer(-1, 0, REDUCE, "tensor", 0, "tensor", 0)]])


@_broken("end-state")
def no_rounds_at_all() -> Schedule:
    """Nothing happens, so nothing is reduced."""
    return _own("allreduce", 4, [])


@_broken("format")
def root_where_there_is_none() -> Schedule:
    """AllReduce has no root."""
    return dataclasses.replace(REGISTRY["allreduce/ring"].schedule(4), root=0)


@_broken("format")
def root_out_of_range() -> Schedule:
    """Root 4 of 4 ranks."""
    return dataclasses.replace(REGISTRY["reduce/flat"].schedule(4), root=4)


@_broken("format")
def missing_buffer_of_the_primitive() -> Schedule:
    """ReduceScatter without its output."""
    schedule = REGISTRY["reducescatter/ring"].schedule(4)
    return dataclasses.replace(schedule, buffers=schedule.buffers[:1])


@_broken("format")
def blocks_that_do_not_divide_among_the_ranks() -> Schedule:
    """Nine blocks for four ranks."""
    return dataclasses.replace(REGISTRY["allgather/ring"].schedule(4), blocks=9)


@_broken("format")
def single_rank() -> Schedule:
    """One rank alone has nobody to talk to."""
    return _own("allreduce", 2, [], ranks=1, blocks=1, buffers=ALLREDUCE.buffers(1, 1))


@_broken("format")
def unknown_primitive() -> Schedule:
    """A primitive that is none of the eight."""
    return dataclasses.replace(REGISTRY["allreduce/ring"].schedule(4), primitive="allsum")


def as_json(schedule: Schedule) -> str:
    """Write a schedule that was not proved, for readers that must refuse it."""
    return json.dumps(
        {
            "format": "collective-schedule",
            "version": 1,
            "primitive": schedule.primitive,
            "algorithm": schedule.algorithm,
            "ranks": schedule.ranks,
            "root": schedule.root,
            "ports": schedule.ports,
            "blocks": schedule.blocks,
            "buffers": {
                buffer.name: {
                    "role": buffer.role,
                    "blocks": buffer.blocks,
                    **({"on": "root"} if buffer.on_root_only else {}),
                }
                for buffer in schedule.buffers
            },
            "layout": schedule.layout,
            "rounds": [
                {
                    "phase": round_.phase,
                    "caption": round_.caption,
                    "transfers": [
                        {
                            "src": t.src,
                            "dst": t.dst,
                            "op": t.op,
                            "from": [t.from_buffer, t.from_offset],
                            "to": [t.to_buffer, t.to_offset],
                            "count": t.blocks,
                        }
                        for t in round_.transfers
                    ],
                }
                for round_ in schedule.rounds
            ],
        }
    )
