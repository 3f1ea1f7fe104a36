#!/usr/bin/env python3
"""Run a schedule on real processes and compare it with PyTorch's own collective.

    python scripts/run_schedule.py allreduce/ring --ranks 4
    python scripts/run_schedule.py my_schedule.json --bytes 64MB --op max
    torchrun --nproc-per-node 4 scripts/run_schedule.py allreduce/ring

The schedule is proved before any process starts. Exit code 0: the result agrees with PyTorch; 1:
it does not, or a rank failed; 2: an argument or the schedule file is wrong, said in one line.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from collectives.algorithm import UnsupportedChoice
from collectives.algorithms import REGISTRY
from collectives.primitives import PRIMITIVES
from collectives.prove import ProofError, ProvedSchedule, prove
from collectives.schedule import relabel_root
from collectives.serialize import schedule_from_json

UNITS = {"B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3}
DTYPE_NAMES = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8")
OPS = ("sum", "max", "min", "prod")
TIMEOUT = timedelta(seconds=120)
"""How long a rank waits for a message of a peer that lives but does not answer."""


class Job(NamedTuple):
    """What all ranks have to know."""

    proved: ProvedSchedule
    title: str
    bytes: int
    dtype: str
    op: str
    repeat: int
    seed: int


class _OneLineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"run_schedule.py：{message}\n")


def parse_size(text: str) -> int:
    """Bytes from ``4096``, ``64KB``, ``1.5MB`` (1 KB = 1024 B).

    Raises:
        argparse.ArgumentTypeError: the text is not a size of at least one byte.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(B|KB|MB|GB)?", text.strip(), re.IGNORECASE)
    size = int(float(match[1]) * UNITS[(match[2] or "B").upper()]) if match else 0
    if size < 1:
        raise argparse.ArgumentTypeError(f"{text!r} 不是大小，应写成 4096、64KB、1.5MB 这样")
    return size


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} 应是至少为 1 的整数")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = _OneLineParser(
        prog="run_schedule.py",
        description="用真实的进程执行一份日程，并与 PyTorch 自带的集合通信对照。",
    )
    parser.add_argument("schedule", help="算法名，如 allreduce/ring；或一份格式 v1 的 JSON 文件")
    parser.add_argument("--ranks", type=_positive, help="进程数（默认 4；文件和 torchrun 自带）")
    parser.add_argument("--root", type=int, default=None, help="根 rank（默认 0）")
    parser.add_argument("--bytes", type=parse_size, default=parse_size("1MB"), help="M，如 64MB")
    parser.add_argument("--dtype", choices=DTYPE_NAMES, default="float32", help="元素类型")
    parser.add_argument("--op", choices=OPS, default="sum", help="归约运算")
    parser.add_argument("--chunks", type=_positive, help="流水块数 k（有这个参数的算法）")
    parser.add_argument("--node", type=_positive, help="每节点 rank 数 s（有这个参数的算法）")
    parser.add_argument("--repeat", type=_positive, default=1, help="执行几次，报告最快的一次")
    parser.add_argument("--seed", type=int, default=0, help="随机数种子")
    return parser


def load(options: argparse.Namespace, ranks: int | None) -> ProvedSchedule:
    """Find the schedule that the arguments name, and prove it.

    Raises:
        ValueError: there is none, or it cannot be had for these ranks; with one Chinese sentence.
        ProofError: the file holds a schedule that is wrong.
    """
    name: str = options.schedule
    chosen = {
        key: value
        for key, value in (("chunks", options.chunks), ("node", options.node))
        if value is not None
    }
    if name in REGISTRY:
        return prove(REGISTRY[name].schedule(ranks or 4, options.root or 0, **chosen))
    path = Path(name)
    if not path.is_file():
        near = [known for known in REGISTRY if known.split("/")[0] == name.split("/")[0]]
        raise ValueError(f"没有名为 {name!r} 的算法或文件；现有：{'、'.join(near or REGISTRY)}")
    if chosen:
        raise ValueError("文件里的日程已经定了参数，不能再给 --chunks 或 --node")
    try:
        schedule = schedule_from_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"读不了 {name}：{error}") from None
    proved = prove(schedule)
    if ranks is not None and ranks != schedule.ranks:
        raise ValueError(f"{name} 是给 {schedule.ranks} 个 rank 的，不能用 {ranks} 个来跑")
    if options.root is not None and options.root != (schedule.root or 0):
        indexed = PRIMITIVES[schedule.primitive].rank_indexed
        return prove(relabel_root(schedule, options.root, indexed))
    return proved


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    parser = _parser()
    options = parser.parse_args(arguments)
    launched = int(os.environ["WORLD_SIZE"]) if "TORCHELASTIC_RUN_ID" in os.environ else None
    if launched is not None and options.ranks not in (None, launched):
        parser.error(f"torchrun 起了 {launched} 个进程，--ranks {options.ranks} 与它不符")
    try:
        proved = load(options, launched or options.ranks)
    except (UnsupportedChoice, ProofError, ValueError) as error:
        parser.error(str(error))
    primitive = PRIMITIVES[proved.schedule.primitive]
    if options.op != "sum" and not primitive.reduces:
        parser.error(f"{primitive.title_en} 不做归约，没有 --op {options.op}")
    job = Job(
        proved,
        options.schedule,
        options.bytes,
        options.dtype,
        options.op,
        options.repeat,
        options.seed,
    )
    try:
        import torch.distributed as dist
    except ImportError:
        parser.error("需要 torch：pip install torch")
    if launched is not None:
        dist.init_process_group("gloo", timeout=TIMEOUT)
        try:
            return run_rank(job, dist.get_rank())
        finally:
            dist.destroy_process_group()
    return _spawn(job)


def _spawn(job: Job) -> int:
    import torch.distributed as dist
    import torch.multiprocessing as mp

    ranks = job.proved.schedule.ranks
    # Port 0: the system picks a free port, and this process holds it for as long as it lives.
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    try:
        mp.spawn(_worker, args=(job, store.port), nprocs=ranks, join=True)
    except mp.ProcessRaisedException as error:
        last = str(error).strip().splitlines()[-1]
        print(f"run_schedule.py：rank {error.error_index} 失败：{last}", file=sys.stderr)
        return 1
    except mp.ProcessExitedException as error:
        if error.exit_code == 1 and error.signal_name is None:
            return 1
        how = error.signal_name or f"退出码 {error.exit_code}"
        print(f"run_schedule.py：rank {error.error_index} 中途结束（{how}）", file=sys.stderr)
        return 1
    return 0


def _worker(rank: int, job: Job, port: int) -> None:
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        rank=rank,
        world_size=job.proved.schedule.ranks,
        store=dist.TCPStore("127.0.0.1", port, use_libuv=False),
        timeout=TIMEOUT,
    )
    try:
        code = run_rank(job, rank)
    finally:
        dist.destroy_process_group()
    if code:
        sys.exit(code)


def run_rank(job: Job, rank: int) -> int:
    """Run the job as one rank of the default group; rank 0 prints the report of all.

    Returns:
        0 if every rank agrees with PyTorch, else 1.
    """
    import torch
    import torch.distributed as dist
    from tqdm import tqdm

    import schedule_runner

    dtype = schedule_runner.DTYPES[job.dtype]
    elements = -(-job.bytes // torch.empty((), dtype=dtype).element_size())
    runner = schedule_runner.Runner(job.proved, rank, elements, dtype, job.op)
    schedule_runner.fill(runner, job.seed)
    start = {name: tensor.clone() for name, tensor in runner.buffers.items()}
    expected = schedule_runner.built_in_call(runner)()
    rounds = len(runner.schedule.rounds)
    reports = []
    with tqdm(
        total=rounds * job.repeat,
        desc="轮",
        disable=None if rank == 0 else True,
        delay=1,
        leave=False,
    ) as bar:
        for _ in range(job.repeat):
            for name, tensor in start.items():
                runner.buffers[name].copy_(tensor)
            dist.barrier()
            reports.append(runner.run(bar.update))
    best = min(reports, key=lambda report: report.seconds)
    wrong = schedule_runner.difference(runner, expected)
    everything: list[Any] = [None] * runner.schedule.ranks
    dist.gather_object((best, wrong), everything if rank == 0 else None)
    verdict = [None if rank else any(problem for _, problem in everything)]
    dist.broadcast_object_list(verdict)
    if rank == 0:
        _print_report(job, runner.block_elements, everything)
    return int(bool(verdict[0]))


def _print_report(
    job: Job,
    block_elements: int,
    everything: list[tuple[Any, str | None]],
) -> None:
    schedule = job.proved.schedule
    size = schedule.blocks * block_elements
    parameters = "".join(f"，{name} = {value}" for name, value in schedule.parameters.items())
    reduces = PRIMITIVES[schedule.primitive].reduces
    print(
        f"{schedule.name}，N = {schedule.ranks}{parameters}"
        + (f"，根 = {schedule.root}" if schedule.root is not None else "")
        + f"，M = {size} 个 {job.dtype}"
        + (f"，{job.op}" if reduces else "")
    )
    for rank, (report, _) in enumerate(everything):
        print(
            f"[rank {rank}] 发送 {report.messages} 个消息，{report.bytes_sent} 字节，"
            f"用时 {report.seconds * 1000:.2f} ms"
        )
    problems = [problem for _, problem in everything if problem]
    for problem in problems:
        print(f"不一致：{problem}")
    if not problems:
        print("与 PyTorch 自带的集合通信结果一致")


if __name__ == "__main__":
    sys.exit(main())
