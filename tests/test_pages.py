"""What every page promises: the same skeleton, fixed words, the demos' numbers, true formulas."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import groupby

import pytest
from playwright.sync_api import Route, expect

import subset_math_font
from article import Article
from built_site import MOUNT, ROOT, Site
from collectives.algorithm import Algorithm, Formulas
from collectives.algorithms import REGISTRY, algorithms_of
from collectives.primitives import PRIMITIVES, Primitive
from collectives.prove import ProofError, prove
from collectives.schedule import Schedule, Transfer
from conftest import Visitor
from latex_formula import FormulaError, evaluate

SKELETON = [
    "一句话",
    "动画",
    "谁在何时有什么",
    "算法怎么选",
    "代码",
    "代价",
    "训练里用在哪",
    "常见错误",
    "各家叫法",
    "小测",
    "参考",
]

CHINESE = "\u3400-\u4dbf\u4e00-\u9fff"

#: Aliases on the terminology page that are ordinary words elsewhere.
ORDINARY = {"线性", "星形", "多级"}

#: What Chinese pages on the subject really mix up; the terminology page has to name them all.
MIXED_UP = {
    *("规约", "聚集", "散射", "全聚集", "全对全", "归约散射"),
    *("递归减半", "递归加倍", "两两交换", "二项式树", "环型", "延迟", "根节点"),
}

#: Never seen in a text worth quoting, so not on the terminology page either.
ALSO_REFUSED = {"通讯", "递归翻倍", "逐对交换"}

TERMINOLOGY = "terminology/"


def article_of(site: Site, path: str) -> Article:
    return Article(site.file(path).read_text(encoding="utf-8"))


def path_of(primitive: Primitive) -> str:
    return f"primitives/{primitive.slug}/"


each_primitive = pytest.mark.parametrize(
    "primitive", PRIMITIVES.values(), ids=lambda primitive: primitive.slug
)
each_algorithm = pytest.mark.parametrize(
    "algorithm", REGISTRY.values(), ids=lambda algorithm: algorithm.name
)


# ------------------------------------------------------------------------------------ skeleton


@each_primitive
def test_every_primitive_has_a_page_with_the_same_skeleton(site: Site, primitive: Primitive):
    article = article_of(site, path_of(primitive))
    assert article.title == primitive.title
    assert article.headings == SKELETON


@each_primitive
def test_no_section_of_a_primitive_is_empty(site: Site, primitive: Primitive):
    article = article_of(site, path_of(primitive))
    filled = {element.section for element in article.prose if element.tag != "h2"}
    code = {"代码"} if site.page(path_of(primitive)).code_blocks else set()
    assert set(SKELETON) - filled - code == set()


@each_primitive
def test_the_page_of_a_primitive_plays_what_the_primitive_opens_with(
    site: Site, primitive: Primitive
):
    players = article_of(site, path_of(primitive)).players
    opens = algorithms_of(primitive.slug)[0]
    assert [src.split("assets/schedules/")[-1] for src in players["动画"]] == [
        f"{opens.name}/n4.json"
    ]


@each_primitive
def test_the_page_of_a_primitive_shows_all_its_demos_each_with_its_output(
    site: Site, primitive: Primitive
):
    shown = site.page(path_of(primitive)).code_blocks
    demos = sorted((ROOT / "docs" / "demos").glob(f"{primitive.slug}_*.py"))
    assert demos
    for demo in demos:
        at = [block.title for block in shown].index(demo.name)
        output = demo.parent / "expected" / f"{demo.stem}.txt"
        assert shown[at].text.rstrip() == demo.read_text(encoding="utf-8").rstrip()
        assert shown[at + 1].title == "实际输出"
        assert shown[at + 1].text.rstrip() == output.read_text(encoding="utf-8").rstrip()


@each_primitive
def test_the_pages_of_the_primitives_name_every_algorithm_in_their_table(
    site: Site, primitive: Primitive
):
    (table,) = article_of(site, path_of(primitive)).tables["算法怎么选"]
    firsts = [row[0] for row in table[1:]]
    for algorithm in algorithms_of(primitive.slug):
        assert any(algorithm.title_zh in first for first in firsts), algorithm.name
    assert "下界" in firsts[-1]


@each_primitive
def test_every_page_of_a_primitive_names_at_least_two_sources(primitive: Primitive):
    source = (ROOT / "docs" / path_of(primitive).rstrip("/")).with_suffix(".md")
    references = source.read_text(encoding="utf-8").split("\n## 参考\n")[1]
    sources = [line for line in references.splitlines() if line.startswith("- ")]
    assert len(sources) >= 2
    named = re.compile(r"https?://|\.(?:cc|c|h|md|json|cu|py)\b|\b(?:19|20)\d\d\b|实测")
    for line in sources:
        assert named.search(line), f"not a source one can find: {line}"


@each_primitive
def test_the_four_libraries_are_named_with_an_interface_of_theirs(site: Site, primitive: Primitive):
    (table,) = article_of(site, path_of(primitive)).tables["各家叫法"]
    names = {row[0]: "" for row in table[1:]}
    for row in table[1:]:
        names[row[0]] += f" {row[1]} {row[2]}"
    for library, interface in {
        "PyTorch": r"\btorch\.distributed\.[a-z_]+\(",
        "NCCL": r"\bnccl[A-Z]\w+",
        "MPI": r"\bMPI_[A-Z]\w+",
        "HCCL": r"\bHccl[A-Z]\w+",
    }.items():
        assert re.search(interface, names[library]), library


def test_the_pages_of_the_primitives_lead_to_one_another(site: Site):
    for primitive in PRIMITIVES.values():
        links = {link.address for link in site.page(path_of(primitive)).links if link.tag == "a"}
        others = [p.slug for p in PRIMITIVES.values() if f"../{p.slug}/" in links]
        assert len(others) >= 2, primitive.slug


IDENTITIES = [
    ("broadcast", "broadcast/scatter_ring_allgather", ["scatter", "allgather"]),
    ("allreduce", "allreduce/ring", ["reduce-scatter", "allgather"]),
    ("allreduce", "allreduce/reduce_broadcast", ["reduce", "broadcast"]),
    ("reducescatter", "reducescatter/n_reduces", ["reduce"]),
]
"""The page that says what a primitive is made of, what plays it there, and its phases."""


@pytest.mark.parametrize(("slug", "algorithm", "phases"), IDENTITIES)
def test_what_a_primitive_is_made_of_is_played_on_its_page(
    site: Site, slug: str, algorithm: str, phases: list[str]
):
    rounds = [r for r in REGISTRY[algorithm].schedule(4).rounds if not r.is_local]
    assert [phase for phase, _ in groupby(round_.phase for round_ in rounds)] == phases
    players = article_of(site, f"primitives/{slug}/").players
    played = [src.split("assets/schedules/")[-1] for shown in players.values() for src in shown]
    assert f"{algorithm}/n4.json" in played


# --------------------------------------------------------------------------------------- words


def aliases() -> set[str]:
    """The words that the terminology page names only to say what this site calls them."""
    text = (ROOT / "docs" / "terminology.md").read_text(encoding="utf-8")
    named = re.findall(r"也(?:叫|写作)([^，。]+)", text)
    words = {word for names in named for word in re.findall(f"[{CHINESE}]+", names)}
    return words - ORDINARY


def reader_facing_texts(site: Site) -> Iterator[tuple[str, str]]:
    """Name and text of everything a reader reads, the terminology page left out."""
    for path in site.paths():
        if path != TERMINOLOGY:
            article = article_of(site, path)
            yield path, "\n".join(element.text for element in article.prose)
    for pattern in (
        "*.md",
        "docs/demos/*.py",
        "docs/assets/js/*.js",
        "scripts/collectives/**/*.py",
    ):
        for file in sorted(ROOT.glob(pattern)):
            yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")


def test_an_alias_of_a_term_is_used_nowhere_but_on_the_terminology_page(site: Site):
    refused = aliases() | ALSO_REFUSED
    # The words that Chinese pages on the subject really mix up must be among them.
    assert refused >= MIXED_UP
    found = [
        f"{name}: {word}"
        for name, text in reader_facing_texts(site)
        for word in refused
        if word in text
    ]
    assert found == []


TOUCHING = re.compile(f"[{CHINESE}][A-Za-z0-9α-ωΑ-Ω]|[A-Za-z0-9α-ωΑ-Ω][{CHINESE}]")


def touching(text: str) -> list[str]:
    """Places where Chinese touches Latin letters or digits, with what stands around them."""
    return [text[max(0, m.start() - 8) : m.end() + 8] for m in TOUCHING.finditer(text)]


@pytest.mark.parametrize("text", ["用NCCL", "N轮", "第2 轮", "共 6轮", "时延α"])
def test_the_check_for_spaces_sees_a_missing_one(text: str):
    assert touching(text)


def test_chinese_stands_apart_from_latin_letters_and_digits(site: Site):
    found = [
        f"{path}: {place}"
        for path in site.paths()
        for element in article_of(site, path).prose
        for place in touching(element.text)
    ]
    assert found == []


# ------------------------------------------------------------------------------------ formulas

COSTS = ("rounds", "beta", "gamma", "max_sent")
SOME_M = 7
ENORMOUS = 400
"""Any number but 1: a formula that forgets its M is then wrong."""


def untrue_formulas(algorithm: Algorithm) -> list[str]:
    """Where what the page shows differs from the closed form, for N = 2..33 and all parameters.

    A field that holds only in the limit must be within 5 % when the first parameter is enormous.
    """
    untrue = []
    formulas = algorithm.formulas
    for n in algorithm.valid_ranks(range(2, 34)):
        if formulas.powers_of_two_only and n & (n - 1):
            continue
        for parameters in algorithm.combinations(n):
            cost = algorithm.closed_form(n, **parameters)
            vast = dict.fromkeys(list(parameters)[:1], ENORMOUS)
            symbols = {p.symbol: parameters[p.name] for p in algorithm.parameters}
            for field in COSTS:
                formula = getattr(formulas, field)
                unit = 1 if field == "rounds" else SOME_M
                if field in formulas.limits:
                    if n < 4:
                        continue
                    symbols_then = {p.symbol: ENORMOUS for p in algorithm.parameters}
                    shown = evaluate(formula, n, SOME_M, symbols_then)
                    limit = getattr(algorithm.closed_form(n, **{**parameters, **vast}), field)
                    wrong = abs(shown - limit * unit) > shown / 20
                else:
                    shown = evaluate(formula, n, SOME_M, symbols)
                    wrong = shown != getattr(cost, field) * unit
                if wrong:
                    untrue.append(f"{algorithm.name}: {field} = {formula}, N = {n}, {parameters}")
    return untrue


@each_algorithm
def test_the_formula_on_the_page_is_the_closed_form(algorithm: Algorithm):
    assert untrue_formulas(algorithm) == []


@each_primitive
def test_the_lower_bound_on_the_page_is_the_bound_that_schedules_are_held_to(primitive: Primitive):
    formulas = primitive.lower_bound_formulas
    for n in range(2, 34):
        bound = primitive.lower_bound(n)
        assert evaluate(formulas.rounds, n, SOME_M) == bound.rounds
        assert evaluate(formulas.beta, n, SOME_M) == bound.beta * SOME_M
        assert evaluate(formulas.gamma, n, SOME_M) == bound.gamma * SOME_M


@pytest.mark.parametrize(
    "mistake",
    [
        {"rounds": "N"},
        {"rounds": r"\lceil \log_2 N \rceil"},
        {"beta": r"2 \frac{N-1}{N}"},
        {"gamma": r"\frac{N}{N-1} M"},
        {"max_sent": r"2 \frac{N-1}{N} M M"},
    ],
    ids=lambda mistake: next(iter(mistake)),
)
def test_a_wrong_formula_does_not_get_through(mistake: dict[str, str]):
    algorithm = REGISTRY["allreduce/ring"]
    wrong = replace(algorithm, formulas=replace(algorithm.formulas, **mistake))  # type: ignore[arg-type]
    assert untrue_formulas(wrong)


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("2(N-1)", 10),
        (r"2\,\frac{N-1}{N} M", Fraction(35, 3)),
        (r"N \lceil \log_2 N \rceil", 18),
        (r"2^{\lceil \log_2 N \rceil-4}", Fraction(1, 2)),
        (r"\max(N-2, 2^{N-5}, 3)", 4),
        ("N-1-2", 3),
        ("(N+1)(N-1)", 35),
    ],
)
def test_the_evaluator_reads_latex_as_a_reader_does(formula: str, value: Fraction):
    assert evaluate(formula, 6, SOME_M) == value


@pytest.mark.parametrize(
    "formula",
    [
        "",
        "K",
        "2 3",
        "N 2",
        "N!",
        "N^2",
        "-N",
        "(N-1",
        r"\sqrt{N}",
        r"\frac{1}{N",
        r"\frac{1}{N-6}",
        r"\log_2 N",
        r"\lfloor \log_2 N \rfloor",
        r"2^{\frac{1}{2}}",
        r"N \cdot M",
    ],
)
def test_the_evaluator_refuses_what_it_does_not_know(formula: str):
    with pytest.raises(FormulaError):
        evaluate(formula, 6)


BREAK_EVEN = {
    ("tree", "broadcast/binomial"): "broadcast/scatter_ring_allgather",
    ("halving-doubling", "allreduce/recursive_doubling"): "allreduce/rabenseifner",
    ("bruck-pat", "alltoall/bruck"): "alltoall/pairwise_shift",
    ("direct", "allreduce/one_shot"): "allreduce/two_shot",
}
"""A page and its algorithm of few rounds -> that of few bytes, which takes over at some M."""


def break_even_formulas(page: str) -> list[str]:
    """Every M that a page writes as a multiple of alpha over beta."""
    text = (ROOT / "docs" / "algorithms" / f"{page}.md").read_text(encoding="utf-8")
    found = re.findall(r"\$M [<=] (\\frac\{.*?\\alpha\}\{.*?\\beta\})\$", text)
    return [formula.replace(r"\alpha", "a").replace(r"\beta", "b") for formula in found]


@pytest.mark.parametrize(("few_rounds", "few_bytes"), BREAK_EVEN.items())
def test_where_an_algorithm_stops_to_pay_follows_from_the_closed_forms(
    few_rounds: tuple[str, str], few_bytes: str
):
    page, name = few_rounds
    (formula,) = break_even_formulas(page)
    for n in (4, 8, 16, 32):
        few, least = REGISTRY[name].cost(n), REGISTRY[few_bytes].cost(n)
        symbols = {"L": n.bit_length() - 1, "a": 1, "b": 1}
        alphas = least.rounds - few.rounds
        assert evaluate(formula, n, symbols=symbols) == alphas / (few.beta - least.beta), n


def test_every_break_even_on_a_page_is_held_to_the_closed_forms():
    pages = [file.stem for file in sorted((ROOT / "docs" / "algorithms").glob("*.md"))]
    assert [page for page in pages if break_even_formulas(page)] == sorted(p for p, _ in BREAK_EVEN)


def test_how_often_bruck_hands_a_chunk_on_is_what_the_totals_say():
    text = (ROOT / "docs/algorithms/bruck-pat.md").read_text(encoding="utf-8")
    (formula,) = re.findall(r"平均每段走 \$(.+?)\$ 次", text)
    for n in (4, 8, 16, 32):
        totals = [REGISTRY[f"alltoall/{slug}"].cost(n) for slug in ("bruck", "pairwise_shift")]
        assert evaluate(formula, n) == totals[0].total_sent / totals[1].total_sent


def test_every_field_of_the_formulas_is_checked():
    assert set(COSTS) == set(Formulas.__dataclass_fields__) - {
        "note_zh",
        "limits",
        "powers_of_two_only",
    }


FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)


def test_the_font_has_every_character_of_every_formula(site: Site):
    """Otherwise add it in scripts/subset_math_font.py and make the font again."""
    had = subset_math_font.codepoints()
    missing = set()
    for path in site.paths():
        for formula in FORMULA.findall(site.file(path).read_text(encoding="utf-8")):
            text = html.unescape(re.sub(r"<[^>]+>", "", formula))
            missing |= {
                one for one in text if ord(one) not in had and not "\u4e00" <= one <= "\u9fff"
            }
            alone = re.findall(r"<mi>([A-Za-zα-ω])</mi>", formula)
            missing |= {one for one in alone if subset_math_font.italic(one) not in had}
    assert missing == set()


# ------------------------------------------------------------------------------- demos' numbers

#: What a demo prints before its numbers -> the column of the state table that holds them.
COLUMNS = {
    "before": "tensor（前）",
    "after": "tensor（后）",
    "full_data": "scatter_list（前，之后不变）",
    "my_chunk": "my_chunk（前，之后不变）",
    "gathered": "gather_list（后）",
    "input_list": "input_list（前，之后不变）",
    "reduce_scatter result": "output（后）",
    "input_tensor": "input_tensor（前，之后不变）",
}
RECEIVED = {"scatter": "output_tensor（后）", "alltoall": "output_tensor（后）"}
LINE = re.compile(r"\[rank (?P<rank>\d+)\] (?P<label>[a-z_ ]+?) *[:=] (?P<values>\[.*\])")


def printed(primitive: Primitive, output: str) -> dict[tuple[int, str], list[float]]:
    """The numbers of a demo's output, per rank and column of the state table."""
    numbers = {}
    for match in LINE.finditer(output):
        label = match["label"]
        column = RECEIVED[primitive.slug] if label == "received" else COLUMNS[label]
        values = [float(value) for value in re.findall(r"-?[\d.]+", match["values"])]
        numbers[int(match["rank"]), column] = values
    return numbers


def stated(table: list[list[str]]) -> dict[tuple[int, str], list[float]]:
    """The numbers of a state table, per rank and column."""
    columns = table[0]
    numbers = {}
    for row in table[1:]:
        rank = int(re.match(r"rank (\d+)", row[0])[1])  # type: ignore[index]
        for column, cell in zip(columns[1:], row[1:], strict=True):
            if cell.startswith("["):
                numbers[rank, column] = [float(value) for value in re.findall(r"-?[\d.]+", cell)]
            else:
                assert cell in ("未定义", "没有这个缓冲区"), cell
    return numbers


@each_primitive
def test_the_state_table_shows_the_numbers_that_the_demos_print(site: Site, primitive: Primitive):
    (table,) = article_of(site, path_of(primitive)).tables["谁在何时有什么"]
    on_page = stated(table)
    outputs = sorted((ROOT / "docs" / "demos" / "expected").glob(f"{primitive.slug}_*.txt"))
    assert outputs
    for output in outputs:
        by_demo = printed(primitive, output.read_text(encoding="utf-8"))
        if primitive.slug == "broadcast":
            # Before the call the demo's other ranks hold zeros; to the call that is undefined.
            for rank in (1, 2, 3):
                assert by_demo.pop((rank, "tensor（前）")) == [0.0] * 3
        assert on_page == by_demo, output.name


# ------------------------------------------------------------------------- what pages claim more


def shifted_ring(n: int) -> Schedule:
    """The ring that starts with the own chunk, as many tutorials do: it ends one rank too far."""
    schedule = REGISTRY["reducescatter/ring"].schedule(n)
    chunk = schedule.blocks // n

    def shifted(transfer: Transfer) -> Transfer:
        if transfer.from_buffer != "input_list":
            return transfer
        return transfer._replace(from_offset=(transfer.from_offset + chunk) % schedule.blocks)

    return replace(
        schedule,
        rounds=tuple(
            round_._replace(transfers=tuple(map(shifted, round_.transfers)))
            for round_ in schedule.rounds
        ),
    )


def test_the_ring_that_ends_one_rank_too_far_is_refused_in_the_words_of_the_page(site: Site):
    with pytest.raises(ProofError) as refusal:
        prove(shifted_ring(4))
    assert refusal.value.rule == "end-state"
    prose = article_of(site, "primitives/reducescatter/").prose
    assert str(refusal.value) in [element.text for element in prose]


# ---------------------------------------------------------------------------- the player's guide

GUIDE = "reference/player/"
HTML = "text/html; charset=utf-8"


def test_the_guide_shows_exactly_the_script_that_runs_on_it(site: Site):
    (script,) = article_of(site, GUIDE).scripts
    shown = {block.title: block.text for block in site.page(GUIDE).code_blocks}
    assert shown["上面运行的脚本"].strip() == script.strip()


def test_the_example_of_the_guide_reads_and_moves_the_player(visit: Visitor):
    page = visit(GUIDE)
    shown = page.locator("#example-state")
    page.locator("collective-player[ready]").wait_for()
    page.get_by_role("button", name="跳到结尾").first.click()
    ranks = "，".join(f"rank {rank}" for rank in (0, 0, 1, 1, 2, 2, 3, 3))
    expect(shown).to_have_text(f"第 3 / 3 步之后，rank 0 的 gather_list：{ranks}")
    page.get_by_role("button", name="回到开头").first.click()
    expect(shown).to_contain_text("第 0 / 3 步之后")
    expect(shown).to_contain_text("未定义，未定义")


def test_the_page_of_the_guide_plays_wherever_it_is_put(site: Site, visit: Visitor):
    shown = {block.title: block.text for block in site.page(GUIDE).code_blocks}
    page = visit()
    address = f"{site.url}somebody-elses-page.html"
    page.route(address, lambda route: route.fulfill(body=shown["index.html"], content_type=HTML))
    page.goto(address)
    page.locator("collective-player[ready]").wait_for()
    assert page.evaluate("document.querySelector('collective-player').rounds") == 6


def test_the_state_that_the_guide_quotes_is_the_state_that_comes_back(site: Site, visit: Visitor):
    quoted = next(
        block.text for block in site.page(GUIDE).code_blocks if "stateAt(0)[1]" in block.text
    )
    page = visit("primitives/allgather/")
    page.locator("collective-player[ready]").wait_for()
    call, _, comment = quoted.partition(";")
    literal = comment.replace("//", "")
    same = f"""(player) => {{
        const held = {call};
        return JSON.stringify(held) === JSON.stringify(({literal}));
    }}"""
    assert page.locator("collective-player").evaluate(same)


def test_the_player_says_what_is_wrong_in_the_words_of_the_guide(site: Site, visit: Visitor):
    examples = "\n".join(
        element.text
        for element in article_of(site, GUIDE).prose
        if element.section == "文件坏了会怎样"
    ).replace("/assets/", f"{MOUNT}assets/")

    def damaged(route: Route) -> None:
        schedule = json.loads(site.file("assets/schedules/allreduce/ring/n4.json").read_text())
        schedule["rounds"][1]["transfers"][0]["dst"] = 7
        route.fulfill(body=json.dumps(schedule), content_type="application/json")

    page = visit("primitives/allgather/")
    page.route("**/allreduce/ring/n4.json", damaged)
    for file in ("n99.json", "n4.json"):
        page.locator("collective-player").evaluate(
            "(player, file) => player.setAttribute('src', file)",
            f"../../assets/schedules/allreduce/ring/{file}",
        )
        problem = page.locator("collective-player[failed] .cp-problem")
        expect(problem).to_contain_text("404" if file == "n99.json" else "第 2 步")
        assert f"「{problem.inner_text()}」" in examples
    # The browser itself reports the file that is not there.
    assert [text for text in visit.problems if "404" not in text] == []
    visit.problems.clear()


def test_the_guide_names_every_attribute_that_the_player_watches(site: Site):
    source = (ROOT / "docs/assets/js/collective-player.js").read_text(encoding="utf-8")
    watched = re.search(r"observedAttributes = \[(.*?)\]", source)
    assert watched
    (attributes, interface, _) = (rows for rows in guide_tables(site))
    assert {row[0] for row in attributes} >= set(re.findall(r"'([a-z]+)'", watched[1]))
    members = " ".join(row[0] for row in interface)
    for name in ("rounds", "round", "playing", "play()", "pause()", "stateAt(", "roundchange"):
        assert name in members


def guide_tables(site: Site) -> Iterator[list[list[str]]]:
    """The three tables of the guide, without their heads."""
    tables = article_of(site, GUIDE).tables
    for section in ("属性", "脚本接口", "按键"):
        (table,) = tables[section]
        yield table[1:]
