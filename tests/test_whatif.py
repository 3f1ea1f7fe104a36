"""如果……: what a damaged schedule leads to, said by the player as Python's rules and numbers do."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import oracle
from collectives.algorithms import REGISTRY
from collectives.primitives import PRIMITIVES
from collectives.prove import ProofError, prove
from collectives.serialize import schedule_from_json
from engines import Engine
from generate_schedules import published_ranks, schedule_path
from panel_page import (
    CONTROLS,
    ask,
    axe_faults,
    open_panel,
    panel,
    press,
    scrolls_sideways,
    too_small,
)
from player_bench import Bench, tag
from player_node import ask as ask_node

TITLE = "如果……"
RING = "allreduce/ring/n4.json"
KINDS = ("drop", "redirect", "twice", "again")

Damage = dict[str, Any]


def apply(data: dict[str, Any], damages: list[Damage]) -> dict[str, Any]:
    """Damage the data of a schedule; rounds and transfers are counted in it as it was."""
    whole: list[list[dict[str, Any]]] = [round_["transfers"] for round_ in data["rounds"]]
    rounds = copy.deepcopy(data["rounds"])
    rounds.append({"phase": "", "caption": "", "transfers": []})
    repeated: list[tuple[int, int]] = []
    # From the end, so that the places of the others stay what they are.
    for damage in sorted(damages, key=lambda d: (d["round"], d["transfer"]), reverse=True):
        at, index = damage["round"], damage["transfer"]
        transfers = rounds[at]["transfers"]
        match damage["kind"]:
            case "drop":
                del transfers[index]
            case "redirect":
                transfers[index]["dst"] = damage["dst"]
            case "twice":
                transfers.insert(index, copy.deepcopy(transfers[index]))
            case "again":
                repeated.append((at, index))
    for at, index in sorted(repeated):
        rounds[at + 1]["transfers"].append(whole[at][index])
    return {**data, "rounds": rounds if rounds[-1]["transfers"] else rounds[:-1]}


def some_damages(text: str, chance: random.Random) -> Iterator[list[Damage]]:
    """Every way to damage each kind of transfer of a schedule once, then two or three at a time."""
    data = json.loads(text)
    places: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    for at, round_ in enumerate(data["rounds"]):
        for index, transfer in enumerate(round_["transfers"]):
            sort = (transfer["op"], transfer["src"] == transfer["dst"])
            places.setdefault(sort, []).append((at, index))

    def damage(kind: str, at: int, index: int) -> Damage:
        transfer = data["rounds"][at]["transfers"][index]
        others = set(range(data["ranks"])) - {transfer["src"], transfer["dst"]}
        return {"kind": kind, "round": at, "transfer": index, "dst": chance.choice([*others])}

    for found in places.values():
        for kind in KINDS:
            yield [damage(kind, *chance.choice(found))]
    everywhere = [place for found in places.values() for place in found]
    for several in (2, 3):
        chosen = chance.sample(everywhere, min(several, len(everywhere)))
        yield [damage(chance.choice(KINDS), *place) for place in chosen]


def cases(schedules: Path) -> Iterator[tuple[str, str, list[Damage]]]:
    """(what it is, the whole schedule, the damages), always the same ones."""
    chance = random.Random(20261201)
    for algorithm in REGISTRY.values():
        for n in (3, 4, 5, 8):
            if n not in published_ranks(algorithm):
                continue
            path = schedule_path(algorithm, n, {})
            text = (schedules / path).read_text(encoding="utf-8")
            for damages in some_damages(text, chance):
                yield f"{path} {damages}", text, damages


@pytest.fixture(scope="module")
def answered(schedules: Path) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """(what it is, the damaged data, the player's answer)."""
    asked = list(cases(schedules))
    answers = ask_node(
        ({"whatif": text, "damages": damages} for _, text, damages in asked), schedules
    )
    return [
        (name, apply(json.loads(text), damages), answer)
        for (name, text, damages), answer in zip(asked, answers, strict=True)
    ]


def refusal(data: dict[str, Any]) -> dict[str, Any] | None:
    """What prove() says to it, without what it leaves open."""
    try:
        prove(schedule_from_json(json.dumps(data)))
    except ProofError as error:
        said = {
            "rule": error.rule,
            "sentence": str(error),
            "round": error.round,
            "transfer": error.transfer,
            "rank": error.rank,
            "buffer": error.buffer,
            "block": error.block,
        }
        return {key: value for key, value in said.items() if value is not None}
    return None


def test_what_is_refused_is_refused_by_the_rule_at_the_place_in_the_words_of_python(answered):
    rules = set()
    for name, data, answer in answered:
        expected = refusal(data)
        said = answer["refusal"]
        if said:
            said = {key: said[key] for key in said if key not in ("expected", "found")}
            rules.add(said["rule"])
        assert said == expected, name
    assert len(answered) > 800
    assert rules >= {
        "port-limit",
        "undefined-read",
        "mixed-blocks",
        "double-count",
        "write-race",
        "end-state",
        "unknown-buffer",
    }


def without_the_impossible(data: dict[str, Any]) -> dict[str, Any]:
    """The same without transfers into a buffer that their target does not have."""
    rooted = {name for name, buffer in data["buffers"].items() if buffer.get("on") == "root"}
    return {
        **data,
        "rounds": [
            {
                **round_,
                "transfers": [
                    transfer
                    for transfer in round_["transfers"]
                    if transfer["to"][0] not in rooted or transfer["dst"] == data["root"]
                ],
            }
            for round_ in data["rounds"]
        ],
    }


def test_what_every_block_ends_with_is_what_plain_numbers_end_with(answered):
    """Where the player says "undefined", other rubbish in the beginning gives another number."""
    for name, damaged, answer in answered:
        data = without_the_impossible(damaged)
        n, root = data["ranks"], data["root"] or 0
        primitive = PRIMITIVES[data["primitive"]]
        start = oracle.random_memory(data, seed=1)
        other = oracle.random_memory(data, seed=2)
        origin: dict[tuple[int, int], int] = {}
        for rank in range(n):
            for buffer, content in primitive.start(n, data["blocks"], root, rank).items():
                for at, block in enumerate(content):
                    if block is None:
                        continue
                    (contributor,) = block.ranks()
                    origin[block.origin, contributor] = start[rank][buffer][at]
                    other[rank][buffer][at] = start[rank][buffer][at]
        end = copy.deepcopy(start)
        assert oracle.carry_out(data, end), name
        assert oracle.carry_out(data, other), name
        for rank, held in enumerate(answer["held"]):
            assert held.keys() == end[rank].keys(), name
            for buffer, content in held.items():
                for at, heap in enumerate(content):
                    number = end[rank][buffer][at]
                    if heap is None:
                        assert number != other[rank][buffer][at], (name, rank, buffer, at)
                    else:
                        sum_of_it = sum(origin[block, who] * times for block, who, times in heap)
                        assert number == sum_of_it, (name, rank, buffer, at)
        wrong = oracle.wrong_blocks(data, start, end)
        assert [tuple(place) for place in answer["wrong"]] == wrong, name


def test_both_ends_are_met_damage_that_harms_and_damage_that_does_not(answered):
    outcomes = {(answer["refusal"] is None, answer["wrong"] == []) for _, _, answer in answered}
    assert outcomes == {(True, True), (False, True), (False, False)}


# -------------------------------------------------------------------------------- in the browser


def choose(page: Page, name: str, value: str) -> None:
    page.get_by_role("combobox", name=name, exact=True).select_option(value)


def verdict(page: Page) -> str:
    """Two lines: what the rules say, and what would come of it."""
    return "\n".join(panel(page).locator(".cp-verdict p").all_inner_texts())


def undo_buttons(page: Page) -> Locator:
    return panel(page).get_by_role("button", name=re.compile("^撤回"))


def outlined(page: Page, kind: str) -> int:
    """How many blocks are outlined on the stage."""
    return int(
        page.evaluate(
            f"[...document.querySelectorAll('.cp-outline-{kind}')].reduce((sum, path) =>"
            " sum + (path.getAttribute('d') ?? '').split('M').length - 1, 0)"
        )
    )


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.textContent"))


def test_a_lost_transfer_is_performed_and_its_consequence_said(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    press(page, "删掉")
    assert verdict(page).splitlines() == [
        "规则不许（结束状态不对）：全部 6 步结束后，rank 0 的 tensor[3] 应为块 3"
        "（rank 0、1、2、3 的贡献），实际是块 3（rank 1、2、3 的贡献）。",
        "照做的话，rank 0 的 tensor[3] 最后是 2 + 3 + 4 = 9，应为 1 + 2 + 3 + 4 = 10："
        "rank 0 的贡献没有进来。另有 3 块也错。",
    ]
    assert panel(page).locator(".cp-verdict").get_attribute("data-kind") == "wrong"
    press(page, "跳到出错的那一步")
    assert ask(page, "[p.round, p.rounds]") == [6, 6]
    assert [ask(page, f"p.stateAt(6)[{rank}].tensor[3].from") for rank in range(4)] == [
        [1, 2, 3]
    ] * 4
    assert outlined(page, "wrong") == 4


def test_a_step_that_breaks_a_rule_is_not_played_and_its_block_is_outlined(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    choose(page, "要改哪一步", "1")
    press(page, "同一步里做两次")
    assert "第 2 步第 2 个传输：rank 1 的 tensor[2]" in verdict(page)
    assert ask(page, "[p.round, p.rounds]") == [0, 1]
    assert outlined(page, "wrong") == 0
    press(page, "跳到出错的那一步")
    assert ask(page, "p.round") == 1
    assert outlined(page, "wrong") == 1
    expect(page.locator(".cp-example")).to_contain_text("的贡献就算了两次")


def test_a_change_that_harms_nobody_is_called_harmless(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    choose(page, "要改哪一步", "3")
    press(page, "下一步再做一次")
    assert verdict(page).splitlines() == [
        "规则：都守住了，证明照样通过。",
        "照做也没有坏处：每个 rank 的结果都对。",
    ]
    assert panel(page).locator(".cp-verdict").get_attribute("data-kind") == "right"


def test_another_target_can_be_chosen_and_is_said(bench: Bench):
    page = open_panel(bench, "scatter/flat/n4.json", TITLE)
    choose(page, "要改哪一步", "2")
    choose(page, "改发给哪个 rank", "2")
    press(page, "改发给")
    expect(panel(page).locator("li").first).to_contain_text("改发给 rank 2")
    assert "rank 2 的 output_tensor[0] 最后是块 6（值 6），应为块 4（值 4）" in verdict(page)
    assert "第 3 步 rank 0 发来的就是这一块" in verdict(page)


def test_changes_add_up_and_each_can_be_taken_back(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    press(page, "删掉")
    choose(page, "要改哪一步", "4")
    choose(page, "要改哪个传输", "2")
    press(page, "删掉")
    expect(undo_buttons(page)).to_have_count(2)
    both = verdict(page)
    undo_buttons(page).nth(0).click()
    expect(undo_buttons(page)).to_have_count(1)
    assert "rank 0 的 tensor[1] 最后是 3 + 4 = 7，应为" in verdict(page)
    assert verdict(page) != both
    assert "撤回" in focused(page), "the focus went to the next one"
    undo_buttons(page).nth(0).click()
    expect(panel(page).locator(".cp-verdict")).to_be_hidden()
    assert focused(page) == "删掉"
    assert ask(page, "p.stateAt(6)[0].tensor[3].from") == [0, 1, 2, 3]


def test_one_transfer_is_changed_in_one_way_at_a_time(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    press(page, "删掉")
    press(page, "同一步里做两次")
    expect(undo_buttons(page)).to_have_count(1)
    assert "算了两次" in verdict(page)


def test_one_button_restores_everything(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    press(page, "同一步里做两次")
    assert ask(page, "p.rounds") == 0
    press(page, "还原")
    assert ask(page, "p.rounds") == 6
    expect(undo_buttons(page)).to_have_count(0)
    assert outlined(page, "wrong") == 0
    expect(panel(page).get_by_role("button", name="还原")).to_have_attribute(
        "aria-disabled", "true"
    )
    assert focused(page) == "还原"


def test_closing_the_panel_restores_and_gives_the_focus_back(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    press(page, "同一步里做两次")
    page.keyboard.press("Escape")
    expect(panel(page)).to_have_count(0)
    assert ask(page, "p.rounds") == 6
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "更多"
    assert outlined(page, "wrong") + outlined(page, "picked") == 0


def test_another_number_of_ranks_begins_without_changes(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    press(page, "删掉")
    choose(page, "GPU 数", "8")
    expect(page.get_by_role("combobox", name="要改哪个传输").locator("option")).to_have_count(8)
    expect(undo_buttons(page)).to_have_count(0)
    expect(panel(page).locator(".cp-verdict")).to_be_hidden()
    assert ask(page, "p.rounds") == 14


def test_another_operation_keeps_the_changes_and_its_numbers_are_said(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    press(page, "同一步里做两次")
    choose(page, "归约", "max")
    expect(panel(page).locator(".cp-verdict")).to_contain_text("取最大时同一个数算两次没有关系")
    expect(undo_buttons(page)).to_have_count(1)
    assert ask(page, "p.rounds") == 0, "the damaged schedule is on the stage still"
    choose(page, "归约", "prod")
    expect(panel(page).locator(".cp-verdict")).to_contain_text("1 × 1 × 2 × 3 × 4 = 24")


def test_the_panel_follows_the_stage_until_the_reader_chooses_a_step(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    ask(page, "p.round = 3")
    step = page.get_by_role("combobox", name="要改哪一步")
    expect(step).to_have_value("3")
    step.select_option("1")
    ask(page, "p.round = 5")
    expect(step).to_have_value("1")


def test_a_block_on_the_stage_chooses_the_transfer_that_takes_it(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    assert outlined(page, "picked") == 1
    page.locator('.cp-card[data-rank="2"] .cp-value').nth(1).click()
    chosen = page.get_by_role("combobox", name="要改哪个传输")
    expect(chosen.locator("option:checked")).to_have_text("rank 2 → rank 3：块 1，并入")


def test_where_there_is_no_other_rank_that_is_said(bench: Bench):
    page = open_panel(bench, "allreduce/ring/n2.json", TITLE)
    button = panel(page).get_by_role("button", name="改发给")
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(panel(page)).to_contain_text("只有 2 个 rank，没有别人可发。")
    button.focus()
    page.keyboard.press("Enter")
    expect(undo_buttons(page)).to_have_count(0)


def test_eight_changes_are_enough(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    for step in (0, 1):
        choose(page, "要改哪一步", str(step))
        for transfer in range(4):
            choose(page, "要改哪个传输", str(transfer))
            press(page, "删掉")
    expect(undo_buttons(page)).to_have_count(8)
    expect(panel(page)).to_contain_text("已经改了 8 处，先撤回一处。")
    choose(page, "要改哪一步", "2")
    panel(page).get_by_role("button", name="删掉", exact=True).focus()
    page.keyboard.press("Enter")
    expect(undo_buttons(page)).to_have_count(8)
    undo_buttons(page).nth(7).click()
    press(page, "删掉")
    expect(undo_buttons(page)).to_have_count(8)


def test_it_all_works_with_the_keyboard_alone(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    for _ in range(2):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "要改哪一步"
    page.keyboard.press("ArrowDown")
    for _ in range(2):
        page.keyboard.press("Tab")
    assert focused(page) == "删掉"
    page.keyboard.press("Enter")
    expect(panel(page).locator("li").first).to_contain_text("第 2 / 6 轮")
    assert focused(page) == "删掉"


def test_what_the_rules_say_is_announced_politely(bench: Bench):
    page = open_panel(bench, RING, TITLE)
    region = panel(page).locator("[aria-live]")
    expect(region).to_have_attribute("aria-live", "polite")
    page.evaluate("""() => {
        window.said = 0;
        new MutationObserver((changes) => { window.said += changes.length; }).observe(
            document.querySelector('.cp-side [aria-live]'), { childList: true, subtree: true });
    }""")
    press(page, "删掉")
    assert page.evaluate("window.said") == 2, "two sentences, each written once"
    ask(page, "p.round = 2")
    assert page.evaluate("window.said") == 2


@pytest.mark.parametrize("view", ["矩阵", "时空"])
def test_it_works_in_every_view(view: str, bench: Bench):
    page = open_panel(bench, RING, TITLE)
    press(page, "同一步里做两次")
    said = verdict(page)
    page.get_by_role("button", name=view, exact=True).click()
    expect(page.get_by_role("button", name=view, exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(undo_buttons(page)).to_have_count(1)
    assert verdict(page) == said
    assert ask(page, "p.rounds") == 0
    press(page, "还原")
    assert ask(page, "p.rounds") == 6


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_the_panel_is_fit_for_everyone(width: int, scheme: str, bench: Bench):
    page = open_panel(bench, "gather/binomial/n4.json", TITLE, scheme, width=width)
    press(page, "删掉")
    press(page, "跳到出错的那一步")
    assert axe_faults(page) == []
    assert too_small(page) == []
    assert not scrolls_sideways(page)


# ------------------------------------------------------------------------------- in every engine


def test_every_engine_breaks_a_schedule_with_the_mouse_and_restores_it(engine: Engine):
    engine.open(tag(RING, CONTROLS))
    engine.click("更多")
    engine.click(TITLE)
    engine.click("删掉", inside=".cp-side")
    engine.wait_for("p.querySelector('.cp-verdict')?.textContent.includes('2 + 3 + 4 = 9')")
    engine.click("跳到出错的那一步")
    assert engine.evaluate("[p.round, p.stateAt(6)[0].tensor[3].from]") == [6, [1, 2, 3]]
    assert engine.evaluate("p.querySelectorAll('.cp-outline-wrong[d^=M]').length") == 4
    engine.click("还原")
    assert engine.evaluate("p.stateAt(6)[0].tensor[3].from") == [0, 1, 2, 3]
    assert engine.evaluate("p.querySelector('.cp-verdict').hidden")


def test_every_engine_breaks_a_schedule_with_the_keyboard(engine: Engine):
    engine.open(tag(RING, CONTROLS))
    engine.focus("更多")
    engine.press("Enter")
    engine.focus(TITLE)
    engine.press("Enter")
    engine.wait_for("document.activeElement === p.querySelector('.cp-side')")
    engine.choose("要改哪一步", "3")
    engine.focus("下一步再做一次")
    engine.press("Enter")
    engine.wait_for("p.querySelector('.cp-verdict').dataset.kind === 'right'")
    engine.focus("同一步里做两次")
    engine.press("Enter")
    engine.wait_for("p.querySelector('.cp-verdict').dataset.kind === 'wrong'")
    assert engine.evaluate("p.rounds") == 3
    engine.press("Escape")
    engine.wait_for("p.rounds === 6 && document.activeElement === find('更多')")


def test_every_engine_breaks_a_schedule_with_a_finger(engine: Engine):
    engine.open(tag(RING, CONTROLS), width=390)
    engine.click("更多", touch=True)
    engine.click(TITLE, touch=True)
    engine.click("同一步里做两次", touch=True)
    engine.wait_for("p.querySelector('.cp-verdict')?.textContent.includes('算了两次')")
    engine.click(css=".cp-whatif-list button", touch=True)
    engine.wait_for("p.rounds === 6")
