"""A page with a player and one of its panels open, and what holds for every panel."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page

from player_bench import Bench, tag

CONTROLS = "primitive algorithm ranks root op view more"
GROUND = {"light": "#fff", "dark": "#0b1020"}


def open_panel(bench: Bench, path: str, title: str, scheme: str = "light", **options: Any) -> Page:
    """Open a player on a page of its own, and a panel of it by the menu."""
    start = f'<main style="background:{GROUND[scheme]}"><h1 hidden>播放器</h1>'
    page = bench.ready(f"{start}{tag(path, CONTROLS)}</main>", scheme=scheme, **options)
    page.get_by_role("button", name="更多", exact=True).click()
    page.locator(".cp-menu").get_by_role("button", name=title, exact=True).click()
    panel(page).wait_for()
    return page


def panel(page: Page) -> Locator:
    return page.locator(".cp-side")


def press(page: Page, name: str) -> None:
    """Press a button of the panel."""
    panel(page).get_by_role("button", name=name, exact=True).click()


def ask(page: Page, expression: str) -> Any:
    """Evaluate an expression in which `p` is the player."""
    return page.evaluate(
        f"(() => {{ const p = document.querySelector('collective-player');"
        f" return {expression}; }})()"
    )


def focus_is_inside(page: Page) -> bool:
    return bool(
        page.evaluate("document.querySelector('.cp-side').contains(document.activeElement)")
    )


def axe_faults(page: Page) -> list[tuple[str, str]]:
    """What axe finds wrong with the page now, for WCAG 2.2 A and AA."""
    results = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]})
    return [
        (fault["id"], node["html"][:120])
        for fault in results.response["violations"]
        for node in fault["nodes"]
    ]


def too_small(page: Page) -> list[str]:
    """Names of what is to be pressed in the panel and is less than 44 px high."""
    names: list[str] = (
        page.evaluate("""[...document.querySelectorAll('.cp-side :is(button, select)')]
        .filter((node) => node.getClientRects().length && node.getBoundingClientRect().height < 44)
        .map((node) => node.getAttribute('aria-label') ?? node.textContent)""")
    )
    return names


def scrolls_sideways(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))
