#!/usr/bin/env python3
"""``make bench``: how fast prover, player and pages are, and our schedules beside PyTorch's own.

Timings belong to the machine that took them, so nothing here is asserted by a test. The results
are recorded in ``docs/assets/benchmarks.json``, which the site shows together with machine and
date.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import bench_player
import bench_site
from collectives.algorithms import REGISTRY, algorithms_of
from collectives.primitives import PRIMITIVES
from collectives.prove import prove

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "assets" / "benchmarks.json"

RANKS = 4
KB, MB = 1024, 1024**2
SIZES = (KB, 4 * KB, 16 * KB, 64 * KB, 256 * KB, MB, 4 * MB, 16 * MB, 64 * MB)
PROOF_RANKS = (16, 32, 64, 128, 256)
BUILT_IN = "torch"

SITE_RUNS = 3
"""How often Lighthouse looks at a page; the middle counts."""


def prove_ring(repeat: int = 5) -> list[dict[str, Any]]:
    """Seconds to generate and prove the ring AllReduce, best of ``repeat``, for PROOF_RANKS."""
    ring = REGISTRY["allreduce/ring"]
    rows = []
    for n in PROOF_RANKS:
        best = float("inf")
        for _ in range(repeat):
            start = time.perf_counter()
            schedule = prove(ring.schedule(n)).schedule
            best = min(best, time.perf_counter() - start)
        transfers = sum(len(round_.transfers) for round_ in schedule.rounds)
        rows.append({"ranks": n, "transfers": transfers, "seconds": best})
    return rows


def _worker(rank: int, port: int, repeat: int, results: Any) -> None:
    """One rank: for each size, all algorithms of a primitive and the built-in one take turns."""
    import torch
    import torch.distributed as dist

    import schedule_runner

    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        rank=rank,
        world_size=RANKS,
        store=dist.TCPStore("127.0.0.1", port, use_libuv=False),
        timeout=timedelta(minutes=5),
    )
    for primitive in PRIMITIVES:
        for size in SIZES:
            runners = {
                algorithm.slug: schedule_runner.Runner(
                    prove(algorithm.schedule(RANKS)), rank, size // 4, torch.float32
                )
                for algorithm in algorithms_of(primitive)
                if algorithm.valid_ranks(range(RANKS, RANKS + 1))
            }
            first = next(iter(runners.values()))
            schedule_runner.fill(first, seed=1)
            for runner in runners.values():
                schedule_runner.fill(runner, seed=1)
            call = schedule_runner.built_in_call(first)
            times: dict[str, list[float]] = {slug: [] for slug in (BUILT_IN, *runners)}
            for turn in range(repeat + 1):
                for slug in times:
                    dist.barrier()
                    start = time.perf_counter()
                    if slug == BUILT_IN:
                        call()
                    else:
                        runners[slug].run()
                    spent = torch.tensor([time.perf_counter() - start], dtype=torch.float64)
                    # A collective is as slow as its slowest rank.
                    dist.all_reduce(spent, dist.ReduceOp.MAX)
                    if turn:
                        times[slug].append(spent.item())
            if rank == 0:
                for slug, values in times.items():
                    results.put((primitive, size, slug, statistics.median(values)))
    dist.destroy_process_group()
    if rank == 0:
        results.put(None)


def run_collectives(repeat: int) -> dict[str, dict[str, dict[str, float]]]:
    """Median seconds by primitive, algorithm (or ``torch``) and size in bytes, N = 4."""
    import torch.distributed as dist
    import torch.multiprocessing as mp
    from tqdm import tqdm

    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    queue = mp.get_context("spawn").SimpleQueue()
    context = mp.start_processes(
        _worker, (store.port, repeat, queue), nprocs=RANKS, join=False, start_method="spawn"
    )
    table: dict[str, dict[str, dict[str, float]]] = {}
    total = sum(1 + len(algorithms_of(primitive)) for primitive in PRIMITIVES) * len(SIZES)
    with tqdm(total=total, desc="测量", disable=None) as bar:
        while (entry := queue.get()) is not None:
            primitive, size, slug, seconds = entry
            table.setdefault(primitive, {}).setdefault(slug, {})[str(size)] = seconds
            bar.update()
    while not context.join():
        pass
    return table


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="测量证明程序和各算法的用时，写入站点的数据文件。")
    parser.add_argument("--repeat", type=int, default=7, help="每项测几次，取中位数（默认 7）")
    parser.add_argument("--output", type=Path, default=RESULTS, help="写到哪个文件")
    parser.add_argument("--player", action="store_true", help="只测播放器，其余保留上次的")
    parser.add_argument("--site", action="store_true", help="只测页面，其余保留上次的")
    options = parser.parse_args(arguments)
    if options.player or options.site:
        data = json.loads(options.output.read_text(encoding="utf-8"))
        if options.player:
            data["player"] = measure_player()
        if options.site:
            data["site"] = measure_site()
        _write(data, options.output)
        return 0
    import torch

    player = measure_player()
    proofs = prove_ring()
    print("环形 AllReduce：生成并证明")
    for row in proofs:
        print(
            f"  N = {row['ranks']:>3}  {row['transfers']:>6} 个传输  {row['seconds']:.4f} s  "
            f"每个传输 {row['seconds'] / row['transfers'] * 1e6:.2f} µs"
        )
    collectives = run_collectives(options.repeat)
    for primitive, rows in collectives.items():
        print(f"\n{PRIMITIVES[primitive].title}，N = {RANKS}，毫秒")
        print("  " + "".join(f"{label(size):>10}" for size in SIZES))
        for slug, values in rows.items():
            print("  " + "".join(f"{values[str(s)] * 1000:>10.3f}" for s in SIZES) + f"  {slug}")
    data = {
        "date": date.today().isoformat(),
        "torch": torch.__version__,
        "machine": bench_player.machine(),
        "ranks": RANKS,
        "repeat": options.repeat,
        "proof": proofs,
        "collectives": collectives,
        "player": player,
        "site": measure_site(),
    }
    _write(data, options.output)
    return 0


def measure_player() -> dict[str, Any]:
    """Measure the player in a browser, and print what a reader would want to know."""
    player = bench_player.measure()
    print(f"播放器，{player['browser']}，处理器放慢到 1/{player['throttle']}")
    for name, frame in player["frames"].items():
        print(
            f"  每帧主线程 {frame['main_thread']:5.2f} ms  p95 {frame['p95']:5.1f} ms  "
            f"最长 {frame['longest']:5.1f} ms  {name}"
        )
    print("  内存（每换 100 次日程，MB）：" + "  ".join(f"{mb:.2f}" for mb in player["heap"]))
    return player


def measure_site() -> dict[str, Any]:
    """Measure the pages with Lighthouse, and print what a reader would want to know."""
    site = bench_site.measure(SITE_RUNS)
    print(f"页面，Lighthouse {site['lighthouse']}，手机")
    for name, found in {"原样的 Material": site["stock"], **site["pages"]}.items():
        scores = " ".join(f"{score:3}" for score in found["scores"].values())
        print(
            f"  {scores}  TBT {found['tbt']:4.0f} ms  CLS {found['cls']:.3f}  "
            f"{found['bytes'] / 1024:4.0f} KB  {name or '首页'}  {' '.join(found['faults'])}"
        )
    return site


def _write(data: dict[str, Any], output: Path) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    output.write_text(text, encoding="utf-8", newline="\n")


def label(size: int) -> str:
    """``64 KB``, ``16 MB``."""
    return f"{size // MB} MB" if size >= MB else f"{size // KB} KB"


if __name__ == "__main__":
    sys.exit(main())
