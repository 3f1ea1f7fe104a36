"""The failures: every file fails as its entry says, every wrong value is wrong as recorded."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import failure_macros
import failures
import find_browser
from built_site import ROOT, Site
from conftest import Visitor
from demo_runner import PATIENCE, Run, RunningDemo, run_demo
from record_expected import by_rank, reader_environment
from record_failures import DETAIL, await_stack, spy

DOCS = ROOT / "docs"
FOLDER = DOCS / failures.FOLDER

LOUD = failures.loud(DOCS)
SILENT = failures.silent(DOCS)
SHOWN = [entry for entry in LOUD if entry.file]
CASES = [(entry, file) for entry in SHOWN for file in entry.files]
FILES = sorted({file for _, file in CASES} | {entry.file for entry in SILENT})

HANGS = "hang.py"
"""The file that hangs on purpose, until its alarm rings."""

ONE_PORT = 29500
"""What nearly everyone's scripts listen on: no file may name it but as a wrong address."""

AS_A_READER = SILENT[0].file
"""The one of the files with a wrong value that is run by itself; they all have the same frame."""

RUN_ALONE = [HANGS, *sorted({file for _, file in CASES}), AS_A_READER]

each_loud = pytest.mark.parametrize(
    ("entry", "file"), CASES, ids=[f"{entry.id}-{Path(file).stem}" for entry, file in CASES]
)
each_silent = pytest.mark.parametrize("entry", SILENT, ids=lambda entry: entry.id)
each_file = pytest.mark.parametrize("file", [*FILES, HANGS])


def source(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """The files run once, as a reader does, a few at a time: many of them only wait."""
    folder = tmp_path_factory.mktemp("failures")
    with ThreadPoolExecutor(max_workers=3) as pool:
        started = {
            file: pool.submit(run_demo, folder / Path(file).stem, file, source(file))
            for file in RUN_ALONE
        }
    return {file: run.result() for file, run in started.items()}


TOGETHER = """
import contextlib, faulthandler, importlib, sys
from pathlib import Path

import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank, names):
    for name in names:
        with Path(f"{name}.rank{rank}").open("w") as file, contextlib.redirect_stdout(file):
            port = int(Path(f"{name}.port").read_text())
            try:
                importlib.import_module(name).worker(rank, port)
            except Exception as error:
                print(error)
        faulthandler.cancel_dump_traceback_later()
        if dist.is_initialized():
            dist.destroy_process_group()


if __name__ == "__main__":
    names, stores = sys.argv[1:], []
    for name in names:
        stores.append(dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False,
                                    use_libuv=False))
        Path(f"{name}.port").write_text(str(stores[-1].port))
    mp.spawn(work, args=(names,), nprocs=2)
"""
"""Runs the workers of many files one after the other in the same two processes, to save starts."""


def run_together(folder: Path, files: list[str], **environment: str) -> dict[str, str]:
    """Run the workers of several files in the same two processes; return what each printed.

    Returns:
        For every file its output, rank 0's before rank 1's, errors included; for "" what was said
        on stderr.
    """
    folder.mkdir()
    for file in files:
        (folder / file).write_text(source(file), encoding="utf-8")
    (folder / "together.py").write_text(TOGETHER, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "together.py", *(Path(file).stem for file in files)],
        cwd=folder,
        env={**reader_environment(), **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    printed = {
        file: "".join((folder / f"{Path(file).stem}.rank{rank}").read_text() for rank in (0, 1))
        for file in files
    }
    return {**printed, "": result.stderr}


@pytest.fixture(scope="module")
def wrong_values(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What every file with a wrong value prints."""
    folder = tmp_path_factory.mktemp("silent")
    return run_together(folder / "run", [entry.file for entry in SILENT])


@pytest.fixture(scope="module")
def detailed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What every wrong value prints under TORCH_DISTRIBUTED_DEBUG=DETAIL, errors included.

    Those that only their alarm ends run by themselves.
    """
    folder = tmp_path_factory.mktemp("detail")
    alone = [entry.file for entry in SILENT if entry.detail.startswith("Timeout")]
    with ThreadPoolExecutor(max_workers=len(alone)) as pool:
        waiting = {
            file: pool.submit(run_demo, folder / Path(file).stem, file, source(file), **DETAIL)
            for file in alone
        }
        others = [entry.file for entry in SILENT if entry.file not in alone]
        printed = run_together(folder / "together", others, **DETAIL)
    return {**printed, **{file: run.result().errors for file, run in waiting.items()}}


def output(run: Run) -> str:
    """Everything that a run printed and said, without what differs from run to run."""
    return failures.masked("\n".join([*run.lines, run.errors]))


# ------------------------------------------------------------------------------ what they do


@each_loud
def test_the_file_fails_with_the_type_and_the_words_of_its_entry(
    entry: failures.Loud, file: str, runs: dict[str, Run]
):
    assert_fails_as_promised(entry, output(runs[file]))


def assert_fails_as_promised(entry: failures.Loud, text: str) -> None:
    lines = text.splitlines()
    missing = [message for message in entry.messages if message not in text]
    assert not missing or any(variant in text for variant in entry.variants), text
    found = [*entry.messages, *entry.variants]
    at = [number for number, line in enumerate(lines) if any(words in line for words in found)]
    # A message of several lines has its type on the line before, or two before.
    assert any(entry.error in "\n".join(lines[max(0, n - 2) : n + 1]) for n in at), text


@each_silent
def test_the_wrong_value_is_wrong_as_recorded(entry: failures.Silent, wrong_values: dict[str, str]):
    assert by_rank(wrong_values[entry.file]) == failures.recorded(DOCS, entry.file).splitlines()


def test_nothing_is_said_about_a_wrong_value(wrong_values: dict[str, str], runs: dict[str, Run]):
    assert wrong_values[""] == ""
    assert runs[AS_A_READER].check() == failures.recorded(DOCS, AS_A_READER).splitlines()
    assert runs[AS_A_READER].errors == ""


def test_the_files_with_a_wrong_value_differ_in_nothing_but_their_worker():
    frames = set()
    for entry in SILENT:
        before, _, after = source(entry.file).partition("world_size=2)\n")
        frames.add("\n".join(before.splitlines()[2:]) + after.partition("\n\n\nif __name__")[2])
    assert len(frames) == 1


@each_silent
def test_detail_sees_exactly_what_the_page_says_it_sees(
    entry: failures.Silent, detailed: dict[str, str]
):
    printed = detailed[entry.file]
    if entry.detail:
        assert entry.detail in printed
    else:
        assert by_rank(printed) == failures.recorded(DOCS, entry.file).splitlines()


@pytest.mark.parametrize("file", RUN_ALONE)
def test_a_failure_leaves_no_process_behind(file: str, runs: dict[str, Run]):
    assert runs[file].left == []


@each_file
def test_a_file_is_short_says_how_to_run_it_and_pins_no_port(file: str):
    text = source(file)
    lines = text.splitlines()
    assert lines[0] == f"# 运行方式: python {file}"
    assert 8 <= len(lines) <= 43
    assert str(ONE_PORT) not in text or file == "bad_address.py"


@each_file
def test_a_file_that_starts_ranks_ends_by_itself(file: str):
    text = source(file)
    if "init_process_group" in text and "mp.spawn" in text and file != HANGS:
        assert "faulthandler.dump_traceback_later(20, exit=True)" in text
    for seconds in re.findall(r"timeout=(\d+)", text):
        assert int(seconds) < 30


# ----------------------------------------------------------------------------- what is recorded


@each_loud
def test_the_recorded_output_shows_the_message_of_the_entry(entry: failures.Loud, file: str):
    assert_fails_as_promised(entry, failures.recorded(DOCS, file))


def test_a_registry_that_contradicts_itself_is_refused(tmp_path: Path):
    folder = tmp_path / failures.FOLDER
    folder.mkdir(parents=True)
    entry: dict[str, object] = {
        "id": "a", "label": "b", "group": "start", "error": "E", "cause": "c", "cure": "d",
        "messages": ["m"], "file": "f.py",
    }  # fmt: skip
    for change, sentence in (
        ({"group": "nowhere"}, "group"),
        ({"file": ""}, "要么有 file"),
        ({"file": "", "also": ["g.py"], "absent": "x", "example": "m"}, "却没有 file"),
        ({"absent": "x"}, "要么有 file"),
        ({"colour": "red"}, "colour"),
        ({"messages": "m"}, "messages 应当是 list"),
        ({"cause": None}, "cause 应当是 str"),
    ):
        write(folder / "entries.yml", [{**entry, **change}])
        with pytest.raises(failures.FailureError, match=sentence):
            failures.loud(tmp_path)
    write(folder / "entries.yml", [entry, entry])
    with pytest.raises(failures.FailureError, match="出现了两次"):
        failures.loud(tmp_path)
    write(folder / "entries.yml", [{"id": "a"}])
    with pytest.raises(failures.FailureError, match="缺少字段"):
        failures.loud(tmp_path)


def write(path: Path, entries: list[dict[str, object]]) -> None:
    import yaml

    path.write_text(yaml.safe_dump(entries, allow_unicode=True), encoding="utf-8")


def test_there_are_enough_entries_and_every_file_is_used():
    assert len(SHOWN) >= 30
    assert {path.name for path in FOLDER.glob("*.py")} == {*FILES, HANGS}


def test_what_differs_from_run_to_run_is_masked():
    message = (
        "[enforce fail at /__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:456] "
        "peer [127.0.0.1]:57996, (127.0.0.1, 41203), port: 38587, at 0x7fb233779b8d "
        "remote=[127.0.0.0]:22945$0, host 127.0.0.1:36665 - retrying "
        "[F1201 11:31:37.668312881 ProcessGroupGloo.cpp:1537] GLHF! \U0001f3d6\ufe0f "
        "in /home/me/venv/lib/python3.11/site-packages/torch/lib/libc10.so"
    )
    assert failures.masked(message) == (
        "[enforce fail at …/third_party/gloo/gloo/transport/tcp/pair.cc:456] "
        "peer [127.0.0.1]:PORT, (127.0.0.1, PORT), port: PORT, at 0x… "
        "remote=[127.0.0.0]:PORT$0, host 127.0.0.1:PORT - retrying "
        "[F… ProcessGroupGloo.cpp:1537] GLHF! in …/site-packages/torch/lib/libc10.so"
    )


# ----------------------------------------------------------------------------------- the hang


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[dict[int, int]]:
    """The file that hangs, started: the process of each rank."""
    demo = RunningDemo(tmp_path / "hang", HANGS, source(HANGS))
    assert demo.process.stdout
    found: dict[int, int] = {}
    try:
        while len(found) < 2:
            line = demo.process.stdout.readline()
            assert line, "it ended before both ranks said who they are"
            for rank, pid in re.findall(r"\[rank (\d)\] pid (\d+)", line):
                found[int(rank)] = int(pid)
        yield found
    finally:
        os.killpg(demo.process.pid, signal.SIGKILL)
        demo.process.communicate()


@pytest.fixture
def allowed(hanging: dict[int, int]) -> tuple[str, ...]:
    """What py-spy's command begins with; the test is skipped where nobody may look at a process.

    On CI nothing is skipped: there it may ask sudo, which wants no password.
    """
    for before in ((), ("sudo", "--non-interactive")):
        if before and shutil.which("sudo") is None:
            break
        result = spy(hanging[0], *before)
        if not re.search("ermission|not permitted|password", result.stderr):
            return before
    if find_browser.required():
        pytest.fail(f"py-spy may not look: {result.stderr}")
    pytest.skip("this system lets no process look at another (ptrace)")


def test_py_spy_shows_which_rank_did_not_come(hanging: dict[int, int], allowed: tuple[str, ...]):
    waits, strays = (await_stack(hanging[rank], *allowed) for rank in (0, 1))
    assert re.match(r"all_reduce \(.*distributed_c10d.py", waits[0])
    assert f"load_batch ({HANGS}" in strays[0]
    assert waits[-2:][0].startswith("train_step ")
    assert strays[-2:][0].startswith("train_step ")
    # Line numbers are those of the file; torch's own calls in between may differ.
    recorded = failures.recorded(DOCS, "hang.py_spy")
    assert all(call in recorded for call in (strays[0], strays[1], strays[2], waits[-1], waits[-2]))


def test_the_alarm_of_a_hanging_file_says_where_each_rank_is(runs: dict[str, Run]):
    run = runs[HANGS]
    assert run.errors.count("Timeout (0:00:10)!") == 2
    for function in ("in load_batch", "in all_reduce"):
        assert function in run.errors
        assert function in failures.recorded(DOCS, "hang.faulthandler")


def test_detail_names_the_rank_that_did_not_call(tmp_path: Path):
    file = "missing_call.py"
    named = "[Rank 0]: Ranks 1 failed to pass monitoredBarrier in 3000 ms"
    run = run_demo(tmp_path / "run", file, source(file), **DETAIL)
    assert named in output(run)
    assert named in failures.recorded(DOCS, "missing_call.detail")


# ----------------------------------------------------------------------------------- the pages


def test_every_entry_is_a_section_of_the_page_named_by_its_message(site: Site):
    page = site.file("failures/errors/").read_text(encoding="utf-8")
    anchors = site.page("failures/errors/").anchors
    for entry in LOUD:
        assert entry.id in anchors
        assert page.count(f'id="{entry.id}"') == 1
        if entry.absent:
            assert f"{failure_macros.NOT_HERE}：{entry.absent}" in page


def test_every_wrong_value_is_a_section_with_its_file_and_its_output(site: Site):
    blocks = site.page("failures/silent/").code_blocks
    texts = [block.text.rstrip() for block in blocks]
    for entry in SILENT:
        assert entry.id in site.page("failures/silent/").anchors
        assert source(entry.file).rstrip() in texts
        assert failures.recorded(DOCS, entry.file).rstrip() in texts


def test_on_a_phone_a_long_message_wraps_instead_of_scrolling_sideways(visit: Visitor):
    page = visit("failures/errors/", width=390)
    wide = """() => [...document.querySelectorAll('.md-content pre > code')]
        .filter((code) => code.scrollWidth > code.clientWidth + 1).map((code) => code.innerText)"""
    assert page.locator(".md-content pre > code").count() == len(LOUD)
    assert page.evaluate(wide) == []


def test_a_message_that_holds_backticks_is_shown_as_it_is():
    assert failure_macros.code("plain") == "`plain`"
    assert failure_macros.code("Argument ``x`` is") == "``` Argument ``x`` is ```"


# ---------------------------------------------------------------------------------- the search

PASTED = {
    "busy-port": """Traceback (most recent call last):
  File "/home/me/train.py", line 31, in <module>
    main()
  File "/home/me/train.py", line 12, in main
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:29500", rank=0, world_size=4)
  File "/opt/conda/site-packages/torch/distributed/c10d_logger.py", line 83, in wrapper
    return func(*args, **kwargs)
torch.distributed.DistNetworkError: The server socket has failed to listen on any local network \
address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use
""",
    "nobody-listens": "[rank1]: torch.distributed.DistNetworkError: The client socket has timed "
    "out after 1800000ms while trying to connect to (10.0.12.7, 29500).",
    "store-wait-timeout": "torch.distributed.DistStoreError: wait timeout after 10000ms, keys: "
    "/default_pg/0//cpu//0/3",
    "no-environment": "ValueError: Error initializing torch.distributed using env:// rendezvous: "
    "environment variable RANK expected, but not set",
    "rank-too-big": "RuntimeError: [enforce fail at "
    "/opt/conda/conda-bld/pytorch/third_party/gloo/gloo/context.cc:23] rank < size. 4 vs 4",
    "no-nccl": '  File "/usr/lib/python3.10/dist-packages/torch/distributed/distributed_c10d.py", '
    "line 1013, in _new_process_group_helper\n    raise RuntimeError(\"Distributed package doesn't "
    "have NCCL built in\")\nRuntimeError: Distributed package doesn't have NCCL built in",
    "not-initialized": "RuntimeError: Default process group has not been initialized, please make "
    "sure to call init_process_group.",
    "wrong-interface": "RuntimeError: [enforce fail at "
    "../third_party/gloo/gloo/transport/tcp/device.cc:84] ifa != nullptr. Unable to find address "
    "for: ^lo,docker0",
    "no-main-guard": """RuntimeError:
        An attempt has been made to start a new process before the
        current process has finished its bootstrapping phase.

        This probably means that you are not using fork to start your
        child processes and you have forgotten to use the proper idiom
        in the main module:

            if __name__ == '__main__':
                freeze_support()
                ...
""",
    "notebook": "AttributeError: Can't get attribute 'worker' on <module '__main__' (built-in)>",
    "worker-arguments": "TypeError: main_worker() takes 1 positional argument but 2 were given",
    "local-rank-argument": "usage: train.py [-h] [--local_rank LOCAL_RANK]\ntrain.py: error: "
    "unrecognized arguments: --local-rank=0",
    "different-sizes": "terminate called after throwing an instance of 'gloo::EnforceNotMet'\n"
    "  what():  [enforce fail at ../third_party/gloo/gloo/transport/tcp/pair.cc:456] "
    "op.preamble.length <= op.nbytes. 4194304 vs 2097152. ",
    "uneven-sizes": "RuntimeError: ProcessGroupGloo::allgather: invalid tensor size at index 3 "
    "(expected (16, 128), got (12, 128))",
    "scatter-list": "ValueError: Argument ``scatter_list`` must NOT be specified on non-source "
    "ranks.",
    "recv-timeout": "RuntimeError: "
    "[/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting "
    "1800000ms for recv operation to complete",
    "send-timeout": "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:129] "
    "Timed out waiting 30000ms for send operation to complete",
    "different-order": "RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is "
    "running collective: CollectiveFingerPrint(SequenceNumber=17, OpType=ALLREDUCE, "
    "TensorShape=[8], TensorDtypes=Float, TensorDeviceTypes=TensorOptions(dtype=float (default), "
    "device=cpu)), but Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=17, "
    "OpType=BROADCAST, TensorShape=[4])",
    "not-contiguous": "ValueError: Tensors must be contiguous",
    "none-result": "AttributeError: 'NoneType' object has no attribute 'div_'",
    "not-in-group": "ValueError: Global rank 0 is not part of group "
    "<torch.distributed.distributed_c10d.ProcessGroup object at 0x7fd9408614f0>",
    "peer-gone": "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] "
    "Connection closed by peer [192.168.1.17]:51234. This is typically caused by a remote worker "
    "crashing. Check the logs of the remote worker before reporting an error. GLHF! "
    "\U0001f3d6\ufe0f",
    "killed": "torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with "
    "signal SIGKILL",
    "child-failed": "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    "============================================================\ntrain.py FAILED\n",
    "monitored-barrier": "[rank0]:[E1201 11:34:30.564991277 ProcessGroupGloo.cpp:2901] [Rank 0]: "
    "Ranks 1, 3 failed to pass monitoredBarrier in 10000 ms",
    "libuv": "RuntimeError: use_libuv was requested but PyTorch was build without libuv support",
    "windows-10049": "[W socket.cpp:697] [c10d] The client socket has failed to connect to "
    "[kubernetes.docker.internal]:29500 (system error: 10049 - 在其上下文中，该请求的地址无效。).",
    "nccl-watchdog": "[E ProcessGroupNCCL.cpp:821] [Rank 1] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=49, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800560 "
    "milliseconds before timing out.",
    "duplicate-gpu": "torch.distributed.DistBackendError: NCCL error in: "
    "../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, invalid usage (run with "
    "NCCL_DEBUG=WARN for details), NCCL version 2.19.3\nncclInvalidUsage: This usually reflects "
    "invalid usage of NCCL library.\nLast error:\nDuplicate GPU detected : rank 0 and rank 1 both "
    "on CUDA device 2000",
    "cpu-tensor-on-nccl": "RuntimeError: No backend type associated with device type cpu",
    "leftover-file": "RuntimeError: Gloo connectFullMesh failed with "
    "[../third_party/gloo/gloo/transport/tcp/pair.cc:152] timed out connecting: SO_ERROR: "
    "Connection refused, remote=[127.0.1.1]:40358$0",
    "connect-timeout": "RuntimeError: Gloo connectFullMesh failed with "
    "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.h:311] Connect timeout [none]",
    "unknown-host": "[W1201 14:50:18.291577099 socket.cpp:764] [c10d] The IPv6 network addresses "
    "of (gpu-node-07, 29500) cannot be retrieved (gai error: -2 - Name or service not known).",
    "rank-is-text": '  File "/opt/conda/site-packages/torch/distributed/distributed_c10d.py", line '
    "1793, in init_process_group\n    if not rank >= 0:\n"
    "TypeError: '>=' not supported between instances of 'str' and 'int'",
    "destroyed-twice": '    raise AssertionError("Process group cannot be None")\n'
    "AssertionError: Process group cannot be None",
    "output-type": "RuntimeError: ProcessGroupGloo::allgather: invalid tensor type at index 0 "
    "(expected TensorOptions(dtype=float, device=cpu), got TensorOptions(dtype=long int, "
    "device=cpu))",
    "operation-of-p2p": "ValueError: Invalid ``op``. Expected ``op`` to be of type "
    "``torch.distributed.isend`` or ``torch.distributed.irecv``.",
    "complex-operation": "ValueError: all_reduce does not support RedOpType.MAX on complex tensors",
    "no-cuda": "AttributeError: module 'torch._C' has no attribute '_cuda_setDevice'",
    "group-too-big": "RuntimeError: Mesh should not be bigger than default world size 2, but found "
    "4 ranks!",
    "duplicate-ranks": "ValueError: ranks list must not contain duplicate entries, got [0, 0]",
    "ddp-models-differ": "RuntimeError: DDP expects same model across all ranks, but Rank 1 has 4 "
    "params, while rank 0 has inconsistent 2 params.",
    "ddp-unused": "RuntimeError: Expected to have finished reduction in the prior iteration before "
    "starting a new one. This error indicates that your module has parameters that were not used "
    "in producing loss. You can enable unused parameter detection by passing the keyword argument "
    "`find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by \n"
    "making sure all `forward` function outputs participate in calculating loss.",
    "input-list-length": "RuntimeError: invalid input tensor list size, must be world size",
    "local-function": "AttributeError: Can't pickle local object 'main.<locals>.<lambda>'",
    "old-gloo": "RuntimeError: ProcessGroupGloo does not support reduce_scatter",
}
"""Messages as people paste them, with their own paths, addresses, ranks and versions."""


def first_entry(page: Page, message: str) -> str:
    """Put a message into the search, all at once; return the section of a page that is on top."""
    box = page.locator(".md-search__input")
    items = page.locator(".md-search-result__item")
    if not box.evaluate("box => box === document.activeElement"):
        page.keyboard.press("/")
        expect(box).to_be_focused()
    box.fill("")
    box.press("End")
    expect(items).to_have_count(0)
    box.fill(message)
    box.press("End")
    expect(items.first).to_be_visible()
    links = items.first.locator("a").all()
    address = "link => link.origin + link.pathname + link.hash"
    found = [str(link.evaluate(address)) for link in links]
    # The page itself is named above its sections.
    return found[1] if len(found) > 1 and found[1].startswith(f"{found[0]}#") else found[0]


def test_a_whole_message_in_the_search_brings_up_its_entry_first(site: Site, visit: Visitor):
    page = visit()
    wrong = {}
    for wanted, message in PASTED.items():
        first = first_entry(page, message)
        if first != f"{site.url}failures/errors/#{wanted}":
            wrong[wanted] = first
    assert wrong == {}


def test_the_whole_message_that_every_file_shows_finds_its_entry(site: Site, visit: Visitor):
    page = visit()
    wrong = {}
    for entry in LOUD:
        message = failure_macros.example(DOCS, entry)
        first = first_entry(page, message)
        if first != f"{site.url}failures/errors/#{entry.id}":
            wrong[entry.id] = first
    assert wrong == {}


def test_a_traceback_pasted_by_mouse_keeps_its_words_apart(site: Site, visit: Visitor):
    page = visit()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", PASTED["no-main-guard"])
    page.keyboard.press("/")
    box = page.locator(".md-search__input")
    box.focus()
    # What looks after the box is on its way since it has the focus.
    page.wait_for_function("Object.hasOwn(document.querySelector('.md-search__input'), 'value')")
    # No key is pressed after it, as with a mouse.
    page.evaluate(
        """async () => {
            const data = new DataTransfer();
            data.setData('text/plain', await navigator.clipboard.readText());
            document.activeElement.dispatchEvent(
                new ClipboardEvent('paste', { clipboardData: data, cancelable: true }));
        }"""
    )
    first = page.locator(".md-search-result__item a[href*='#']").first
    first.wait_for()
    assert first.evaluate("link => link.hash") == "#no-main-guard"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_the_machine_that_runs_this_has_the_torch_of_the_pages():
    import torch

    for page in ("silent", "errors", "hang"):
        text = (DOCS / "failures" / f"{page}.md").read_text(encoding="utf-8")
        assert set(re.findall(r"torch (\d+\.\d+\.\d+)", text)) == {torch.__version__.split("+")[0]}
