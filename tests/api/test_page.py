"""What the page's HTML says, without a browser: everything escaped, nothing inline, a state for every word."""

import re
from typing import Any

from beforehand.model.plan import RunStatus, StepStatus
from beforehand.server.page.html import Html, el
from beforehand.server.page.icons import STATES
from beforehand.server.page.parts import diff, seconds, value

EVIL = "<script>alert(1)</script>\"' onload=x"


async def page(server: Any) -> str:
    answer = await server.http.get(server.url)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    return str(answer.text)


async def test_an_empty_home_says_what_to_do_next(server: Any) -> None:
    text = await page(server)
    assert "Nothing waits for you." in text
    assert "beforehand run plan.yaml" in text
    assert "Nothing runs." in text


async def test_it_shows_the_plan_the_run_and_the_events(server: Any) -> None:
    run = await server.start(server.step("a", description="First of all", requiresApproval=True), name="My plan")
    await server.asked(runId=run["runId"])
    text = await page(server)
    for told in ("My plan", "First of all", "Approve", "Deny", "Waits for you", "was started"):
        assert told in text


async def test_nothing_anybody_writes_becomes_markup(server: Any) -> None:
    step = server.step("a", "ask_person", {"question": EVIL}, description=EVIL)
    run = await server.start(step, name=EVIL)
    await server.asked(runId=run["runId"])
    text = await page(server)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    preview = await server.http.get(f"{server.url}/page/preview/{run['planId']}")
    assert "<script>alert" not in preview.text


async def test_it_has_no_inline_scripts_styles_or_handlers(server: Any) -> None:
    await server.plan(server.step("a"))
    text = await page(server)
    assert re.findall(r"<script(?![^>]*src=)", text) == []
    assert re.findall(r"\son[a-z]+=", text) == []
    assert "style=" not in text
    assert "http://" not in text.replace(server.url, "")
    assert "https://" not in text
    for path in ("page.js", "page.css", "mark.svg"):
        answer = await server.http.get(f"{server.url}/static/{path}")
        assert answer.status_code == 200
        assert "https://" not in answer.text
    server.problem(await server.http.get(f"{server.url}/static/../routes.py"), 404)
    server.problem(await server.http.get(f"{server.url}/static/%2e%2e/routes.py"), 404)


async def test_a_plan_of_many_steps_does_not_make_a_page_of_many_megabytes(server: Any) -> None:
    steps = [server.step(f"s{number}", requiresApproval=True) for number in range(300)]
    run = await server.start(*steps)
    await server.asked(runId=run["runId"])
    text = await page(server)
    assert "more steps" in text
    assert len(text) < 1_000_000


def test_every_status_has_a_colour_a_shape_and_a_word() -> None:
    for status in (*StepStatus, *RunStatus):
        tone, shape, word = STATES[status.value]
        assert tone
        assert shape
        assert word
    shown = [(tone, shape) for tone, shape, word in (STATES[status.value] for status in StepStatus)]
    assert len(set(shown)) == len(shown)


def test_html_is_escaped_unless_it_is_html() -> None:
    assert el("p", {"title": '"<&'}, "<b>", Html("<i></i>"), None, ["&", 5]) == (
        '<p title="&quot;&lt;&amp;">&lt;b&gt;<i></i>&amp;5</p>'
    )
    assert el("input", {"disabled": True, "hidden": False}) == "<input disabled>"
    assert "\\ud800" in el("p", {}, "\ud800")


def test_diffs_values_and_times_read_well() -> None:
    shown = diff("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same")
    assert [word for word in ("head", "place", "out", "in") if f'class="line {word}"' in shown] == [
        "head",
        "place",
        "out",
        "in",
    ]
    assert "more lines" in diff("\n".join("+x" for _ in range(1000)))
    assert len(value("x" * 100_000)) < 10_000
    assert [seconds(ms) for ms in (5, 1500, 61_000)] == ["5 ms", "1.5 s", "1 min 1 s"]
