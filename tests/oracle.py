"""A replay with plain integers that shares no code with the prover: the judge in property tests.

It reads the JSON of a schedule, fills the buffers with large random numbers (and the undefined
ones with other random numbers), carries the rounds out literally, and compares what the ranks
hold with what the primitive is for. Random 60-bit numbers make a wrong result that looks right
practically impossible.
"""

from __future__ import annotations

import random
from typing import Any

Memory = list[dict[str, list[int]]]


def _random(generator: random.Random) -> int:
    return generator.getrandbits(60)


def _has(buffer: dict[str, Any], rank: int, root: int) -> bool:
    return buffer.get("on") != "root" or rank == root


def _start(data: dict[str, Any], generator: random.Random) -> Memory:
    root = data["root"] or 0
    return [
        {
            name: [_random(generator) for _ in range(buffer["blocks"])]
            for name, buffer in data["buffers"].items()
            if _has(buffer, rank, root)
        }
        for rank in range(data["ranks"])
    ]


def _expected(data: dict[str, Any], start: Memory) -> list[tuple[int, str, list[int]]]:
    """(rank, buffer, numbers) that must be there at the end, by the definition of the primitive."""
    n, blocks, root = data["ranks"], data["blocks"], data["root"] or 0
    size = blocks // n
    everyone = range(n)

    def total(buffer: str, position: int) -> int:
        return sum(start[rank][buffer][position] for rank in everyone)

    match data["primitive"]:
        case "broadcast":
            return [(rank, "tensor", list(start[root]["tensor"])) for rank in everyone]
        case "scatter":
            whole = start[root]["scatter_list"]
            return [
                (rank, "output_tensor", whole[rank * size : (rank + 1) * size]) for rank in everyone
            ]
        case "gather":
            whole = [number for rank in everyone for number in start[rank]["my_chunk"]]
            return [(root, "gather_list", whole)]
        case "allgather":
            whole = [number for rank in everyone for number in start[rank]["my_chunk"]]
            return [(rank, "gather_list", whole) for rank in everyone]
        case "reduce":
            return [(root, "tensor", [total("tensor", b) for b in range(blocks)])]
        case "allreduce":
            sums = [total("tensor", b) for b in range(blocks)]
            return [(rank, "tensor", sums) for rank in everyone]
        case "reducescatter":
            return [
                (
                    rank,
                    "output",
                    [total("input_list", b) for b in range(rank * size, (rank + 1) * size)],
                )
                for rank in everyone
            ]
        case "alltoall":
            return [
                (
                    rank,
                    "output_tensor",
                    [
                        number
                        for source in everyone
                        for number in start[source]["input_tensor"][rank * size : (rank + 1) * size]
                    ],
                )
                for rank in everyone
            ]
    raise AssertionError(f"unknown primitive {data['primitive']}")


def carry_out(data: dict[str, Any], memory: Memory) -> bool:
    """Carry the rounds out in place; False when a transfer cannot be carried out at all.

    Such a transfer (a rank, buffer or offset that does not exist) ends it there. Of two writes to
    one block the later one wins, as it might in reality.
    """
    for round_ in data["rounds"]:
        moves = []
        for transfer in round_["transfers"]:
            (source, first), (target, position) = transfer["from"], transfer["to"]
            count = transfer["count"]
            for rank, buffer, offset in (
                (transfer["src"], source, first),
                (transfer["dst"], target, position),
            ):
                if not 0 <= rank < data["ranks"] or buffer not in memory[rank]:
                    return False
                if count < 1 or offset < 0 or offset + count > len(memory[rank][buffer]):
                    return False
            numbers = memory[transfer["src"]][source][first : first + count]
            moves.append((transfer["dst"], target, position, transfer["op"], numbers))
        for rank, buffer, position, op, numbers in moves:
            for index, number in enumerate(numbers):
                if op == "reduce":
                    memory[rank][buffer][position + index] += number
                else:
                    memory[rank][buffer][position + index] = number
    return True


def random_memory(data: dict[str, Any], seed: int = 0) -> Memory:
    """Buffers full of random numbers, those that are undefined as well."""
    return _start(data, random.Random(seed))


def wrong_blocks(data: dict[str, Any], start: Memory, end: Memory) -> list[tuple[int, str, int]]:
    """(rank, buffer, block) of every block that the primitive wants otherwise, in that order."""
    return [
        (rank, buffer, block)
        for rank, buffer, numbers in _expected(data, start)
        for block, number in enumerate(numbers)
        if end[rank][buffer][block] != number
    ]


def is_right(data: dict[str, Any], seed: int = 0) -> bool:
    """Whether carrying out the schedule leaves the right numbers everywhere.

    Transfers that cannot be carried out at all make it wrong.
    """
    start, end = random_memory(data, seed), random_memory(data, seed)
    return carry_out(data, end) and not wrong_blocks(data, start, end)
