"""Launching: torchrun on one host and on two, by hand, and what each way tells a rank.

The two hosts are network namespaces, and the commands that run on them are those of the page. All
that waits for a network to fail is started at once: it costs time, but hardly any of the processor.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

import find_browser
import find_network_tools
import launch_macros
import record_environment
import record_expected
from built_site import ROOT
from demo_runner import PATIENCE, replaced, run_demo
from find_network_tools import NoHostsError
from record_expected import by_rank, reader_environment
from site_macros import Page
from two_hosts import LOSS, TwoHosts, remove_what_a_killed_run_left

DEMOS = ROOT / "docs" / "demos"
TORCHRUN = DEMOS / "torchrun"
ALL = "all_primitives.py"
PAGES = ROOT / "docs" / "run"

#: What torchrun writes on stderr of every run: it sets OMP_NUM_THREADS, and says so in a frame.
BANNER = re.compile(r"\n\*+\nSetting OMP_NUM_THREADS .*\n\*+\n")


def expected(name: str) -> list[str]:
    return record_expected.record_of(DEMOS / name).read_text(encoding="utf-8").splitlines()


def source(name: str) -> str:
    return (DEMOS / name).read_text(encoding="utf-8")


def command(page: str, title: str) -> str:
    """The block of a page with this title, as a reader copies it."""
    text = (PAGES / page).read_text(encoding="utf-8")
    (block,) = re.findall(rf'^```bash title="{re.escape(title)}"\n(.*?)^```$', text, re.M | re.S)
    return str(block)


def shell_environment() -> dict[str, str]:
    """The environment of a reader in whose shell `python` and `torchrun` are ours."""
    own = reader_environment()
    return {**own, "PATH": os.pathsep.join([str(Path(sys.executable).parent), own["PATH"]])}


def left_in(folder: Path) -> list[int]:
    """The processes that still work in a folder; Linux alone can tell."""

    def found() -> list[int]:
        pids = []
        for link in Path("/proc").glob("[0-9]*/cwd"):
            try:
                if link.readlink() == folder:
                    pids.append(int(link.parent.name))
            except OSError:
                continue  # It ended while we were looking, or it is not ours.
        return pids

    for _ in range(100):
        if not found():
            return []
        # Python's resource tracker ends a moment after the process it works for.
        time.sleep(0.1)
    return found()


def typed(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in a folder and see it leave nothing behind."""
    result = subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env=shell_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert left_in(folder) == []
    return result


# ---------------------------------------------------------------------------------- on one host


def test_the_smallest_script_started_as_its_first_line_tells_prints_what_is_recorded(
    tmp_path: Path,
):
    name = "allreduce.py"
    run = run_demo(tmp_path / "reader", name, source(f"torchrun/{name}"))
    assert run.check() == expected(f"torchrun/{name}")
    assert BANNER.sub("", run.errors) == ""
    assert left_in(tmp_path / "reader") == []


RESULTS = {
    "broadcast": ("broadcast", "after :"),
    "scatter": ("scatter", "received:"),
    "gather": ("gather", "gathered:"),
    "reduce": ("reduce", "after :"),
    "all_gather": ("allgather", "gathered:"),
    "reduce_scatter": ("reducescatter", "reduce_scatter result:"),
    "all_reduce": ("allreduce", "after :"),
    "all_to_all": ("alltoall", "received:"),
}
"""What the script calls a primitive -> its demo, and what that prints before a result."""


def test_the_script_ends_with_the_results_of_the_eight_demos():
    results = [
        line.replace(mark, f"{call:<14}")
        for call, (demo, mark) in RESULTS.items()
        for line in expected(f"{demo}_cpu_demo.py")
        if mark in line and "undefined" not in line
    ]
    assert sorted(results) == sorted(expected(f"torchrun/{ALL}"))
    assert len(RESULTS) == 8


def test_one_visible_line_chooses_between_gpus_and_processors():
    lines = source(f"torchrun/{ALL}").splitlines()
    (choice,) = [line for line in lines if "device_count" in line]
    assert choice.startswith("backend = ")
    # It is seen whole on a wide screen, and so is the rest.
    assert max(map(len, lines)) <= 86
    # What only runs with a GPU is said not to be run by us.
    (branch,) = [at for at, line in enumerate(lines) if line.startswith('if backend == "nccl":')]
    assert "没有在本站的 CI 里运行过" in lines[branch]
    assert [at for at, line in enumerate(lines) if '"cuda"' in line or "set_device" in line] == [
        branch + 1,
        branch + 2,
    ]


@pytest.mark.parametrize(
    ("cards", "ranks", "backend"),
    [(4, 4, "nccl"), (8, 4, "nccl"), (3, 4, "gloo"), (0, 1, "gloo")],
)
def test_the_line_wants_a_card_for_every_rank(cards: int, ranks: int, backend: str):
    class Torch:
        class cuda:
            device_count = staticmethod(lambda: cards)

    (choice,) = [line for line in source(f"torchrun/{ALL}").splitlines() if "device_count" in line]
    names = {"torch": Torch, "ranks_here": ranks}
    exec(choice, names)
    assert names["backend"] == backend


def test_the_commands_for_starting_by_hand_give_the_same_result(tmp_path: Path):
    name = "allreduce.py"
    (tmp_path / name).write_text(source(f"torchrun/{name}"), encoding="utf-8")
    line = command("launching.md", "手动启动四个 rank")
    result = typed(tmp_path, replaced(line, "29500", record_environment.free_port()))
    assert (result.returncode, result.stderr) == (0, "")
    assert by_rank(result.stdout) == expected(f"torchrun/{name}")


def test_a_demo_started_under_torchrun_by_mistake_works_as_under_python(tmp_path: Path):
    # All ten have the same frame, see test_demos.
    name = "allreduce_cpu_demo.py"
    text = replaced(source(name), "world_size = 4", "world_size = 2")
    (tmp_path / name).write_text(text, encoding="utf-8")
    result = typed(tmp_path, f"torchrun --nproc-per-node=2 {name}")
    assert result.returncode == 0, result.stderr
    assert by_rank(result.stdout) == [
        f"[rank {rank}] {line}"
        for rank in range(2)
        for line in (f"before: {[rank + 1.0] * 4}", f"after : {[3.0] * 4}")
    ]


def test_the_page_shows_the_line_that_makes_them_work():
    (shown,) = re.findall(r'^if __name__ == "__main__" and .*$', page_text("launching.md"), re.M)
    demos = sorted(DEMOS.glob("*_cpu_demo.py"))
    assert len(demos) == 10
    assert [demo.name for demo in demos if shown not in source(demo.name).splitlines()] == []


def page_text(page: str) -> str:
    return (PAGES / page).read_text(encoding="utf-8")


# ---------------------------------------------------------------------------- the environment

WAYS = record_environment.WAYS


def recorded() -> Mapping[str, Sequence[Mapping[str, str | None]]]:
    page = Page("run/launching.md", "run/launching/", ROOT / "docs")
    ways: Mapping[str, Sequence[Mapping[str, str | None]]] = launch_macros._data(page)["ways"]
    return ways


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_start_sets_the_variables_that_are_recorded(way: str):
    now = record_environment.seen(way)
    then = recorded()[way]
    assert [sorted(variables) for variables in now] == [sorted(variables) for variables in then]
    for variables, record in zip(now, then, strict=True):
        told = {name: value for name, value in record.items() if value is not None}
        assert {name: variables[name] for name in told} == told


def test_the_tables_show_every_recorded_variable_and_nothing_else():
    page = Page("run/launching.md", "run/launching/", ROOT / "docs")
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", launch_macros.launch_table(page), re.M)
    assert {name for name, _ in rows} == {
        name for way in ("spawn", "torchrun", "hand") for rank in recorded()[way] for name in rank
    }
    assert dict(rows)["RANK"].split() == ["—", "|", "`0`、`1`", "|", "`0`、`1`"]
    assert dict(rows)["MASTER_PORT"].split() == ["—", "|", "每次不同", "|", "`29500`"]
    hosts = dict(re.findall(r"^\| `(\w+)` \|(.*)\|$", launch_macros.host_table(page), re.M))
    assert hosts["RANK"].split(" | ") == [" `0`", "`1`", "`2`", "`3` "]
    assert hosts["LOCAL_RANK"].split(" | ") == [" `0`", "`1`", "`0`", "`1` "]


# -------------------------------------------------------------------------------- on two hosts

STATIC = ("主机 0（10.0.0.1）", "主机 1（10.0.0.2）")
C10D = "c10d 碰头：两台都敲，只改前两行"
FIREWALL = "只放行碰头端口和 40000–40100（root）"


class Ended(NamedTuple):
    """How a job on two hosts ended, host by host.

    Attributes:
        returncodes: of the two torchruns.
        lines: what all ranks printed, in their order.
        errors: what the hosts wrote on stderr.
        left: processes that were still there.
        line: what joined the hosts, see TwoHosts.
        lost: how many packets got lost.
    """

    returncodes: list[int]
    lines: list[str]
    errors: list[str]
    left: list[int]
    line: str
    lost: int


def static_commands() -> list[str]:
    return [command("multi-node.md", title) for title in STATIC]


def c10d_commands() -> list[str]:
    block = command("multi-node.md", C10D)
    other = replaced(
        replaced(block, "host=0\n", "host=1\n"), "address=10.0.0.1\n", "address=10.0.0.2\n"
    )
    return [block, other]


def one_rank_each(commands: Sequence[str]) -> list[str]:
    """The same with half the ranks: where nothing is compared, the other half only costs time."""
    return [replaced(line, "--nproc-per-node=2", "--nproc-per-node=1") for line in commands]


def by_hand(interface: str) -> list[str]:
    """One rank on each host, without torchrun: enough to see where ranks fail to meet."""
    told = "WORLD_SIZE=2 MASTER_ADDR=10.0.0.1 MASTER_PORT=29500 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1"
    return [f"{told} RANK={rank} GLOO_SOCKET_IFNAME={interface} python {ALL}" for rank in range(2)]


def run_job(
    folder: Path,
    commands: Sequence[str],
    text: str,
    *,
    bad_line: bool = False,
    firewall: str = "",
    cut: bool = False,
) -> Ended:
    """Run the script on two hosts.

    Args:
        folder: an empty folder that both hosts see.
        commands: what is typed on each host.
        text: of the script.
        bad_line: whether the line is slow and loses packets.
        firewall: what root types on each host before.
        cut: whether the second host is cut off when every rank has made its file `ready`.
    """
    folder.mkdir()
    (folder / ALL).write_text(text, encoding="utf-8")
    with TwoHosts(bad_line=bad_line) as hosts:
        for host in range(2):
            if firewall:
                hosts.on(host, "sh", "-c", firewall)
        # The page says that either may come first, so the one that only joins does.
        jobs = [hosts.start(host, commands[host], folder, shell_environment()) for host in (1, 0)]
        jobs.reverse()
        if cut:
            await_ready(folder, jobs)
            hosts.cut(1)
            (folder / "go").touch()
        outputs = [job.communicate(timeout=PATIENCE) for job in jobs]
        left = still_there(hosts)
        lost = hosts.lost() if bad_line else 0
    return Ended(
        [job.returncode for job in jobs],
        by_rank("".join(output for output, _ in outputs)),
        [errors for _, errors in outputs],
        left,
        hosts.line,
        lost,
    )


def await_ready(folder: Path, jobs: Sequence[subprocess.Popen[str]]) -> None:
    """Wait until every rank stands where it waits for the cut."""
    end = time.monotonic() + PATIENCE
    while len(list(folder.glob("ready-*"))) < len(jobs):
        assert time.monotonic() < end
        assert all(job.poll() is None for job in jobs), "a host ended before it was cut off"
        time.sleep(0.1)


def still_there(hosts: TwoHosts) -> list[int]:
    for _ in range(100):
        if not hosts.processes():
            return []
        time.sleep(0.1)
    return hosts.processes()


def waiting_in_the_middle(text: str) -> str:
    """The script, which stops between two primitives until it is told to go on."""
    middle = "gathered = empty_list()\ndist.all_gather("
    wait = (
        "import pathlib\nimport time\n\n"
        'pathlib.Path(f"ready-{rank}").touch()\n'
        'while not pathlib.Path("go").exists():\n'
        "    time.sleep(0.1)\n\n"
    )
    return replaced(text, middle, wait + middle)


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Ended]]]:
    """All jobs on two hosts, three at a time; skipped where there can be no two hosts, not on CI.

    Raises:
        NoHostsError: inside a job.
    """
    try:
        if find_browser.required():
            try:
                find_network_tools.find()
            except NoHostsError:
                find_browser.install_packages(*find_network_tools.PACKAGES)
        with TwoHosts():
            pass
    except NoHostsError as error:
        if find_browser.required():
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("hosts")
    static, text = static_commands(), source(f"torchrun/{ALL}")
    closed = replaced(command("multi-node.md", FIREWALL), "29500, 40000-40100", "29500")
    with ThreadPoolExecutor(max_workers=3) as pool:

        def start(name: str, *arguments: object, **options: object) -> Future[Ended]:
            return pool.submit(run_job, folder / name, *arguments, **options)  # type: ignore[arg-type]

        yield {
            "closed firewall": start("closed", by_hand("eth0"), shorter(text), firewall=closed),
            "cut": start("cut", one_rank_each(static), waiting_in_the_middle(text), cut=True),
            "firewall": start("open", static, text, firewall=command("multi-node.md", FIREWALL)),
            "bad line": start("bad", c10d_commands(), text, bad_line=True),
            "loopback": start("loopback", by_hand("lo"), text),
        }


def shorter(text: str) -> str:
    """The script with less patience for what can never succeed."""
    return replaced(text, "dump_traceback_later(28,", "dump_traceback_later(8,")


def test_two_hosts_print_what_one_prints_behind_the_firewall_of_the_page(jobs):
    job = jobs["firewall"].result()
    assert job.returncodes == [0, 0], job.errors
    assert job.lines == expected(f"torchrun/{ALL}")
    assert job.line == "veth"
    assert job.left == []


def test_a_slow_line_that_loses_packets_changes_nothing_in_the_output(jobs):
    """With the commands of the other rendezvous, so that these are run as well."""
    job = jobs["bad line"].result()
    assert job.returncodes == [0, 0], job.errors
    assert job.lines == expected(f"torchrun/{ALL}")
    assert job.line in ("netem", "tun")
    assert job.lost > 0
    assert job.left == []


def test_a_host_that_is_cut_off_in_the_middle_ends_the_job_with_the_error_of_the_page(jobs):
    job = jobs["cut"].result()
    assert job.returncodes == [1, 1], job.errors
    promised = re.compile(r"Timed out waiting 15000ms for (recv|send) operation to complete")
    for errors in job.errors:
        assert promised.search(errors), errors
    assert "Timed out waiting 15000ms for recv operation to complete" in page_text("multi-node.md")
    calls = {line.split()[2] for line in job.lines}
    assert calls == {"broadcast", "scatter", "gather", "reduce"}
    assert job.left == []


def test_ranks_that_offer_their_loopback_address_are_refused_as_the_page_says(jobs):
    job = jobs["loopback"].result()
    assert job.returncodes == [1, 1], job.errors
    said = r"Gloo connectFullMesh failed .*Connection refused, remote=\[127\.0\.0\.1\]"
    assert re.search(said, "".join(job.errors)), job.errors
    assert re.search(said, page_text("multi-node.md"))
    assert job.lines == []
    assert job.left == []


def test_a_firewall_that_lets_only_the_rendezvous_through_stops_the_ranks_where_the_page_says(jobs):
    job = jobs["closed firewall"].result()
    assert job.returncodes == [1, 1], job.errors
    for errors in job.errors:
        assert "Timeout (0:00:08)!" in errors
        assert "in init_process_group" in errors
    assert job.lines == []
    assert job.left == []


def test_the_loss_that_the_page_tells_is_the_loss_of_the_bad_line():
    assert f"每 {LOSS} 个包丢一个" in page_text("multi-node.md")
    assert f"loss {100 / LOSS:.0f}%" in page_text("multi-node.md")


def test_hosts_are_gone_with_all_their_processes_whatever_happens(jobs, tmp_path: Path):
    hosts = TwoHosts()

    def fail_on_them() -> None:
        with hosts:
            hosts.start(0, "sleep 1000", tmp_path, shell_environment())
            hosts.start(1, "setsid sleep 1000", tmp_path, shell_environment())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_on_them()
    assert left_in(tmp_path) == []
    assert [name for name in hosts.names if Path("/run/netns", name).exists()] == []


def test_hosts_that_a_killed_run_left_are_removed_by_the_next(jobs, tmp_path: Path):
    program = "from two_hosts import TwoHosts\nimport os, sys\nfrom pathlib import Path\n" + (
        "hosts = TwoHosts().__enter__()\n"
        'hosts.start(0, "sleep 1000", Path(sys.argv[1]), dict(os.environ))\n'
        "print(hosts.names[0], flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{ROOT / 'scripts'}"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    namespace = Path("/run/netns", killed.stdout.strip())
    assert namespace.exists(), killed.stderr
    remove_what_a_killed_run_left()
    assert not namespace.exists()
    assert left_in(tmp_path) == []


# ------------------------------------------------------------------------------------ the tools


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """A Linux that lacks the tools; returns what is installed on it, which brings nothing."""
    installed: list[tuple[str, ...]] = []
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(find_network_tools, "TOOLS", ("no-such-ip", "no-such-tc"))
    monkeypatch.setattr(find_browser, "is_root", lambda: False)
    monkeypatch.setattr(find_browser, "install_packages", lambda *names: installed.append(names))
    monkeypatch.setattr(sys, "argv", ["find_network_tools.py", "--install"])
    return installed


def test_a_missing_tool_is_one_line_that_says_what_to_install(
    bare_machine: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]
):
    assert find_network_tools.main() == 0
    assert bare_machine == [("iproute2", "nftables")]
    (line,) = capsys.readouterr().err.splitlines()
    assert "apt install iproute2 nftables" in line
    assert line.endswith("双机的测试会跳过")


def test_on_ci_a_missing_tool_is_a_failure(
    bare_machine: list[tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv("CI", "true")
    assert find_network_tools.main() == 1
    assert "跳过" not in capsys.readouterr().err


def test_tools_that_are_there_are_taken_and_nothing_is_installed(
    bare_machine: list[tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(find_network_tools, "TOOLS", ("sh",))
    assert find_network_tools.main() == 0
    assert bare_machine == []
    assert capsys.readouterr().out.strip().endswith("sh")


def test_who_is_not_root_is_told_why_there_are_no_hosts(
    bare_machine: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(find_network_tools, "TOOLS", ("sh",))
    with pytest.raises(NoHostsError, match="只有 root"):
        TwoHosts().__enter__()
