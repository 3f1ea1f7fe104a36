"""The bytes of a training step: formulas held to schedules, to the browser and to the pages."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction

import pytest
from playwright.sync_api import Locator, Page, expect

import training_macros
from article import Article
from built_site import ROOT, Site
from collectives.algorithms import REGISTRY
from collectives.cost import count_cost
from conftest import Visitor
from engines import Engine
from player_node import node
from race_macros import size_text, time_text
from site_macros import Page as SitePage
from site_macros import PageError
from training_traffic import SCHEMES, Traffic, Work, share, traffic

PAGE = SitePage("training/data.md", "training/data/", ROOT / "docs")
GIGABYTE = 10**9
LEAST = {
    "allreduce": "allreduce/ring",
    "allgather": "allgather/ring",
    "reducescatter": "reducescatter/ring",
    "alltoall": "alltoall/pairwise_shift",
}
"""An algorithm of each primitive that no other undercuts."""


def models() -> dict[str, dict[str, object]]:
    return {entry["slug"]: entry for entry in training_macros._models(PAGE)}


def some_works(count: int) -> list[Work]:
    chance = random.Random(count)
    highest = (10**12, 200, 20000, 100, 16, 4096, 10**6, 4, 4)
    return [Work(*(chance.randint(2, most) for most in highest)) for _ in range(count)]


# -------------------------------------------------------------------------------- the formulas


@pytest.mark.parametrize("primitive", LEAST)
def test_a_share_is_what_a_rank_of_the_schedule_sends(primitive: str):
    for n in range(2, 34):
        counted = count_cost(REGISTRY[LEAST[primitive]].schedule(n)).max_sent
        assert share(primitive, n) == counted


def test_zero_costs_what_data_parallelism_costs_and_fsdp_half_as_much_again():
    for work in some_works(20):
        even = work._replace(gradient=work.value)
        sent = dict.fromkeys(SCHEMES, Fraction(0))
        for row in traffic(even):
            sent[row.scheme] += row.sent
        assert sent["zero"] == sent["data"]
        assert sent["fsdp"] == sent["data"] * Fraction(3, 2)
        assert sent["sequence"] == sent["tensor"] * Fraction(5, 4)


def test_a_model_without_experts_has_no_row_for_them():
    (work,) = some_works(1)
    assert "expert" in {row.scheme for row in traffic(work)}
    assert "expert" not in {row.scheme for row in traffic(work._replace(moe=0))}


def test_python_and_the_browser_agree(tmp_path):
    works = some_works(200)
    asked = json.dumps([work._asdict() for work in works])
    result = node("traffic.mjs", schedules=tmp_path, input=asked)
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["titles"] == SCHEMES
    for work, rows in zip(works, told["answers"], strict=True):
        expected = traffic(work)
        assert len(rows) == len(expected)
        for row, right in zip(rows, expected, strict=True):
            assert [row[name] for name in Traffic._fields[:4]] == list(right[:4])
            assert row["sent"] == pytest.approx(float(right.sent), rel=1e-12)


def test_computing_takes_six_operations_for_a_parameter_and_a_token():
    parameters = models()["llama-3.1-8b"]["parameters"]
    assert isinstance(parameters, int)
    seconds = Fraction(6 * parameters * 8192, 400 * 10**12)
    assert training_macros.compute_time(PAGE, "llama-3.1-8b", 400) == time_text(seconds)
    years = float(seconds) / 8192 * 15e12 / (365 * 86400)
    told = training_macros.compute_years(PAGE, "llama-3.1-8b", 400, 15 * 10**12)
    assert float(told) == pytest.approx(years, abs=0.5)


# ----------------------------------------------------------------------------------- the models


def dense(vocabulary: int, layers: int, hidden: int, inner: int, keys: int) -> int:
    """Parameters of a Llama: both embeddings, attention with grouped keys, SwiGLU, three norms."""
    attention = 2 * hidden * hidden + 2 * hidden * keys
    layer = attention + 3 * hidden * inner + 2 * hidden
    return 2 * vocabulary * hidden + layers * layer + hidden


def test_the_parameters_of_a_model_are_those_of_its_layers():
    """The shapes are those of the sources that the list names."""
    known = models()
    assert known["llama-3.1-8b"]["parameters"] == dense(128_256, 32, 4096, 14_336, 8 * 128)
    assert known["llama-3.1-70b"]["parameters"] == dense(128_256, 80, 8192, 28_672, 8 * 128)
    experts = 32 * (7 * 3 * 4096 * 14_336 + 8 * 4096)
    mixtral = dense(32_000, 32, 4096, 14_336, 8 * 128) + experts
    assert known["mixtral-8x7b"]["parameters"] == mixtral


def test_every_model_says_where_its_numbers_are_from():
    for entry in models().values():
        source = entry["source"]
        assert isinstance(source, dict)
        assert source["text"]
        assert re.match(r"https://(github\.com|arxiv\.org)/", source["url"])


@pytest.mark.parametrize(
    ("macro", "arguments"),
    [
        ("model_title", ("gpt-5",)),
        ("model_number", ("llama-3.1-8b", "heads")),
        ("traffic_size", ("llama-3.1-8b", "expert", "alltoall")),
        ("traffic_sent", ("llama-3.1-8b", "datas")),
        ("training_traffic", ("llama-3.1-8b", "data datas")),
        ("compute_time", ("mixtral-8x7b", 400)),
    ],
)
def test_what_is_not_there_stops_the_build(macro: str, arguments: tuple[object, ...]):
    with pytest.raises(PageError, match=r"training/data\.md"):
        getattr(training_macros, macro)(PAGE, *arguments)


# ------------------------------------------------------------------------------------ the pages


def expected_rows(
    model: str, schemes: str, bandwidth: Fraction = Fraction(50), **numbers: int
) -> list[list[str]]:
    """The table for some numbers, as Python works it out; the bandwidth in GB/s."""
    rows = []
    for row in traffic(training_macros.work_of(PAGE, model, **numbers)):
        if row.scheme in schemes.split():
            cells = training_macros._cells(PAGE, row)
            seconds = row.sent / (bandwidth * GIGABYTE)
            rows.append([SCHEMES[row.scheme], *cells[:-1], time_text(seconds)])
    return rows


def shown_rows(page: Page) -> list[list[str]]:
    rows = page.locator("training-traffic tbody tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def ready(visit: Visitor, path: str, **options: object) -> Page:
    page = visit(path, **options)  # type: ignore[arg-type]
    page.locator("training-traffic[ready]").wait_for()
    return page


def field(page: Page, label: str) -> Locator:
    return page.locator("training-traffic").get_by_label(label)


@pytest.mark.parametrize(
    ("path", "model", "schemes"),
    [
        ("training/data/", "llama-3.1-8b", "data zero fsdp"),
        ("training/model/", "mixtral-8x7b", "tensor sequence pipeline expert"),
        ("training/combine/", "mixtral-8x7b", " ".join(SCHEMES)),
    ],
)
def test_the_table_is_the_same_with_and_without_scripts(
    visit: Visitor, path: str, model: str, schemes: str
):
    plain = visit(path, javascript=False)
    assert shown_rows(plain) == expected_rows(model, schemes)
    assert shown_rows(ready(visit, path)) == expected_rows(model, schemes)


def test_the_table_follows_the_numbers_of_the_reader(visit: Visitor):
    page = ready(visit, "training/model/")
    schemes = "tensor sequence pipeline expert"
    field(page, "组里的 rank 数 N").fill("16")
    field(page, "每步的 token 数").fill("1,000")
    field(page, "一个参数或激活几字节").select_option("1")
    field(page, "端口带宽").fill("12.5")
    changed = {"ranks": 16, "tokens": 1000, "value": 1}
    slow = Fraction(25, 2)
    assert shown_rows(page) == expected_rows("mixtral-8x7b", schemes, slow, **changed)
    work = training_macros.work_of(PAGE, "mixtral-8x7b", **changed)
    most = sum(row.sent for row in traffic(work) if row.scheme == "sequence")
    said = f"发得最多的是{SCHEMES['sequence']}：每个 rank 每步 {size_text(Fraction(most))}"
    expect(page.locator("training-traffic").get_by_role("status")).to_contain_text(said)
    field(page, "模型").select_option("deepseek-v3")
    assert shown_rows(page) == expected_rows("deepseek-v3", schemes, slow, **changed)
    field(page, "层数").first.fill("10")
    assert field(page, "模型").input_value() == ""


def test_a_number_that_cannot_be_is_refused_in_words_and_the_table_stays(visit: Visitor):
    page = ready(visit, "training/data/")
    before = shown_rows(page)
    ranks = field(page, "组里的 rank 数 N")
    for wrong in ("1", "2.5", "many", ""):
        ranks.fill(wrong)
        assert ranks.get_attribute("aria-invalid") == "true"
        expect(page.get_by_text("要是 2 到 1000000 的整数")).to_be_visible()
        assert shown_rows(page) == before
    ranks.fill("2")
    assert ranks.get_attribute("aria-invalid") == "false"
    expect(page.get_by_text("要是 2 到")).to_have_count(0)
    assert shown_rows(page) == expected_rows("llama-3.1-8b", "data zero fsdp", ranks=2)


def test_every_field_is_large_enough_for_a_finger_and_fits_a_phone(visit: Visitor):
    page = ready(visit, "training/combine/", width=320)
    for box in page.locator("training-traffic :is(input, select)").all():
        assert box.bounding_box()["height"] >= 44  # type: ignore[index]
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_the_form_survives_leaving_the_page_and_coming_back(visit: Visitor):
    page = ready(visit, "training/data/")
    page.get_by_role("link", name="张量、序列、流水线、专家并行").first.click()
    expect(page.locator("h1")).to_contain_text("张量")
    page.locator("training-traffic[ready]").wait_for()
    page.go_back()
    expect(page.locator("h1")).to_contain_text("数据并行")
    page.locator("training-traffic[ready]").wait_for()
    assert shown_rows(page) == expected_rows("llama-3.1-8b", "data zero fsdp")


def test_the_form_follows_the_keyboard_in_every_engine(engine: Engine):
    engine.open(
        '<script type="module" src="/assets/js/training-traffic.js"></script>'
        '<training-traffic model="llama-3.1-8b" schemes="data"></training-traffic>',
        ready=False,
    )
    engine.wait_for("find(null, 'training-traffic[ready]')")
    engine.focus(css="training-traffic input[name=ranks]")
    engine.press("End", "0")
    ((*_, sent, _),) = expected_rows("llama-3.1-8b", "data", ranks=80)
    engine.wait_for(f"find(null, 'tbody tr').textContent.includes({json.dumps(sent)})")
    engine.evaluate("""(() => {
        const select = find(null, 'select[name=gradient]');
        select.value = '4';
        select.dispatchEvent(new Event('input', { bubbles: true }));
    })()""")
    ((*_, sent, _),) = expected_rows("llama-3.1-8b", "data", ranks=80, gradient=4)
    engine.wait_for(f"find(null, 'tbody tr').textContent.includes({json.dumps(sent)})")
    assert engine.evaluate("find(null, '[role=status]').textContent").count(sent) == 1


def test_the_last_answer_divides_what_the_macro_counts(site: Site):
    """33.1 GB and 661 ms on the page are an eighth of what the page counts."""
    work = training_macros.work_of(PAGE, "llama-3.1-70b", ranks=16)
    (row,) = [row for row in traffic(work) if row.scheme == "data"]
    text = " ".join(e.text for e in Article(site.file("training/combine/").read_text()).prose)
    assert size_text(row.sent) in text
    assert f"约 {float(row.sent / 8 / GIGABYTE):.1f} GB" in text
    assert f"{float(row.sent / 8 / GIGABYTE / 50 * 1000):.0f} ms" in text
