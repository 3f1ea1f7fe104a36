"""What the site says of Gloo's algorithms is what its sockets carry, to the byte."""

from __future__ import annotations

import json
import re
import shutil
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import gloo_macros
import gloo_traffic
import measure_gloo_traffic as measuring
from article import Article
from built_site import ROOT, Site
from collectives.algorithms import REGISTRY
from gloo_traffic import LATE, Match, Pairs, finished_without, matches, pair_traffic, told_apart
from site_macros import Page, PageError

DATA: dict[str, Any] = json.loads(measuring.RESULTS.read_text(encoding="utf-8"))
CALLS: dict[str, Any] = DATA["calls"]
PAGE = "run/gloo/"

each_call = pytest.mark.parametrize("call", CALLS)


def recorded_pairs(call: str) -> dict[int, Pairs]:
    return {
        int(n): {(a, b): Fraction(amount) for a, b, amount, _ in entry["pairs"]}
        for n, entry in CALLS[call]["ranks"].items()
    }


def recorded_finished(call: str) -> dict[int, set[tuple[int, int]]]:
    return {
        int(n): {(a, b) for a, b in entry["finished_without"]}
        for n, entry in CALLS[call]["ranks"].items()
        if "finished_without" in entry
    }


# ----------------------------------------------------------------------------- on this machine


@pytest.mark.skipif(sys.platform != "linux", reason="bytes are counted by the Linux kernel")
def test_four_ranks_measured_again_write_what_is_recorded():
    now = measuring.record({4: measuring.measure(4)})
    again = {name: call["ranks"]["4"] for name, call in now["calls"].items()}
    # Through JSON, as the file went.
    assert json.loads(json.dumps(again)) == {
        name: call["ranks"]["4"] for name, call in CALLS.items()
    }
    assert now["torch"].split("+")[0] == DATA["torch"].split("+")[0]


# --------------------------------------------------------------------------- what is recorded


def test_every_primitive_was_measured_for_two_to_eight_ranks_and_says_when_and_on_which_torch():
    assert {call["primitive"] for call in CALLS.values()} == {
        algorithm.primitive for algorithm in REGISTRY.values()
    }
    assert all(list(map(int, call["ranks"])) == list(range(2, 9)) for call in CALLS.values())
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", DATA["date"])
    pinned = re.search(r'"torch==([\d.]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert pinned
    assert DATA["torch"].split("+")[0] == pinned[1]


@each_call
def test_the_named_algorithm_is_the_only_one_that_explains_the_traffic(call: str):
    found = matches(CALLS[call]["primitive"], recorded_pairs(call))
    assert [match.algorithm for match in found] == CALLS[call]["same_traffic"]
    if len(found) > 1:
        assert set(recorded_finished(call)) == set(range(3, 9))
        found = told_apart(found, recorded_finished(call))
    assert found == [Match(CALLS[call]["algorithm"], CALLS[call]["mirrored"])]


def test_the_registry_names_gloo_where_it_was_measured_and_nowhere_else():
    named = {
        name
        for name, algorithm in REGISTRY.items()
        if any(use.library.startswith("Gloo") for use in algorithm.used_by)
    }
    assert named == {call["algorithm"] for call in CALLS.values()}


def test_the_file_is_written_as_it_is_kept():
    assert measuring.as_text(DATA) == measuring.RESULTS.read_text(encoding="utf-8")


# -------------------------------------------------------------------------- how a name is found


def test_one_block_too_many_on_one_connection_is_no_match():
    pairs = pair_traffic(REGISTRY["broadcast/binomial"].schedule(4))
    assert matches("broadcast", {4: pairs}) == [Match("broadcast/binomial", False)]
    assert matches("broadcast", {4: {**pairs, (3, 0): Fraction(1, 3)}}) == []


def test_a_ring_to_the_left_is_the_ring_mirrored():
    ring = pair_traffic(REGISTRY["allreduce/ring"].schedule(5))
    left = gloo_traffic.mirrored(ring, 5)
    assert set(left) == {(r, (r - 1) % 5) for r in range(5)}
    assert matches("allreduce", {5: ring}) == [Match("allreduce/ring", False)]
    assert matches("allreduce", {5: left}) == [Match("allreduce/ring", True)]


def test_an_algorithm_that_a_single_n_refutes_is_not_named():
    doubling = REGISTRY["allgather/recursive_doubling"]
    measured = {n: pair_traffic(doubling.schedule(n)) for n in (4, 8)}
    assert Match(doubling.name, False) in matches("allgather", measured)
    ring = pair_traffic(REGISTRY["allgather/ring"].schedule(6))
    assert matches("allgather", {**measured, 6: ring}) == []


@pytest.mark.parametrize("n", range(3, 9))
def test_a_late_rank_holds_the_rounds_behind_it_but_not_what_is_posted_at_once(n: int):
    def finished(name: str) -> set[tuple[int, int]]:
        return finished_without(REGISTRY[name].schedule(n), LATE)

    others = [rank for rank in range(n) if rank != LATE]
    assert finished("scatter/flat") == set()
    assert finished("scatter/flat_multiport") == {(0, rank) for rank in others if rank}
    assert finished("alltoall/direct") == {(a, b) for a in others for b in others if a != b}
    assert finished("alltoall/pairwise_shift") < finished("alltoall/direct")


@each_call
def test_of_two_algorithms_with_the_same_traffic_the_late_rank_picks_one(call: str):
    both = [Match(name, False) for name in CALLS[call]["same_traffic"]]
    for match in both if len(both) > 1 else []:
        seen = {
            n: finished_without(REGISTRY[match.algorithm].schedule(n), LATE) for n in range(3, 9)
        }
        assert told_apart(both, seen) == [match]


# ------------------------------------------------------------------------------ the arithmetic

SIZES = (1000, 2000, 40000)


def written(payload: Fraction, there: int, back: int) -> list[measuring.Written]:
    """What rank 0 and rank 1 write for some payload from 0 to 1, and the messages both ways."""
    return [
        {
            (0, 1): int(payload * size) + 48 * (2 * there + back),
            (1, 0): 48 * (there + 2 * back),
        }
        for size in SIZES
    ]


def test_payload_and_messages_are_parted_exactly():
    pairs, messages = measuring.split(written(Fraction(3, 4), there=6, back=0), SIZES)
    assert pairs == {(0, 1): Fraction(3, 4)}
    assert messages == {(0, 1): 6}


@pytest.mark.parametrize(
    ("index", "pair", "more"),
    [(0, (0, 1), 1), (1, (0, 1), 48), (2, (0, 1), 8), (2, (1, 0), 24), (0, (1, 0), 96)],
)
def test_bytes_that_do_not_add_up_are_refused(index: int, pair: tuple[int, int], more: int):
    counted = written(Fraction(3, 4), there=6, back=0)
    counted[index][pair] += more
    with pytest.raises(measuring.MeasurementError, match="无法分成数据和消息头"):
        measuring.split(counted, SIZES)


# ------------------------------------------------------------------------------------- the page


def test_the_page_plays_every_named_algorithm_beside_its_numbers(site: Site):
    article = Article(site.file(PAGE).read_text(encoding="utf-8"))
    played = {
        "/".join(src.split("assets/schedules/")[-1].split("/")[:2])
        for players in article.players.values()
        for src in players
    }
    assert played == {call["algorithm"] for call in CALLS.values()}
    for section, players in article.players.items():
        tables = [table for table in article.tables[section] if table[0][0] == "N"]
        assert len(tables) == len(players), section
        for table in tables:
            assert [row[0] for row in table[1:]] == [str(n) for n in range(2, 9)]


def test_the_page_says_that_reduce_scatter_sends_twice_what_is_needed():
    for call in ("reduce_scatter", "reduce_scatter_single"):
        for n, pairs in recorded_pairs(call).items():
            needed = REGISTRY["reducescatter/ring"].cost(n).max_sent
            assert set(gloo_traffic.sent_by_rank(pairs, n)) == {2 * needed}


def test_the_list_form_of_reduce_scatter_takes_n_times_the_messages():
    def messages(call: str, n: str) -> int:
        return sum(count for *_, count in CALLS[call]["ranks"][n]["pairs"])

    for n in CALLS["reduce_scatter"]["ranks"]:
        once = messages("reduce_scatter_single", n)
        assert messages("reduce_scatter", n) == int(n) * once
        assert once == messages("all_reduce", n) == 4 * (int(n) - 1) * int(n)


def test_a_name_that_the_registry_no_longer_bears_out_stops_the_build(tmp_path: Path):
    (tmp_path / "assets").mkdir()
    file = tmp_path / "assets" / "gloo_traffic.json"
    shutil.copy(measuring.RESULTS, file)
    page = Page(PAGE.rstrip("/") + ".md", PAGE, tmp_path)
    gloo_macros.gloo_overview(page)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("broadcast/binomial", "broadcast/chain"), encoding="utf-8")
    with pytest.raises(PageError, match="broadcast 的算法与登记表不符"):
        gloo_macros.gloo_overview(page)


def test_ranks_that_send_the_same_are_named_together_and_idle_ones_once(site: Site):
    article = Article(site.file(PAGE).read_text(encoding="utf-8"))
    (traffic, _) = article.tables["Broadcast：二项树"]
    sent = {row[0]: row[1].replace("\u2060", "") for row in traffic[1:]}
    assert sent["4"] == "rank 0：2 M；rank 1：M；其余不发"
    assert sent["8"] == "rank 0：3 M；rank 1：2 M；rank 2、3：M；其余不发"
    (traffic, _) = article.tables["Reduce：环形归约散发，再收集"]
    assert traffic[-1][1].replace("\u2060", "") == "rank 0：7/8 M；rank 1–7：M"


def test_a_call_that_was_not_measured_stops_the_build():
    page = Page(PAGE.rstrip("/") + ".md", PAGE, ROOT / "docs")
    with pytest.raises(PageError, match="没有测过 'all_add'"):
        gloo_macros.gloo_table(page, "all_add")
    with pytest.raises(PageError, match="流量不同"):
        gloo_macros.gloo_table(page, "all_reduce", "all_gather")
