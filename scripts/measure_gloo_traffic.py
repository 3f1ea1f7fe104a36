#!/usr/bin/env python3
"""Count what every rank writes to its sockets in each collective of Gloo, and name the algorithm.

How it counts: the Linux kernel keeps, for every TCP connection, the number of bytes that the other
side has acknowledged (TCP_INFO, tcpi_bytes_acked). Every rank finds its own connections below
/proc/self/fd and reads that number before and after the call, from inside its own process and
without special rights. Ranks wait for one another through the store, whose connections lead to the
parent process and are not counted.

What is subtracted: Gloo puts a header of 48 bytes before every message, and two more headers go
with it, "a send is waiting" the same way and "a receive is waiting" the other way. So between two
ranks a and b

    written(a -> b) = payload(a -> b) + 48 (2 messages(a -> b) + messages(b -> a)).

The call is measured with M and with 2 M, which take the same number of messages, as neither is cut
into more segments. The slope is then the payload in M, exactly; what is left at M = 0 gives the
number of messages, which must be whole. A third, larger M, which may be cut into more segments,
must have the same payload.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from collectives.primitives import PRIMITIVES
from gloo_traffic import LATE, Pairs, matches, sent_by_rank, told_apart, twins

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "assets" / "gloo_traffic.json"

RANKS = range(2, 9)
HEADER = 48
"""sizeof(Op::preamble) in gloo/transport/tcp/pair.h: six words of eight bytes."""

SIZES = (1, 2, 40)
"""M in units of `unit(N)` elements: two that Gloo cuts alike, and a large one."""

PATIENCE = timedelta(seconds=60)
QUIET = 1.0
"""Seconds without a byte after which the others are held by the late rank."""

Start = Callable[[bool], Any]
"""Starts one collective: argument async_op, result the work, if any."""


class MeasurementError(Exception):
    """The counted bytes do not add up; the message is one Chinese sentence."""


# ------------------------------------------------------------------------------------ the calls


class Call(NamedTuple):
    """One function of torch.distributed.

    Attributes:
        primitive: the slug of the primitive that it carries out.
        prepare: (rank, N, elements of M) -> a function that starts the collective.
    """

    primitive: str
    prepare: Callable[[int, int, int], Start]


def _broadcast(rank: int, n: int, elements: int) -> Start:
    tensor = torch.ones(elements)
    return lambda later: dist.broadcast(tensor, src=0, async_op=later)


def _scatter(rank: int, n: int, elements: int) -> Start:
    mine = torch.zeros(elements // n)
    chunks = list(torch.ones(elements).chunk(n)) if rank == 0 else None
    return lambda later: dist.scatter(mine, chunks, src=0, async_op=later)


def _gather(rank: int, n: int, elements: int) -> Start:
    mine = torch.ones(elements // n)
    chunks = list(torch.zeros(elements).chunk(n)) if rank == 0 else None
    return lambda later: dist.gather(mine, chunks, dst=0, async_op=later)


def _reduce(rank: int, n: int, elements: int) -> Start:
    tensor = torch.ones(elements)
    return lambda later: dist.reduce(tensor, dst=0, async_op=later)


def _all_gather(rank: int, n: int, elements: int) -> Start:
    mine, chunks = torch.ones(elements // n), list(torch.zeros(elements).chunk(n))
    return lambda later: dist.all_gather(chunks, mine, async_op=later)


def _all_gather_single(rank: int, n: int, elements: int) -> Start:
    mine, whole = torch.ones(elements // n), torch.zeros(elements)
    return lambda later: dist.all_gather_single(whole, mine, async_op=later)


def _reduce_scatter(rank: int, n: int, elements: int) -> Start:
    mine, chunks = torch.zeros(elements // n), list(torch.ones(elements).chunk(n))
    return lambda later: dist.reduce_scatter(mine, chunks, async_op=later)


def _reduce_scatter_single(rank: int, n: int, elements: int) -> Start:
    mine, whole = torch.zeros(elements // n), torch.ones(elements)
    return lambda later: dist.reduce_scatter_single(mine, whole, async_op=later)


def _all_reduce(rank: int, n: int, elements: int) -> Start:
    tensor = torch.ones(elements)
    return lambda later: dist.all_reduce(tensor, async_op=later)


def _all_to_all(rank: int, n: int, elements: int) -> Start:
    out, received = torch.ones(elements).chunk(n), torch.zeros(elements).chunk(n)
    return lambda later: dist.all_to_all(list(received), list(out), async_op=later)


def _all_to_all_single(rank: int, n: int, elements: int) -> Start:
    out, received = torch.ones(elements), torch.zeros(elements)
    return lambda later: dist.all_to_all_single(received, out, async_op=later)


CALLS: dict[str, Call] = {
    "broadcast": Call("broadcast", _broadcast),
    "scatter": Call("scatter", _scatter),
    "gather": Call("gather", _gather),
    "reduce": Call("reduce", _reduce),
    "all_gather": Call("allgather", _all_gather),
    "all_gather_single": Call("allgather", _all_gather_single),
    "reduce_scatter": Call("reducescatter", _reduce_scatter),
    "reduce_scatter_single": Call("reducescatter", _reduce_scatter_single),
    "all_reduce": Call("allreduce", _all_reduce),
    "all_to_all": Call("alltoall", _all_to_all),
    "all_to_all_single": Call("alltoall", _all_to_all_single),
}
"""Every collective of torch.distributed that Gloo runs, by the name of the function."""


def unit(n: int) -> int:
    """About 8192 elements, divisible by 2 N squared, so that N slices of 2 N segments come out."""
    return 8192 // (2 * n * n) * 2 * n * n


# ------------------------------------------------------------------------------- inside a rank


class Connection:
    """The TCP connection to one other rank, read beside Gloo, which goes on using it."""

    def __init__(self, own: socket.socket) -> None:
        self.own = own
        self.local: list[Any] = list(own.getsockname()[:2])
        self.remote: list[Any] = list(own.getpeername()[:2])

    def acknowledged(self) -> tuple[int, int]:
        """Bytes the other side has acknowledged so far, and bytes received from it."""
        info = self.own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
        acked, received = struct.unpack_from("=QQ", info, 120)
        return acked, received

    def settled(self) -> tuple[int, int]:
        """The same, once nothing that was written is still on its way."""
        deadline = time.monotonic() + PATIENCE.total_seconds()
        while True:
            info = self.own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
            (unacknowledged,) = struct.unpack_from("=I", info, 24)
            (unsent,) = struct.unpack_from("=I", info, 144)
            if unacknowledged == unsent == 0:
                return self.acknowledged()
            if time.monotonic() > deadline:
                raise MeasurementError(f"发往 {self.remote} 的字节一直没有被确认")
            time.sleep(0.001)


def tcp_connections() -> list[Connection]:
    """Every connected TCP socket of this process."""
    found = []
    for entry in list(Path("/proc/self/fd").iterdir()):
        try:
            if not entry.readlink().name.startswith("socket:"):
                continue
            own = socket.socket(fileno=os.dup(int(entry.name)))
        except OSError:
            continue  # Closed while we were looking.
        internet = own.family in (socket.AF_INET, socket.AF_INET6)
        with suppress(OSError):  # A socket that listens has nobody at the other end.
            if internet and own.type == socket.SOCK_STREAM:
                found.append(Connection(own))
                continue
        own.close()
    return found


class Rank:
    """One rank: its connections to the others, and how it waits for them."""

    def __init__(self, rank: int, n: int, store: Any) -> None:
        self.rank, self.n, self.store = rank, n, store
        self.meetings = itertools.count()
        connections = tcp_connections()
        store.set(f"addresses/{rank}", json.dumps([c.local for c in connections]))
        owner = {
            tuple(address): other
            for other in range(n)
            if other != rank
            for address in json.loads(store.get(f"addresses/{other}"))
        }
        self.peers = {owner[tuple(c.remote)]: c for c in connections if tuple(c.remote) in owner}
        if sorted(self.peers) != [other for other in range(n) if other != rank]:
            raise MeasurementError(f"rank {rank} 没有找到与每个 rank 的连接，只有 {self.peers}")

    def meet(self) -> None:
        """Wait until all ranks are here, without using a connection that is counted."""
        key = f"meeting/{next(self.meetings)}"
        if self.store.add(key, 1) == self.n:
            self.store.set(f"{key}/all", "")
        self.store.wait([f"{key}/all"], PATIENCE)

    def settled(self) -> dict[int, tuple[int, int]]:
        """For each other rank: bytes written to it and read from it so far."""
        return {other: connection.settled() for other, connection in self.peers.items()}

    def count(self, start: Start) -> dict[int, tuple[int, int]]:
        """Run a collective; bytes written to and read from each other rank meanwhile."""
        self.meet()
        before = self.settled()
        self.meet()
        start(False)
        self.meet()
        after = self.settled()
        return {
            other: (after[other][0] - before[other][0], after[other][1] - before[other][1])
            for other in self.peers
        }

    def count_without_the_late_one(self, start: Start) -> dict[int, int]:
        """Bytes written to each other rank while rank LATE, which comes later, is missing."""
        self.meet()
        before = {other: written for other, (written, _) in self.settled().items()}
        self.meet()

        def so_far() -> dict[int, int]:
            return {
                other: connection.acknowledged()[0] - before[other]
                for other, connection in self.peers.items()
            }

        work = None if self.rank == LATE else start(True)
        last, since = so_far(), time.monotonic()
        while time.monotonic() - since < QUIET:
            time.sleep(0.02)
            now = so_far()
            if now != last:
                last, since = now, time.monotonic()
        self.meet()
        # Only now has every rank, the slowest included, been quiet for a while.
        last = so_far()
        self.meet()
        if work is None:
            work = start(True)
        work.wait()
        return last


def _worker(rank: int, n: int, port: int) -> None:
    """Measure every call, and leave the numbers of this rank in the store."""
    torch.set_num_threads(1)
    store = dist.TCPStore("127.0.0.1", port, timeout=PATIENCE, use_libuv=False)
    dist.init_process_group("gloo", rank=rank, world_size=n, store=store, timeout=PATIENCE)
    me = Rank(rank, n, store)
    report: dict[str, Any] = {}
    for name, call in CALLS.items():
        report[name] = {
            "sizes": [me.count(call.prepare(rank, n, size * unit(n))) for size in SIZES]
        }
        if n > 2 and twins(call.primitive, RANKS):
            start = call.prepare(rank, n, SIZES[0] * unit(n))
            report[name]["early"] = me.count_without_the_late_one(start)
    store.set(f"report/{rank}", json.dumps(report))
    dist.destroy_process_group()


# ------------------------------------------------------------------------------ the arithmetic

Written = dict[tuple[int, int], int]
"""(sender, receiver) -> bytes on the connection between them."""


def split(
    written: Sequence[Written], sizes: Sequence[int]
) -> tuple[Pairs, dict[tuple[int, int], int]]:
    """Part payload and headers.

    Args:
        written: the bytes for each of three sizes of M.
        sizes: these three in bytes; the first two differ, and are cut into as many messages.

    Returns:
        The payload of each pair in M, and the number of messages that carried it.

    Raises:
        MeasurementError: the numbers are not payload in proportion to M plus whole messages.
    """
    (small, double, large), (m, m2, m3) = written, sizes

    def messages(rest: dict[tuple[int, int], Fraction], a: int, b: int) -> Fraction:
        return (2 * rest[a, b] - rest[b, a]) / (3 * HEADER)

    pairs = {pair: Fraction(double[pair] - small[pair], m2 - m) for pair in small}
    counts: dict[tuple[int, int], int] = {}
    for bytes_written, size in ((small, m), (large, m3)):
        rest = {pair: bytes_written[pair] - pairs[pair] * size for pair in small}
        found = {(a, b): messages(rest, a, b) for a, b in small}
        for pair, count in found.items():
            if count.denominator != 1 or count < 0 or (count > 0) != (pairs[pair] > 0):
                raise MeasurementError(
                    f"rank {pair[0]} 写给 rank {pair[1]} 的字节无法分成数据和消息头："
                    f"M 为 {m}、{m2}、{m3} 字节时写了 {small[pair]}、{double[pair]}、"
                    f"{large[pair]} 字节"
                )
        counts = counts or {pair: int(count) for pair, count in found.items()}
    return (
        {pair: amount for pair, amount in pairs.items() if amount},
        {pair: count for pair, count in counts.items() if count},
    )


class Measured(NamedTuple):
    """One call at one N.

    Attributes:
        pairs: payload between two ranks, in M.
        messages: how many messages carried it, at the smallest M.
        finished: the pairs that finished before rank LATE came; None where it was not tried.
    """

    pairs: Pairs
    messages: dict[tuple[int, int], int]
    finished: set[tuple[int, int]] | None


def measure(n: int) -> dict[str, Measured]:
    """Run all calls with N ranks on this machine and return what they sent, by call.

    Raises:
        MeasurementError: the counted bytes do not add up.
    """
    if sys.platform != "linux":
        raise MeasurementError("只能在 Linux 上测：字节数取自内核的 TCP_INFO")
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(_worker, args=(n, store.port), nprocs=n, join=True)
    reports = [json.loads(store.get(f"report/{rank}")) for rank in range(n)]
    sizes = [size * unit(n) * torch.float32.itemsize for size in SIZES]
    ranks = range(n)
    result = {}
    for name in CALLS:
        written = []
        for index in range(len(SIZES)):
            counted = [reports[rank][name]["sizes"][index] for rank in ranks]
            for a, b in itertools.permutations(ranks, 2):
                if counted[a][str(b)][0] != counted[b][str(a)][1]:
                    raise MeasurementError(f"rank {a} 写给 rank {b} 的字节与后者读到的不等：{name}")
            written.append(
                {(a, b): counted[a][str(b)][0] for a, b in itertools.permutations(ranks, 2)}
            )
        pairs, messages = split(written, sizes)
        finished = None
        if "early" in reports[0][name]:
            finished = {
                (a, b)
                for (a, b), amount in pairs.items()
                if reports[a][name]["early"][str(b)] >= amount * sizes[0]
            }
        result[name] = Measured(pairs, messages, finished)
    return result


def record(measured: dict[int, dict[str, Measured]]) -> dict[str, Any]:
    """What is written to the file: for each call the numbers and the name that they single out."""
    calls: dict[str, Any] = {}
    for name, call in CALLS.items():
        by_ranks = {n: results[name] for n, results in measured.items()}
        same = matches(call.primitive, {n: result.pairs for n, result in by_ranks.items()})
        finished = {n: r.finished for n, r in by_ranks.items() if r.finished is not None}
        named = told_apart(same, finished) if len(same) > 1 else same
        calls[name] = {
            "primitive": call.primitive,
            "same_traffic": [match.algorithm for match in same],
            "algorithm": named[0].algorithm if len(named) == 1 else None,
            "mirrored": len(named) == 1 and named[0].mirrored,
            "ranks": {str(n): as_data(result) for n, result in by_ranks.items()},
        }
        if len(same) < 2:
            for entry in calls[name]["ranks"].values():
                entry.pop("finished_without", None)
    return {
        "date": date.today().isoformat(),
        "torch": torch.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
        "header": HEADER,
        "late": LATE,
        "calls": calls,
    }


def as_data(result: Measured) -> dict[str, Any]:
    """One call at one N as JSON holds it; pairs are [sender, receiver, payload in M, messages]."""
    data: dict[str, Any] = {
        "pairs": [
            [a, b, str(amount), result.messages[a, b]]
            for (a, b), amount in sorted(result.pairs.items())
        ]
    }
    if result.finished is not None:
        data["finished_without"] = sorted(map(list, result.finished))
    return data


def as_text(data: dict[str, Any]) -> str:
    """JSON with one line for each call and N, so that a change is a line of the diff."""
    calls = []
    for name, call in data["calls"].items():
        head = ",\n   ".join(
            f"{json.dumps(key)}: {json.dumps(value)}"
            for key, value in call.items()
            if key != "ranks"
        )
        rows = ",\n    ".join(
            f"{json.dumps(n)}: {json.dumps(entry, separators=(',', ':'))}"
            for n, entry in call["ranks"].items()
        )
        ranks = f'"ranks": {{\n    {rows}\n   }}'
        calls.append(f"  {json.dumps(name)}: {{\n   {head},\n   {ranks}\n  }}")
    head = ",\n ".join(
        f"{json.dumps(key)}: {json.dumps(value)}" for key, value in data.items() if key != "calls"
    )
    return f'{{\n {head},\n "calls": {{\n' + ",\n".join(calls) + "\n }\n}\n"


def summary(data: dict[str, Any]) -> str:
    """One line for each call: the algorithm, and what each rank sends at the largest N."""
    lines = []
    for name, call in data["calls"].items():
        n, entry = list(call["ranks"].items())[-1]
        pairs = {(a, b): Fraction(amount) for a, b, amount, _ in entry["pairs"]}
        sent = "、".join(map(str, sent_by_rank(pairs, int(n))))
        mirror = "（方向相反）" if call["mirrored"] else ""
        algorithm = call["algorithm"] or "登记表里没有相符的算法"
        title = PRIMITIVES[call["primitive"]].title_en
        lines.append(
            f"{name}（{title}）：{algorithm}{mirror}；N = {n} 时各 rank 发 {sent}（单位 M）"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Command line.

    Returns:
        0; 1 when the counted bytes do not add up.
    """
    parser = argparse.ArgumentParser(
        description="数 Gloo 的每个集合通信让各 rank 往套接字里写了多少字节，并认出是哪个算法。"
        "只在 Linux 上能用。"
    )
    parser.add_argument(
        "--ranks", type=int, nargs="+", choices=RANKS, metavar="N",
        help="只测这几个 N，只打印，不写文件",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, default=RESULTS, help="写到哪个文件")
    options = parser.parse_args(arguments)
    measured = {}
    try:
        for n in options.ranks or RANKS:
            print(f"测 N = {n}", flush=True)
            measured[n] = measure(n)
    except MeasurementError as error:
        print(f"measure_gloo_traffic.py：{error}", file=sys.stderr)
        return 1
    data = record(measured)
    print(summary(data))
    if not options.ranks:
        options.output.write_text(as_text(data), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
