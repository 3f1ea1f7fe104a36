#!/usr/bin/env python3
"""Record what the demos print, beside them in expected/: a deliberate command, never a build step.

The page shows these files, the player's last frame agrees with them, and the tests run every demo
against them. Ranks print in any order, so the recorded order is by rank.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
DEMOS = ROOT / "docs" / "demos"

#: Folders below docs/demos/ whose demos are recorded in the same way.
FOLDERS = ("beyond", "faq", "start", "torchrun", "training")

#: Demos that have no record here: record_environment.py runs this one.
UNRECORDED = ("torchrun/environment.py",)

#: Seconds after which a run is given up. A demo ends by itself long before.
PATIENCE = 300

#: What a program needs from the environment to start at all; nothing that Python or torch obeys.
ENVIRONMENT = ("PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")

HELP = """用法：python scripts/record_expected.py [示例 ...]

运行示例，把输出记到它旁边的 expected/。每个示例运行两次；
只要有一次失败，或两次的输出不同，就一个文件也不写。
只在有意改变示例的输出时运行，提交前看一遍 git diff。"""


def demo_names(demos: Path = DEMOS) -> list[str]:
    """Return the demos that are recorded: those of the folder itself, then training/ddp.py, ..."""
    inside = [
        f"{folder}/{path.name}" for folder in FOLDERS for path in demos.glob(f"{folder}/*.py")
    ]
    return sorted(path.name for path in demos.glob("*.py")) + sorted(inside)


def record_of(demo: Path) -> Path:
    """Return the file that holds what a demo prints."""
    return demo.parent / "expected" / f"{demo.stem}.txt"


class DemoFailed(Exception):
    """A demo did not end well, or not the same way twice; the message is one Chinese sentence."""


def reader_environment() -> dict[str, str]:
    """The environment of a reader who set nothing: no PYTHON*, no torchrun, no Gloo variables."""
    return {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}


def by_rank(output: str) -> list[str]:
    """Return the lines of a run, ranks in order, each rank's lines in the order it printed them.

    Two ranks that print at once can share a line when output is unbuffered, so a line ends where
    the next "[rank r] " begins. Lines that no rank printed come first.
    """
    lines = [line for line in re.split(r"(?=\[rank \d+\] )|\n", output) if line]

    def rank(line: str) -> int:
        match = re.match(r"\[rank (\d+)\] ", line)
        return int(match[1]) if match else -1

    return sorted(lines, key=rank)


def command_of(name: str, text: str) -> list[str]:
    """Return the command that the first line of a demo tells a reader, run by this Python.

    Args:
        name: of the demo's file.
        text: what stands in it.
    """
    told = re.match(r"# 运行方式: torchrun (.+)", text)
    if told:
        return [sys.executable, "-m", "torch.distributed.run", *told[1].split()]
    return [sys.executable, name]


def run(demo: Path) -> list[str]:
    """Run a demo alone in an empty folder and return its lines, ranks in order.

    Raises:
        DemoFailed: it failed, printed nothing, or did not end.
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, demo.name).write_bytes(demo.read_bytes())
        try:
            result = subprocess.run(
                command_of(demo.name, demo.read_text(encoding="utf-8")),
                cwd=folder,
                env=reader_environment(),
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise DemoFailed(f"{demo.name} 运行了 {PATIENCE} 秒还没有结束") from None
    if result.returncode != 0:
        raise DemoFailed(f"{demo.name} 运行失败，退出码 {result.returncode}：\n{result.stderr}")
    lines = by_rank(result.stdout)
    if not lines:
        raise DemoFailed(f"{demo.name} 什么也没有打印")
    return lines


def stable_output(demo: Path) -> str:
    """Run a demo twice and return what it prints.

    Raises:
        DemoFailed: a run failed, or the two runs printed different lines.
    """
    first, second = run(demo), run(demo)
    if first != second:
        one, other = next(
            (a, b)
            for a, b in zip([*first, "（没有这一行）"], [*second, "（没有这一行）"], strict=False)
            if a != b
        )
        raise DemoFailed(f"{demo.name} 两次运行的输出不同：\n  {one}\n  {other}")
    return "\n".join(first) + "\n"


class _OneLineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"record_expected.py：{message}\n")


def main(arguments: list[str] | None = None, demos: Path = DEMOS) -> int:
    """Command line. Nothing is written unless every demo that was asked for ran well twice.

    Returns:
        0; 1 when a demo failed or its runs differ; exits with 2 when an argument is wrong.
    """
    known = demo_names(demos)
    parser = _OneLineParser(
        usage=argparse.SUPPRESS,
        description=HELP,
        add_help=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    group = parser.add_argument_group("参数")
    group.add_argument(
        "names", nargs="*", metavar="示例", help="文件名，如 training/ddp.py；不写就是全部示例"
    )
    group.add_argument("-h", "--help", action="help", help="显示这段说明")
    options = parser.parse_args(arguments)
    names = options.names or [name for name in known if name not in UNRECORDED]
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"没有名为 {unknown[0]!r} 的示例；现有：{'、'.join(known)}")
    if importlib.util.find_spec("torch") is None:
        parser.error("运行示例需要 torch，当前的 Python 里没有安装")

    outputs: dict[Path, str] = {}
    for name in names:
        print(f"运行 {name}", flush=True)
        try:
            outputs[record_of(demos / name)] = stable_output(demos / name)
        except DemoFailed as error:
            print(f"record_expected.py：{error}\n没有写任何文件。", file=sys.stderr)
            return 1
    for path, text in outputs.items():
        before = path.read_text(encoding="utf-8") if path.is_file() else None
        if text != before:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        change = "新建" if before is None else "没有变化" if text == before else "已更新"
        print(f"{path.name}：{change}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
