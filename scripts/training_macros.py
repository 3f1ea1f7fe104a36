"""What pages may ask about the traffic of training: worked numbers, and the table to change.

The models are the list in ``docs/assets/js/models.js``, the formulas those of
``training_traffic``. Registered by ``site_macros``.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from collectives.primitives import PRIMITIVES
from path_macros import machine_words
from race_macros import LEDGER, machine_named, size_text, time_text
from training_traffic import SCHEMES, Traffic, Work, traffic

if TYPE_CHECKING:
    from site_macros import Page

STATE_BYTES = 16
"""Bytes that mixed-precision training with Adam keeps for a parameter: 2 + 2 + 4 + 4 + 4."""


def model_title(page: Page, model: str) -> str:
    """Say the name of a model."""
    return str(_model(page, model)["title"])


def model_number(page: Page, model: str, field: str) -> str:
    """Say one number of a model, large ones in units of 10000 or 100 million as one says them."""
    entry = _model(page, model)
    if not isinstance(entry.get(field), int):
        raise page.error(f"模型 {model} 没有数 {field!r}")
    value = entry[field]
    return f"{value / 10**8:.4g} 亿" if value >= 10**8 else str(value)


def model_source(page: Page, model: str) -> str:
    """Link to where the numbers of a model are from."""
    source = _model(page, model)["source"]
    return f"[{source['text']}]({source['url']})"


def training_state(page: Page, model: str) -> str:
    """Say how much memory parameters, gradients and the optimizer's state of a model take."""
    return size_text(Fraction(_model(page, model)["parameters"] * STATE_BYTES))


def traffic_size(page: Page, model: str, scheme: str, primitive: str, **numbers: int) -> str:
    """Say M of one call of a scheme; `numbers` are fields of Work that differ from the defaults."""
    return size_text(Fraction(_row(page, model, scheme, primitive, numbers).size))


def traffic_calls(page: Page, model: str, scheme: str, primitive: str, **numbers: int) -> str:
    """Say how many calls of a primitive a scheme makes in a step."""
    return str(_row(page, model, scheme, primitive, numbers).calls)


def traffic_bytes(
    page: Page, model: str, scheme: str, primitive: str = "", **numbers: int
) -> Fraction:
    """Return the bytes that a rank sends in a step, for sums."""
    rows = _rows(page, model, scheme, primitive, numbers)
    return sum((row.sent for row in rows), Fraction(0))


def traffic_sent(page: Page, model: str, scheme: str, primitive: str = "", **numbers: int) -> str:
    """Say what a rank sends in a step, with one primitive or with all that a scheme uses."""
    return size_text(traffic_bytes(page, model, scheme, primitive, **numbers))


def traffic_time(
    page: Page, model: str, scheme: str, machine: str, primitive: str = "", **numbers: int
) -> str:
    """Say how long the port of a machine needs for these bytes alone."""
    sent = traffic_bytes(page, model, scheme, primitive, **numbers)
    return time_text(sent / machine_named(page, machine).bandwidth)


def compute_time(page: Page, model: str, teraflops: int, **numbers: int) -> str:
    """Say how long a rank that has the whole model computes in a step: 6 per parameter and token.

    Args:
        page: the page that asks.
        model: a dense one; of a model with experts a token meets only some parameters.
        teraflops: what the GPU really gets done in a second.
        numbers: fields of Work that differ from the defaults.
    """
    work = work_of(page, model, **numbers)
    if work.moe:
        raise page.error(f"{model} 有专家，不能按全部参数算计算量")
    return time_text(Fraction(6 * work.parameters * work.tokens, teraflops * 10**12))


def compute_years(page: Page, model: str, teraflops: int, tokens: int) -> str:
    """Say how many years one GPU would compute for so many tokens: 6 per parameter and token."""
    operations = 6 * work_of(page, model).parameters * tokens
    return f"{operations / (teraflops * 10**12) / (365 * 24 * 3600):.0f}"


def training_traffic(page: Page, model: str, schemes: str) -> str:
    """Show the table of the traffic, whose numbers the reader can change where scripts run.

    Args:
        page: the page that asks.
        model: the slug of the model to begin with.
        schemes: slugs of SCHEMES with spaces between them.
    """
    wanted = schemes.split()
    for scheme in wanted:
        if scheme not in SCHEMES:
            raise page.error(f"没有名为 {scheme!r} 的做法；现有：{'、'.join(SCHEMES)}")
    rows = [row for row in traffic(work_of(page, model)) if row.scheme in wanted]
    head = "".join(f'<th scope="col">{text}</th>' for text in COLUMNS)
    body = "".join(
        f'<tr><th scope="row">{html.escape(SCHEMES[row.scheme])}</th>'
        + "".join(f"<td>{html.escape(text)}</td>" for text in _cells(page, row))
        + "</tr>"
        for row in rows
    )
    caption = (
        f"{model_title(page, model)}，N = {DEFAULTS['ranks']}，每步 "
        f"{DEFAULTS['tokens']} 个 token，16 位，带宽 {machine_words(page, LEDGER, True)}"
    )
    return (
        f'<div class="traffic" markdown="0"><training-traffic model="{html.escape(model)}" '
        f'schemes="{html.escape(schemes)}"><div class="table-box" role="group" tabindex="0" '
        f'aria-label="表格"><table class="table"><caption>{caption}</caption><thead><tr>{head}'
        f"</tr></thead><tbody>{body}</tbody></table></div></training-traffic></div>\n"
    )


COLUMNS = ("做法", "原语", "一步几次", "一次的 M", "每个 rank 发出", "光传字节要")
"""The head of the table; ``traffic-view.js`` has the same."""


def _cells(page: Page, row: Traffic) -> list[str]:
    name = "点对点" if row.primitive == "sendrecv" else PRIMITIVES[row.primitive].title_en
    seconds = row.sent / machine_named(page, LEDGER).bandwidth
    size, sent = size_text(Fraction(row.size)), size_text(row.sent)
    return [name, str(row.calls), size, sent, time_text(seconds)]


# ------------------------------------------------------------------------------------- plumbing

DEFAULTS = {"ranks": 8, "tokens": 8192, "gradient": 2, "value": 2}
"""What a page leaves out: a group of 8, one sequence of 8192 tokens, 16-bit numbers."""


def _models(page: Page) -> list[dict[str, Any]]:
    """The list in models.js, which is JSON between its first "= [" and the last "]"."""
    text = (page.docs / "assets" / "js" / "models.js").read_text(encoding="utf-8")
    found = re.search(r"export const MODELS = (\[.*\]);", text, re.DOTALL)
    try:
        models: list[dict[str, Any]] = json.loads(found[1] if found else "")
    except ValueError as error:
        raise page.error(f"读不了 assets/js/models.js：{error}") from None
    return models


def _model(page: Page, slug: str) -> dict[str, Any]:
    for entry in _models(page):
        if entry["slug"] == slug:
            return entry
    known = "、".join(entry["slug"] for entry in _models(page))
    raise page.error(f"没有名为 {slug!r} 的模型；现有：{known}")


def work_of(page: Page, model: str, **numbers: int) -> Work:
    """Return a step of a model, with the defaults of the pages where nothing else is said."""
    entry = _model(page, model)
    fields = {name: entry[name] for name in Work._fields if name in entry}
    try:
        return Work(**{**fields, **DEFAULTS, **numbers})
    except TypeError as error:
        raise page.error(f"算不了 {model}：{error}") from None


def _rows(
    page: Page, model: str, scheme: str, primitive: str, numbers: dict[str, int]
) -> list[Traffic]:
    rows = [
        row
        for row in traffic(work_of(page, model, **numbers))
        if row.scheme == scheme and primitive in ("", row.primitive)
    ]
    if not rows:
        raise page.error(f"{model} 的 {scheme!r} 里没有 {primitive!r}；做法有 {'、'.join(SCHEMES)}")
    return rows


def _row(page: Page, model: str, scheme: str, primitive: str, numbers: dict[str, int]) -> Traffic:
    (row,) = _rows(page, model, scheme, primitive, numbers)
    return row


MACROS: tuple[Callable[..., object], ...] = (
    model_title,
    model_number,
    model_source,
    training_state,
    traffic_size,
    traffic_calls,
    traffic_bytes,
    traffic_sent,
    traffic_time,
    compute_time,
    compute_years,
    training_traffic,
)
"""Every macro of this module; ``site_macros`` fills in the page."""
