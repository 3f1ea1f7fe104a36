#!/usr/bin/env python3
"""Try every reduction operator with every dtype on Gloo and record what comes of it.

Two ranks call all_reduce for each combination, and broadcast for each dtype, on values whose
result is worked out here without communication. Nothing is looked up: a cell says "right" only
when both ranks got the right values. After a call that failed the two ranks make sure that they
still understand each other.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "assets" / "gloo_types.json"

PATIENCE = timedelta(seconds=20)

BROADCAST = "broadcast"
"""The row of the call that moves values without reducing them."""

DTYPES = (
    *("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "complex64"),
    *("int64", "int32", "int16", "int8", "uint8", "uint16", "bool"),
)

OPERATIONS = ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM")

FACTOR = 2.0
"""What PREMUL_SUM multiplies by."""

RIGHT = "right"
WRONG = "wrong"


def values(dtype: str, rank: int) -> torch.Tensor:
    """Two numbers per rank that every dtype holds, and so are their results."""
    numbers = ([2, 6], [4, 0])[rank]
    return torch.tensor(numbers, dtype=torch.float32).to(getattr(torch, dtype))


def expected(operation: str, dtype: str) -> torch.Tensor | None:
    """What both ranks must get; None where the result has no meaning for the dtype."""
    one, two = values(dtype, 0), values(dtype, 1)
    kind = getattr(torch, dtype)
    if operation == BROADCAST:
        return one
    if dtype == "bool":
        # True counts as 1: a sum that is not 0 is True, and so on.
        as_bool = {
            "SUM": one | two, "PRODUCT": one & two, "MIN": one & two, "MAX": one | two,
            "BAND": one & two, "BOR": one | two, "BXOR": one ^ two,
        }  # fmt: skip
        return as_bool.get(operation)
    if operation in ("BAND", "BOR", "BXOR"):
        if kind.is_floating_point or kind.is_complex:
            return None
        a, b = one.to(torch.int64), two.to(torch.int64)
        return {"BAND": a & b, "BOR": a | b, "BXOR": a ^ b}[operation].to(kind)
    if kind.is_complex and operation in ("MIN", "MAX"):
        return None
    wide = torch.complex128 if kind.is_complex else torch.float64
    a, b = one.to(wide), two.to(wide)
    results = {
        "SUM": lambda: a + b,
        "AVG": lambda: (a + b) / 2,
        "PRODUCT": lambda: a * b,
        "MIN": lambda: torch.minimum(a, b),
        "MAX": lambda: torch.maximum(a, b),
        "PREMUL_SUM": lambda: FACTOR * (a + b),
    }
    return results[operation]().to(kind)


def attempt(operation: str, dtype: str, rank: int) -> str:
    """RIGHT, WRONG with what came out, or the error of this rank."""
    tensor = values(dtype, rank)
    try:
        if operation == BROADCAST:
            dist.broadcast(tensor, src=0)
        elif operation == "PREMUL_SUM":
            # There is no public name for it.
            dist.all_reduce(tensor, op=dist._make_nccl_premul_sum(FACTOR))
        else:
            dist.all_reduce(tensor, op=getattr(dist.ReduceOp, operation))
    except (RuntimeError, ValueError, TypeError) as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    wanted = expected(operation, dtype)
    if wanted is None:
        return f"{WRONG}: {tensor.tolist()}"
    # Compared as numbers: not every dtype can be compared as it is.
    wide = torch.complex128 if tensor.is_complex() else torch.float64
    same = torch.equal(tensor.to(wide), wanted.to(wide))
    return RIGHT if same else f"{WRONG}: {tensor.tolist()}"


def _worker(rank: int, port: int) -> None:
    store = dist.TCPStore("127.0.0.1", port, timeout=PATIENCE, use_libuv=False)
    dist.init_process_group("gloo", rank=rank, world_size=2, store=store, timeout=PATIENCE)
    report = {}
    for operation in (BROADCAST, *OPERATIONS):
        for dtype in DTYPES:
            report[f"{operation} {dtype}"] = attempt(operation, dtype, rank)
            check = torch.ones(1)
            dist.all_reduce(check)
            assert check.item() == 2, f"{operation} {dtype} left the ranks out of step"
    store.set(f"report/{rank}", json.dumps(report))
    dist.destroy_process_group()


def measure() -> dict[str, dict[str, str]]:
    """Operation -> dtype -> RIGHT, WRONG with the values, or the error. Both ranks must agree."""
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(_worker, args=(store.port,), nprocs=2, join=True)
    one, two = (json.loads(store.get(f"report/{rank}")) for rank in range(2))
    table: dict[str, dict[str, str]] = {}
    for operation in (BROADCAST, *OPERATIONS):
        table[operation] = {}
        for dtype in DTYPES:
            key = f"{operation} {dtype}"
            assert one[key] == two[key], f"{key}: {one[key]} on rank 0, {two[key]} on rank 1"
            table[operation][dtype] = one[key]
    return table


def record() -> dict[str, Any]:
    """What is written to the file."""
    table = measure()
    return {"date": date.today().isoformat(), "torch": torch.__version__, "results": table}


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description="在 Gloo 上把每种归约运算和每种类型都试一遍，写入站点的数据文件。"
    )
    parser.add_argument("--output", type=Path, default=RESULTS, help="写到哪个文件")
    options = parser.parse_args(arguments)
    data = record()
    for operation, row in data["results"].items():
        for dtype, result in row.items():
            print(f"{operation:<10} {dtype:<14} {result}")
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    options.output.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
