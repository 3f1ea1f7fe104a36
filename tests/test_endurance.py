"""A player that is used for long: memory, listeners, choices as fast as they can be made."""

from __future__ import annotations

from playwright.sync_api import CDPSession, Page

from conftest import Visitor
from player_bench import Bench, tag

RING = "allreduce/ring/n4.json"
CONTROLS = "primitive algorithm ranks parameters root op view more"

SWITCH = """async (count) => {
  const player = document.querySelector('collective-player');
  const choices = ['op=allreduce&algo=ring&n=8', 'op=alltoall&algo=bruck&n=8&view=matrix',
    'op=broadcast&algo=binomial&n=16', 'op=reducescatter&algo=ring&n=4&view=spacetime',
    'op=allreduce&algo=double_binary_tree&n=12&values=symbols'];
  for (let i = 0; i < count; i += 1) {
    location.hash = `${choices[i % choices.length]}&root=0&round=${1 + (i % 2)}`;
    await new Promise((done) => player.addEventListener('roundchange', done, { once: true }));
  }
}"""


def used(session: CDPSession) -> float:
    """Megabytes that are still reachable."""
    session.send("HeapProfiler.collectGarbage")
    return float(session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6


def test_memory_does_not_grow_with_the_number_of_choices(bench: Bench):
    page = bench.ready(tag(RING, CONTROLS))
    session = page.context.new_cdp_session(page)
    # Every schedule that is chosen once more has been chosen before.
    page.evaluate(SWITCH, 40)
    start = used(session)
    page.evaluate(SWITCH, 100)
    middle = used(session)
    page.evaluate(SWITCH, 100)
    end = used(session)
    assert middle - start <= 0.3, (start, middle, end)
    assert end - middle <= 0.3, (start, middle, end)


def test_four_hundred_choices_without_waiting_end_with_the_last_one(bench: Bench):
    page = bench.ready(tag(RING, CONTROLS))
    page.locator(".cp-bar:not(.cp-waiting)").wait_for()
    page.evaluate("""() => {
        const player = document.querySelector('collective-player');
        const select = (name) => player.querySelector(`select[aria-label="${name}"]`);
        for (let i = 0; i < 400; i += 1) {
            const box = select(['通信原语', '算法', 'GPU 数'][i % 3]);
            const free = [...box.options].filter((option) => !option.disabled);
            box.value = free[(7 * i) % free.length].value;
            box.dispatchEvent(new Event('change', { bubbles: true }));
        }
        const box = select('通信原语');
        box.value = 'allreduce';
        box.dispatchEvent(new Event('change', { bubbles: true }));
    }""")
    page.wait_for_function("/#op=allreduce&/.test(document.querySelector('[ready]')?.address)")
    assert page.evaluate("document.querySelector('collective-player').hasAttribute('failed')") is (
        False
    )


def listeners(session: CDPSession) -> int:
    """How many listeners wait at the window and the document, which outlive every page."""
    count = 0
    for target in ("window", "document", "matchMedia('(prefers-reduced-motion: reduce)')"):
        found = session.send("Runtime.evaluate", {"expression": target})["result"]
        answer = session.send("DOMDebugger.getEventListeners", {"objectId": found["objectId"]})
        count += len(answer["listeners"])
    return count


def visit_both(page: Page, times: int) -> None:
    """Follow links between two pages with players, without loading a document."""
    for _ in range(times):
        for name in ("broadcast", "scatter"):
            page.evaluate(
                """(name) => [...document.querySelectorAll('a[href]')]
                    .find((a) => a.href.endsWith(`primitives/${name}/`)).click()""",
                name,
            )
            page.wait_for_function(
                "(name) => location.pathname.endsWith(`${name}/`)"
                " && document.querySelector('collective-player[ready] .cp-bar:not(.cp-waiting)')",
                arg=name,
            )


def test_a_hundred_pages_later_as_many_listeners_wait_outside_the_player(visit: Visitor):
    """The theme keeps the pages it has replaced, so what is inside them cannot be counted here."""
    page = visit("primitives/scatter/")
    page.locator("collective-player[ready]").first.wait_for()
    page.evaluate("window.sameDocument = true")
    session = page.context.new_cdp_session(page)
    visit_both(page, 2)
    before = listeners(session)
    visit_both(page, 50)
    assert page.evaluate("window.sameDocument") is True
    # A page on its way in or out has a few of its own; a hundred pages would leave hundreds.
    assert listeners(session) <= before + 4
