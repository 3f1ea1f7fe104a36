"""The path: every page says what it asks for, follows the one before, and counts its sums."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from pathlib import Path

import pytest

import benchmark_macros
import path_macros
import record_expected
import schedule_macros
from article import Article
from built_site import ROOT, Site
from collectives.algorithms import REGISTRY
from collectives.cost import count_cost
from collectives.primitives import PRIMITIVES, Primitive
from demo_runner import rehearse
from figure_macros import RANKS, before_and_after
from latex_formula import evaluate
from site_macros import Page, PageError

PATH = [
    "start/why/",
    "start/processes/",
    "start/blocking/",
    "start/primitives/",
    *(f"primitives/{slug}/" for slug in PRIMITIVES),
    "algorithms/ring/",
]
"""The first pages of the path, in the order of reading."""

OWN = [
    *PATH[:4],
    "cost/model/",
    "cost/bandwidth/",
    "cost/choosing/",
    "training/data/",
    "training/model/",
    "training/combine/",
]
"""The pages that this file looks after."""

FAQ = "faq/"

PAGE = Page("cost/bandwidth.md", "cost/bandwidth/", ROOT / "docs")

each_own_page = pytest.mark.parametrize("path", OWN)
each_primitive = pytest.mark.parametrize(
    "primitive", PRIMITIVES.values(), ids=lambda primitive: primitive.slug
)


def article_of(site: Site, path: str) -> Article:
    return Article(site.file(path).read_text(encoding="utf-8"))


def source_of(path: str) -> str:
    return (ROOT / "docs" / path.rstrip("/")).with_suffix(".md").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------ the path


def test_the_next_page_is_the_next_of_the_path(site: Site):
    for page, following in itertools.pairwise(PATH):
        text = site.file(page).read_text(encoding="utf-8")
        found = re.search(r'<a href="([^"]+)" class="md-footer__link md-footer__link--next"', text)
        assert found, page
        assert found[1] == f"../../{following}" or found[1] == f"../{following.split('/', 1)[1]}"


@each_own_page
def test_a_page_begins_with_what_it_asks_for_and_what_one_can_do_after_it(site: Site, path: str):
    first = next(e for e in article_of(site, path).prose if e.tag == "p")
    assert re.search("读之前|读这一页之前|就够了", first.text)
    assert "读完" in first.text
    assert "{ .path-note }" in source_of(path)


@each_own_page
def test_a_page_ends_with_questions_and_sources_that_can_be_found(site: Site, path: str):
    headings = article_of(site, path).headings
    assert headings[-2:] == ["小测", "参考"]
    source = source_of(path)
    assert "[[% call quiz() %]]" in source
    lines = source.split("\n## 参考\n")[1].strip().splitlines()
    named = re.compile(
        r"https?://|\.(?:cc|cu|md)\b|\b(?:19|20)\d\d\b|记录|测试保证|model_source|模型"
    )
    assert len(lines) >= 3
    assert [line for line in lines if not named.search(line)] == []


# -------------------------------------------------------------------------------- the pictures


@each_primitive
def test_a_picture_shows_the_numbers_of_the_table_of_its_primitive(
    site: Site, primitive: Primitive
):
    """A cell stands for a chunk and says a number once that the table says several times."""
    (table,) = article_of(site, f"primitives/{primitive.slug}/").tables["谁在何时有什么"]
    columns = table[0]
    before = [i for i, name in enumerate(columns) if "（前" in name]
    after = [i for i, name in enumerate(columns) if "（后" in name]
    for rank, sides in enumerate(before_and_after(primitive)):
        for places, cells in zip((before, after), sides, strict=True):
            stated = [table[rank + 1][place] for place in places]
            numbers = [set(re.findall(r"\d+", text)) for text in stated if text.startswith("[")]
            drawn = {number for cell in cells for number in cell.text.split()}
            assert drawn == set().union(*numbers)
            if "没有这个缓冲区" in stated:
                assert cells == []
            if "未定义" in stated:
                assert cells
                assert all(cell == ("", ()) for cell in cells)


def test_after_a_sum_every_rank_is_in_the_picture():
    for rows in map(before_and_after, (PRIMITIVES["allreduce"], PRIMITIVES["reducescatter"])):
        assert {cell.ranks for _, then in rows for cell in then} == {tuple(range(RANKS))}


def test_the_page_shows_all_eight_with_their_text(site: Site):
    html = site.file("start/primitives/").read_text(encoding="utf-8")
    spoken = re.findall(r'<svg [^>]*role="img" aria-label="([^"]+)"', html)
    assert [words.split("：")[0] for words in spoken] == [p.title for p in PRIMITIVES.values()]
    for words in spoken:
        assert words.count("之前") == words.count("之后") == RANKS


# ------------------------------------------------------------------------------ the bandwidths


@each_primitive
def test_the_factor_of_bus_bandwidth_is_what_the_best_schedule_asks_of_its_busiest_port(
    primitive: Primitive,
):
    formula = path_macros.BUS_FACTORS[primitive.slug]
    for n in range(2, 34):
        factor = evaluate(formula, n)
        assert factor == path_macros.least_traffic(primitive.slug, n)[0]
        assert factor == primitive.lower_bound(n).beta


def test_the_least_traffic_is_not_that_of_just_any_algorithm():
    schedule = REGISTRY["allreduce/reduce_broadcast"].schedule(8)
    assert path_macros.port_traffic(schedule) > path_macros.least_traffic("allreduce", 8)[0]


def test_the_page_shows_the_factors_and_what_was_counted(site: Site):
    (table,) = article_of(site, "cost/bandwidth/").tables["系数从哪里来"]
    for row, (slug, primitive) in zip(table[1:], PRIMITIVES.items(), strict=True):
        assert row[0] == primitive.title_en
        counted = [Fraction(cell) for cell in row[2:6]]
        assert counted == [evaluate(path_macros.BUS_FACTORS[slug], n) for n in (2, 4, 8, 16)]
        assert row[6]


def test_a_number_on_a_page_is_counted_from_the_schedule():
    cost = count_cost(REGISTRY["allreduce/ring"].schedule(8))
    assert path_macros.counted(PAGE, "allreduce/ring", 8, "rounds") == str(cost.rounds)
    assert path_macros.counted(PAGE, "allreduce/ring", 8, "beta") == "7/4 M"
    # 14 rounds of 5 us, and 7/4 of 100 MB at 50 GB/s.
    assert path_macros.counted_time(PAGE, "allreduce/ring", 8, 100_000_000) == "3.57 ms"


def test_a_break_even_is_where_both_take_the_same_time():
    few, least = "allreduce/recursive_doubling", "allreduce/rabenseifner"
    assert path_macros.break_even(PAGE, few, least, 8) == "600 KB"
    assert {path_macros.counted_time(PAGE, name, 8, 600_000) for name in (few, least)} == {"51 µs"}
    with pytest.raises(PageError, match="没有分界点"):
        path_macros.break_even(PAGE, least, few, 8)


def test_a_reading_of_the_benchmarks_says_what_was_recorded(monkeypatch: pytest.MonkeyPatch):
    def reading(ring: list[float], one_shot: list[float]) -> str:
        sizes = ["1024", "4096", "4194304"]
        rows = {"torch": [1.0] * 3, "ring": ring, "one_shot": one_shot}
        times = {slug: dict(zip(sizes, row, strict=True)) for slug, row in rows.items()}
        data = {"ranks": 4, "collectives": {"allreduce": times}}
        monkeypatch.setattr(benchmark_macros, "_data", lambda page: data)
        return benchmark_macros.benchmark_reading(PAGE, "allreduce")

    said = reading([0.003, 0.002, 0.1], [0.001, 0.004, 0.2])
    assert "1 次变长、1 次反而变短：都是抖动" in said
    assert "6 M 的环形用了 100 ms，12 M 的单步直达用了 200 ms" in said
    assert "2 次变长、0 次反而变短。" in reading([0.002, 0.003, 0.1], [0.001, 0.004, 0.2])


def test_a_table_says_what_its_parameters_are_and_whose_ports_are_many():
    said = schedule_macros.algorithm_table(PAGE, "allreduce")
    assert "k 是流水块数，数的时候取 2。" in said
    assert "s 是每节点 rank 数，数的时候 N = 4、8、16 各取 2、4、8。" in said
    assert "One-shot<br>多端口" in said
    assert schedule_macros.TRAFFIC in said
    assert "标着「多端口」" not in schedule_macros.algorithm_table(PAGE, "reduce")
    first, _, *rows = schedule_macros.cost_table(PAGE, "broadcast/chain", (2, 4)).splitlines()
    assert first.startswith("| N | 流水块数 k | 轮数 |")
    assert [row.split(" | ")[1] for row in rows] == ["3", "3"]


@pytest.mark.parametrize(
    ("name", "ranks", "field"),
    [("allreduce/rings", 8, "beta"), ("allreduce/ring", 8, "bytes"), ("allreduce/ring", 1, "beta")],
)
def test_what_cannot_be_counted_stops_the_build(name: str, ranks: int, field: str):
    with pytest.raises(PageError, match=r"cost/bandwidth\.md"):
        path_macros.counted(PAGE, name, ranks, field)


# --------------------------------------------------------------------------------- the questions


def questions() -> dict[str, str]:
    """The questions of the FAQ, each with its answer as written."""
    parts = re.split(r"^### (.+?) \{ #[a-z-]+ \}$", source_of(FAQ), flags=re.MULTILINE)[1:]
    answers = [re.split(r"^## ", answer, flags=re.MULTILINE)[0] for answer in parts[1::2]]
    return dict(zip(parts[::2], answers, strict=True))


def test_there_are_at_least_fifteen_questions_and_each_links_to_where_it_was_asked(site: Site):
    asked = questions()
    assert len(asked) >= 15
    for question, answer in asked.items():
        assert question.endswith("？")
        (source,) = [line for line in answer.splitlines() if line.startswith("原帖：")]
        assert re.search(
            r"\]\(https://(github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+"
            r"|stackoverflow\.com/questions/\d+)",
            source,
        ), question
    html = site.file(FAQ).read_text(encoding="utf-8")
    assert html.count("<h3") == len(asked)


def test_a_question_is_named_by_the_number_of_its_thread():
    for text, repository, number in re.findall(
        r"\[([^]]+)\]\(https://github\.com/[\w.-]+/([\w.-]+)/(?:issues|pull)/(\d+)\)",
        source_of(FAQ),
    ):
        assert text.split("/")[-1] == f"{repository}#{number}"


def test_summing_in_another_order_gives_another_sum_but_the_same_one_everywhere():
    """The recorded output shows what the page says of it."""
    record = record_expected.record_of(ROOT / "docs/demos/faq/order_of_sum.py")
    lines = record.read_text(encoding="utf-8").splitlines()
    by_rank = {re.sub(r"^\[rank \d\] ", "", line) for line in lines}
    assert len(by_rank) == 2
    (places,) = [line for line in by_rank if line.startswith("all_reduce")]
    assert set(re.findall(r"\d\.0", places)) == {"0.0", "1.0"}


# ----------------------------------------------------------------------------------- the demos

PROGRAMS = {
    "start/hello_ranks.py": "start/processes/",
    "start/groups.py": "start/processes/",
    "start/waiting.py": "start/blocking/",
    "start/swapped_calls.py": "start/blocking/",
    "faq/group_source.py": FAQ,
    "faq/no_gradient.py": FAQ,
    "faq/order_of_sum.py": FAQ,
    "faq/uneven_gather.py": FAQ,
}


def test_every_program_of_the_path_is_on_a_page():
    demos = ROOT / "docs/demos"
    files = [*demos.glob("start/*.py"), *demos.glob("faq/*.py")]
    assert {path.relative_to(demos).as_posix() for path in files} == set(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_copied_from_the_page_prints_what_is_recorded(
    name: str, site: Site, tmp_path: Path
):
    blocks = site.page(PROGRAMS[name]).code_blocks
    file = ROOT / "docs/demos" / name
    (text,) = [block.text for block in blocks if block.title == file.name]
    record = record_expected.record_of(file)
    # Programs with the same frame are started as a reader does in test_training.
    run = rehearse(tmp_path / "reader", file.name, text)
    assert run.check() == record.read_text(encoding="utf-8").splitlines()
    assert run.errors == ""
