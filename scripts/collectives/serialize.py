"""Schedules as JSON, format v1, and back.

Only a proved schedule can be written. Reading returns a plain :class:`Schedule`, which claims
nothing until it is proved again. The published JSON Schema is ``docs/assets/schedule.schema.json``.
"""

from __future__ import annotations

import json
from typing import Any

from collectives.cost import count_cost
from collectives.primitives import PRIMITIVES
from collectives.prove import ProofError, ProvedSchedule
from collectives.schedule import PHASES, Buffer, Round, Schedule, Transfer

FORMAT = "collective-schedule"
VERSION = 1


def schedule_to_data(proved: ProvedSchedule) -> dict[str, Any]:
    """The schedule as plain JSON data, with its counted cost and the primitive's lower bound.

    Raises:
        TypeError: what is given has not been proved.
    """
    if not isinstance(proved, ProvedSchedule):
        raise TypeError(f"only a ProvedSchedule can be serialized, not {type(proved).__name__}")
    schedule = proved.schedule
    cost = count_cost(schedule)
    bound = PRIMITIVES[schedule.primitive].lower_bound(schedule.ranks)
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "primitive": schedule.primitive,
        "algorithm": schedule.algorithm,
        "ranks": schedule.ranks,
        "root": schedule.root,
        "ports": schedule.ports,
        "blocks": schedule.blocks,
    }
    if schedule.parameters:
        data["parameters"] = dict(schedule.parameters)
    phases = {round_.phase: PHASES[round_.phase] for round_ in schedule.rounds}
    return {
        **data,
        "buffers": {
            buffer.name: {
                "role": buffer.role,
                "blocks": buffer.blocks,
                **({"on": "root"} if buffer.on_root_only else {}),
            }
            for buffer in schedule.buffers
        },
        "layout": schedule.layout,
        "phases": phases,
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
        "cost": {
            "rounds": cost.rounds,
            "alpha": cost.rounds,
            "beta": str(cost.beta),
            "gamma": str(cost.gamma),
            "max_sent": str(cost.max_sent),
            "total_sent": str(cost.total_sent),
        },
        "lower_bound": {
            "rounds": bound.rounds,
            "beta": str(bound.beta),
            "gamma": str(bound.gamma),
        },
    }


def schedule_to_json(proved: ProvedSchedule) -> str:
    """One line of JSON with a final newline; the same schedule always gives the same text."""
    return json.dumps(schedule_to_data(proved), ensure_ascii=False, separators=(",", ":")) + "\n"


def schedule_from_json(text: str) -> Schedule:
    """Read format v1, as far as the replay needs it: cost and lower bound are not believed.

    Raises:
        ProofError: with rule ``format``; the sentence names the place in the file.
    """
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ProofError("format", f"不是完整的 JSON：{error}。") from None
    except RecursionError:
        raise ProofError("format", "不是日程文件：JSON 嵌套过深。") from None
    return schedule_from_data(data)


def schedule_from_data(data: object) -> Schedule:
    """The same for JSON that has been parsed already.

    Raises:
        ProofError: with rule ``format``.
    """
    top = _object(data, "文件")
    if top.get("format") != FORMAT:
        raise _wrong("format", f'"{FORMAT}"', top.get("format"))
    if top.get("version") != VERSION:
        raise _wrong("version", str(VERSION), top.get("version"))
    buffers = []
    for name, value in _object(_member(top, "buffers", "文件"), "buffers").items():
        where = f"buffers.{name}"
        entry = _object(value, where)
        on = entry.get("on")
        if on not in (None, "root"):
            raise _wrong(f"{where}.on", '"root" 或不写', on)
        buffers.append(
            Buffer(
                name,
                _text(_member(entry, "role", where), f"{where}.role"),
                _integer(_member(entry, "blocks", where), f"{where}.blocks"),
                on == "root",
            )
        )
    rounds = []
    for number, value in enumerate(_array(_member(top, "rounds", "文件"), "rounds")):
        where = f"rounds[{number}]"
        entry = _object(value, where)
        transfers = [
            _transfer(item, f"{where}.transfers[{index}]")
            for index, item in enumerate(
                _array(_member(entry, "transfers", where), f"{where}.transfers")
            )
        ]
        rounds.append(
            Round(
                _text(entry.get("phase", ""), f"{where}.phase"),
                _text(entry.get("caption", ""), f"{where}.caption"),
                tuple(transfers),
            )
        )
    root = top.get("root")
    parameters = _object(top.get("parameters", {}), "parameters")
    return Schedule(
        primitive=_text(_member(top, "primitive", "文件"), "primitive"),
        algorithm=_text(_member(top, "algorithm", "文件"), "algorithm"),
        ranks=_integer(_member(top, "ranks", "文件"), "ranks"),
        root=None if root is None else _integer(root, "root"),
        ports=_text(top.get("ports", "single"), "ports"),
        blocks=_integer(_member(top, "blocks", "文件"), "blocks"),
        buffers=tuple(buffers),
        layout=_text(top.get("layout", "ring"), "layout"),
        rounds=tuple(rounds),
        parameters={
            name: _integer(value, f"parameters.{name}") for name, value in parameters.items()
        },
    )


def _transfer(value: object, where: str) -> Transfer:
    entry = _object(value, where)
    from_buffer, from_offset = _place(_member(entry, "from", where), f"{where}.from")
    to_buffer, to_offset = _place(_member(entry, "to", where), f"{where}.to")
    op = _text(_member(entry, "op", where), f"{where}.op")
    if op not in ("copy", "reduce"):
        raise _wrong(f"{where}.op", '"copy" 或 "reduce"', op)
    return Transfer(
        _integer(_member(entry, "src", where), f"{where}.src"),
        _integer(_member(entry, "dst", where), f"{where}.dst"),
        op,
        from_buffer,
        from_offset,
        to_buffer,
        to_offset,
        _integer(entry.get("count", 1), f"{where}.count"),
    )


def _place(value: object, where: str) -> tuple[str, int]:
    pair = _array(value, where)
    if len(pair) != 2:
        raise _wrong(where, "[缓冲区名, 偏移]", value)
    return _text(pair[0], where), _integer(pair[1], where)


def _wrong(where: str, expected: str, found: object) -> ProofError:
    shown = json.dumps(found, ensure_ascii=False, default=str)
    if len(shown) > 60:
        shown = shown[:60] + "…"
    return ProofError(
        "format", f"{where} 应为 {expected}，现在是 {shown}。", expected=expected, found=shown
    )


def _member(entry: dict[str, Any], key: str, where: str) -> object:
    if key not in entry:
        raise ProofError("format", f"{where} 里缺少 {key}。", expected=key, found=None)
    return entry[key]


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(where, "对象", value)
    return value


def _array(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _wrong(where, "数组", value)
    return value


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(where, "字符串", value)
    return value


def _integer(value: object, where: str) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)  # JSON has one kind of number: 4.0 is 4 to its schema and in a browser.
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(where, "整数", value)
    return value
