"""Replay a schedule on symbolic contributions, and accept it only if it is right.

Every block carries where it comes from and whose contributions are in it, so a wrong schedule is
seen at the round, rank and block where it goes wrong. :func:`prove` is the only maker of a
:class:`ProvedSchedule`; nothing else may be written to a file. The player holds the same rules in
``docs/assets/js/replay.js``; tests keep the two in agreement on every published file and on the
corpus of broken schedules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collectives.primitives import PRIMITIVES, Block, Primitive
from collectives.schedule import COPY, REDUCE, Round, Schedule, Transfer

#: What every rank holds: per rank, buffer name -> one entry per block, ``None`` when undefined.
State = list[dict[str, list["Block | None"]]]

LAYOUTS = ("ring", "tree", "line", "groups")
PORTS = ("single", "multi")
ROLES = ("input", "output", "inout", "scratch")

#: Sizes past which a file is refused before anything is allocated for it.
MAX_RANKS = 1024
MAX_CELLS = 4_000_000


class ProofError(Exception):
    """A schedule is refused. ``str()`` is one Chinese sentence that says where and why.

    Attributes:
        rule: which rule is broken: ``format``, ``rank-range``, ``unknown-buffer``,
            ``offset-range``, ``port-limit``, ``undefined-read``, ``mixed-blocks``,
            ``double-count``, ``write-race`` or ``end-state``.
        round: the round it happens in, counted from 1, or ``None``.
        transfer: the transfer within the round, counted from 1, or ``None``.
        rank, buffer, block: the place, or ``None``; ``block`` is an offset into the buffer.
        expected, found: what the rule asks for and what is there, in words, or ``None``.
    """

    def __init__(
        self,
        rule: str,
        sentence: str,
        *,
        round: int | None = None,
        transfer: int | None = None,
        rank: int | None = None,
        buffer: str | None = None,
        block: int | None = None,
        expected: str | None = None,
        found: str | None = None,
    ) -> None:
        place = ""
        if round is not None:
            place = f"第 {round} 步"
            if transfer is not None:
                place += f"第 {transfer} 个传输"
            place += "："
        super().__init__(place + sentence)
        self.rule = rule
        self.round = round
        self.transfer = transfer
        self.rank = rank
        self.buffer = buffer
        self.block = block
        self.expected = expected
        self.found = found


_TOKEN = object()


@dataclass(frozen=True, init=False)
class ProvedSchedule:
    """A schedule that reached the end state of its primitive. Made by :func:`prove` alone."""

    schedule: Schedule

    def __init__(self, schedule: Schedule, *, token: object) -> None:
        if token is not _TOKEN:
            raise TypeError("a ProvedSchedule is made by prove() alone")
        object.__setattr__(self, "schedule", schedule)


def prove(schedule: Schedule) -> ProvedSchedule:
    """Check every rule of the machine model and the end state of the primitive.

    Time is linear in the number of blocks moved.

    Raises:
        ProofError: the first rule broken, with its place.
    """
    machine = _Machine(schedule)
    for round_ in schedule.rounds:
        machine.step(round_)
    machine.check_end()
    return ProvedSchedule(schedule, token=_TOKEN)


def replay(schedule: Schedule) -> Iterator[State]:
    """The states before the first round and after each round, ``len(rounds) + 1`` in all.

    In the last one, buffers whose content the primitive leaves undefined (the tensors of other
    ranks after Reduce) are undefined.

    Raises:
        ProofError: a round breaks a rule; the end state is not checked.
    """
    machine = _Machine(schedule)
    last = len(schedule.rounds)
    if last == 0:
        machine.forget_undefined()
    yield machine.state()
    for number, round_ in enumerate(schedule.rounds, start=1):
        machine.step(round_)
        if number == last:
            machine.forget_undefined()
        yield machine.state()


def _refuse_shape(sentence: str) -> ProofError:
    return ProofError("format", sentence)


def check_shape(schedule: Schedule) -> Primitive:
    """Check all that can be checked without replaying: names, counts, buffers.

    Returns:
        The primitive that the schedule belongs to.

    Raises:
        ProofError: with rule ``format``.
    """
    primitive = PRIMITIVES.get(schedule.primitive)
    if primitive is None:
        known = "、".join(PRIMITIVES)
        raise _refuse_shape(f"没有名为 {schedule.primitive!r} 的原语，可用的是 {known}。")
    n = schedule.ranks
    if not 2 <= n <= MAX_RANKS:
        raise _refuse_shape(f"ranks 是 {n}，应在 2 到 {MAX_RANKS} 之间。")
    if primitive.rooted and (schedule.root is None or not 0 <= schedule.root < n):
        raise _refuse_shape(f"root 是 {schedule.root}，应在 0 到 {n - 1} 之间。")
    if not primitive.rooted and schedule.root is not None:
        raise _refuse_shape(
            f"{primitive.title_en} 没有根，root 应为 null，现在是 {schedule.root}。"
        )
    if schedule.ports not in PORTS:
        raise _refuse_shape(f"ports 是 {schedule.ports!r}，应是 single 或 multi。")
    if schedule.layout not in LAYOUTS:
        raise _refuse_shape(f"layout 是 {schedule.layout!r}，应是 {'、'.join(LAYOUTS)} 之一。")
    if schedule.blocks < 1:
        raise _refuse_shape(f"blocks 是 {schedule.blocks}，应至少为 1。")
    own = primitive.buffers(n, schedule.blocks)
    if len(own) > 1 and schedule.blocks % n:
        raise _refuse_shape(
            f"blocks 是 {schedule.blocks}，{primitive.title_en} 的数据要分给 {n} 个 rank，"
            f"应是 {n} 的倍数。"
        )
    declared = {buffer.name: buffer for buffer in schedule.buffers}
    if len(declared) != len(schedule.buffers):
        raise _refuse_shape("buffers 里有重名的缓冲区。")
    if sum(buffer.blocks for buffer in schedule.buffers) * n > MAX_CELLS:
        raise _refuse_shape(f"缓冲区太大：全部 rank 合计超过 {MAX_CELLS} 个块。")
    for buffer in own:
        if declared.get(buffer.name) != buffer:
            place = "，只在根上" if buffer.on_root_only else ""
            raise _refuse_shape(
                f"{primitive.title_en} 需要缓冲区 {buffer.name}"
                f"（{buffer.role}，{buffer.blocks} 块{place}）。"
            )
    for buffer in schedule.buffers:
        if buffer not in own and buffer.role != "scratch":
            raise _refuse_shape(
                f"缓冲区 {buffer.name} 的角色是 {buffer.role!r}：{primitive.title_en} 自己的缓冲区"
                f"之外只能有 scratch。"
            )
        if buffer.blocks < 1:
            raise _refuse_shape(f"缓冲区 {buffer.name} 有 {buffer.blocks} 块，应至少 1 块。")
    return primitive


class _Machine:
    """N ranks with their buffers, laid out flat: ``cells[rank][base[buffer] + offset]``.

    A cell is an integer: 0 is undefined, otherwise (origin + 1) << N | contributors. One integer
    makes "same block" and "disjoint contributors" two bit operations.
    """

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.primitive = check_shape(schedule)
        n = self.n = schedule.ranks
        self.root = schedule.root if schedule.root is not None else 0
        self.mask = (1 << n) - 1
        self.round = 0
        self.base: dict[str, int] = {}
        self.size: dict[str, int] = {}
        self.on_root_only: set[str] = set()
        width = 0
        for buffer in schedule.buffers:
            self.base[buffer.name] = width
            self.size[buffer.name] = buffer.blocks
            if buffer.on_root_only:
                self.on_root_only.add(buffer.name)
            width += buffer.blocks
        self.width = width
        self.cells = [[0] * width for _ in range(n)]
        # The same few cells stand in many places and states.
        self.blocks: dict[int, Block | None] = {0: None}
        for rank in range(n):
            for name, content in self.primitive.start(n, schedule.blocks, self.root, rank).items():
                base = self.base[name]
                self.cells[rank][base : base + len(content)] = [
                    (block.origin + 1) << n | block.contributors if block else 0
                    for block in content
                ]

    def state(self) -> State:
        n, mask, blocks = self.n, self.mask, self.blocks
        for row in self.cells:
            for cell in row:
                if cell not in blocks:
                    blocks[cell] = Block((cell >> n) - 1, cell & mask)
        return [
            {
                buffer.name: [
                    blocks[cell]
                    for cell in self.cells[rank][
                        self.base[buffer.name] : self.base[buffer.name] + buffer.blocks
                    ]
                ]
                for buffer in self.schedule.buffers
                if rank == self.root or not buffer.on_root_only
            }
            for rank in range(n)
        ]

    def step(self, round_: Round) -> None:
        """Carry out one round: all reads, then all writes, each write checked as it is made."""
        self.round += 1
        cells, base, size, width = self.cells, self.base, self.size, self.width
        n, mask, on_root_only = self.n, self.mask, self.on_root_only
        single_port = self.schedule.ports == "single"
        sends_to: dict[int, int] = {}
        receives_from: dict[int, int] = {}
        written: dict[int, int] = {}
        copied: set[int] = set()
        for index, transfer in enumerate(round_.transfers):
            src, dst, op, from_buffer, from_offset, to_buffer, to_offset, count = transfer
            if not (0 <= src < n and 0 <= dst < n):
                raise self._bad_rank(index)
            if (
                from_buffer not in base
                or to_buffer not in base
                or (src != self.root and from_buffer in on_root_only)
                or (dst != self.root and to_buffer in on_root_only)
            ):
                raise self._bad_buffer(index)
            if (
                count < 1
                or from_offset < 0
                or to_offset < 0
                or from_offset + count > size[from_buffer]
                or to_offset + count > size[to_buffer]
            ):
                raise self._bad_offset(index)
            if (
                src != dst
                and single_port
                and (
                    sends_to.setdefault(src, dst) != dst
                    or receives_from.setdefault(dst, src) != src
                )
            ):
                raise self._bad_port(index, sends_to, receives_from)
            start = base[from_buffer] + from_offset
            target = base[to_buffer] + to_offset
            if op == COPY:
                read = cells[src]
                key = dst * width + target
                for position in range(count):
                    value = read[start + position]
                    if not value:
                        raise self._undefined(index, src, from_buffer, from_offset + position)
                    if key in written:
                        raise self._race(index, dst, to_buffer, to_offset + position)
                    written[key] = value
                    copied.add(key)
                    key += 1
            elif op == REDUCE:
                read = cells[src]
                held_by = cells[dst]
                key = dst * width + target
                for position in range(count):
                    value = read[start + position]
                    if not value:
                        raise self._undefined(index, src, from_buffer, from_offset + position)
                    held = written.get(key)
                    if held is None:
                        held = held_by[target + position]
                        if not held:
                            raise self._undefined(
                                index, dst, to_buffer, to_offset + position, reducing=True
                            )
                    elif key in copied:
                        raise self._race(index, dst, to_buffer, to_offset + position)
                    if value >> n != held >> n:
                        raise self._mixed(index, dst, to_buffer, to_offset + position, held, value)
                    if value & held & mask:
                        raise self._twice(index, dst, to_buffer, to_offset + position, held, value)
                    written[key] = held | value
                    key += 1
            else:
                raise ProofError(
                    "format",
                    f"op 是 {op!r}，应是 copy 或 reduce。",
                    round=self.round,
                    transfer=index + 1,
                )
        for key, value in written.items():
            cells[key // width][key % width] = value

    def check_end(self) -> None:
        """Compare with the end state of the primitive, rank by rank."""
        schedule, n = self.schedule, self.n
        for rank in range(n):
            required = self.primitive.end(n, schedule.blocks, self.root, rank)
            for name, content in required.items():
                base = self.base[name]
                for offset, block in enumerate(content):
                    if block is None:
                        continue
                    expected = (block.origin + 1) << n | block.contributors
                    found = self.cells[rank][base + offset]
                    if found != expected:
                        wanted, got = self._words(expected), self._words(found)
                        raise ProofError(
                            "end-state",
                            f"全部 {len(schedule.rounds)} 步结束后，"
                            f"rank {rank} 的 {name}[{offset}] 应为{wanted}，实际是{got}。",
                            rank=rank,
                            buffer=name,
                            block=offset,
                            expected=wanted,
                            found=got,
                        )

    def forget_undefined(self) -> None:
        """Drop what the primitive leaves undefined in a buffer that is its output."""
        outputs = {b.name for b in self.schedule.buffers if b.role in ("output", "inout")}
        for rank in range(self.n):
            required = self.primitive.end(self.n, self.schedule.blocks, self.root, rank)
            for name in outputs & required.keys():
                for offset, block in enumerate(required[name]):
                    if block is None:
                        self.cells[rank][self.base[name] + offset] = 0

    def _words(self, cell: int) -> str:
        if not cell:
            return "未定义的数据"
        ranks = "、".join(str(r) for r in Block(0, cell & self.mask).ranks())
        return f"块 {(cell >> self.n) - 1}（rank {ranks} 的贡献）"

    def _transfer(self, index: int) -> Transfer:
        return self.schedule.rounds[self.round - 1].transfers[index]

    def _bad_rank(self, index: int) -> ProofError:
        transfer = self._transfer(index)
        rank = transfer.src if not 0 <= transfer.src < self.n else transfer.dst
        return ProofError(
            "rank-range",
            f"rank {rank} 不存在，{self.n} 个 rank 的编号是 0 到 {self.n - 1}。",
            round=self.round,
            transfer=index + 1,
            rank=rank,
            expected=f"0 到 {self.n - 1}",
            found=str(rank),
        )

    def _bad_buffer(self, index: int) -> ProofError:
        transfer = self._transfer(index)
        rank, buffer = transfer.src, transfer.from_buffer
        if buffer in self.base and not (buffer in self.on_root_only and rank != self.root):
            rank, buffer = transfer.dst, transfer.to_buffer
        names = "、".join(
            b.name for b in self.schedule.buffers if rank == self.root or not b.on_root_only
        )
        return ProofError(
            "unknown-buffer",
            f"rank {rank} 没有缓冲区 {buffer}，它有 {names}。",
            round=self.round,
            transfer=index + 1,
            rank=rank,
            buffer=buffer,
            expected=names,
            found=buffer,
        )

    def _bad_offset(self, index: int) -> ProofError:
        _, _, _, from_buffer, from_offset, to_buffer, to_offset, count = self._transfer(index)
        transfer = self._transfer(index)
        rank, buffer, offset = transfer.src, from_buffer, from_offset
        if count >= 1 and from_offset >= 0 and from_offset + count <= self.size[from_buffer]:
            rank, buffer, offset = transfer.dst, to_buffer, to_offset
        return ProofError(
            "offset-range",
            f"rank {rank} 的 {buffer} 只有 {self.size[buffer]} 块，"
            f"不能从第 {offset} 块起取 {count} 块。",
            round=self.round,
            transfer=index + 1,
            rank=rank,
            buffer=buffer,
            block=offset,
            expected=f"0 到 {self.size[buffer] - 1}",
            found=f"{offset} 起 {count} 块",
        )

    def _bad_port(
        self, index: int, sends_to: dict[int, int], receives_from: dict[int, int]
    ) -> ProofError:
        transfer = self._transfer(index)
        if sends_to[transfer.src] != transfer.dst:
            rank, verb = transfer.src, "发给"
            first, second = sends_to[transfer.src], transfer.dst
        else:
            rank, verb = transfer.dst, "接收来自"
            first, second = receives_from[transfer.dst], transfer.src
        return ProofError(
            "port-limit",
            f"rank {rank} 在同一轮里{verb} rank {first} 和 rank {second}，"
            f"单端口模型里一轮只能有一个对端。",
            round=self.round,
            transfer=index + 1,
            rank=rank,
            expected=f"rank {first}",
            found=f"rank {second}",
        )

    def _undefined(
        self, index: int, rank: int, buffer: str, block: int, reducing: bool = False
    ) -> ProofError:
        why = "要在它上面归约，可它" if reducing else "要读它，可它"
        return ProofError(
            "undefined-read",
            f"rank {rank} 的 {buffer}[{block}] 还是未定义的数据，{why}还没有值。",
            round=self.round,
            transfer=index + 1,
            rank=rank,
            buffer=buffer,
            block=block,
            expected="已定义的数据",
            found="未定义的数据",
        )

    def _race(self, index: int, rank: int, buffer: str, block: int) -> ProofError:
        return ProofError(
            "write-race",
            f"rank {rank} 的 {buffer}[{block}] 在同一轮里被写两次，结果取决于先后。",
            round=self.round,
            transfer=index + 1,
            rank=rank,
            buffer=buffer,
            block=block,
            expected="一次写入",
            found="两次写入",
        )

    def _mixed(
        self, index: int, rank: int, buffer: str, block: int, held: int, value: int
    ) -> ProofError:
        wanted, got = self._words(held), self._words(value)
        return ProofError(
            "mixed-blocks",
            f"rank {rank} 的 {buffer}[{block}] 里是{wanted}，不能与{got}归约，两者不是同一块。",
            round=self.round,
            transfer=index + 1,
            rank=rank,
            buffer=buffer,
            block=block,
            expected=wanted,
            found=got,
        )

    def _twice(
        self, index: int, rank: int, buffer: str, block: int, held: int, value: int
    ) -> ProofError:
        wanted, got = self._words(held), self._words(value)
        both = "、".join(str(r) for r in Block(0, held & value & self.mask).ranks())
        return ProofError(
            "double-count",
            f"rank {rank} 的 {buffer}[{block}] 里是{wanted}，再并入{got}，"
            f"rank {both} 的贡献就算了两次。",
            round=self.round,
            transfer=index + 1,
            rank=rank,
            buffer=buffer,
            block=block,
            expected=f"不含 rank {both} 的贡献",
            found=got,
        )
