"""Questions about plans, runs, steps, decisions and sessions, over a week of them, against SQL over the log."""

import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.scenarios.asked_past import Asked, ask_past

from beforehand.adapters.search.embedded import EmbeddedSearch
from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.app.crafts import load_crafts
from beforehand.app.search import searched
from beforehand.model.errors import NotUnderstoodError
from beforehand.model.event import Event, iso

pytestmark = pytest.mark.asyncio(loop_scope="module")
CRAFTS = load_crafts(built_in_only=True)
INDEXES = searched(CRAFTS)
NOW = round(datetime(2026, 11, 13, 12, tzinfo=UTC).timestamp() * 1000)
HOUR = 3_600_000
BY = ("ada", "ben", "ada")


def reviewed(number: int, at: int, verb: str | None) -> list[Event]:
    plan = f"p{number}"
    about: dict[str, Any] = {"planId": plan, "decisionId": f"{plan}-v1"}
    decision = {"id": f"{plan}-v1", "kind": "review", "title": f"Review: {plan}", "openedAt": iso(at)}
    made = {"id": plan, "version": 1, "name": "weld all" if number % 2 else "clean", "origin": {"planner": "cell"}}
    told = [
        Event("planCreated", {"planId": plan}, made, at, "cell1", "", f"plan:{plan}"),
        Event("decisionOpened", about, {**decision, "status": "open"}, at, "cell1", "", f"plan:{plan}"),
    ]
    if verb:
        answer = {"verb": verb, "by": BY[number % 3], "at": iso(at + 60_000 * number)}
        told.append(
            Event(
                "decisionAnswered",
                {**about, **({"runId": f"r{number}"} if verb == "start" else {})},
                {**decision, "status": "answered", "answer": answer},
                at + 60_000 * number,
                "cell1",
                "",
                f"plan:{plan}",
            )
        )
    return told


def ran(number: int, at: int, status: str) -> list[Event]:
    about = {"planId": f"p{number}", "runId": f"r{number}"}
    run = {"runId": f"r{number}", "planId": f"p{number}", "startedBy": BY[number % 3], "startedAt": iso(at)}
    owner = f"run:r{number}"
    told = [Event("runStarted", about, {**run, "status": "running"}, at, "cell1", "", owner)]
    for step in ("s1", "s2"):
        fails = status == "failed" and step == "s2"
        ended = {"stepId": step, "status": "failed" if fails else "completed", "attempt": 1}
        ended |= {"result": {"ok": not fails, **({"error": "The weld broke."} if fails else {})}}
        running = {"stepId": step, "status": "running", "attempt": 1}
        told.append(Event("stepUpdated", {**about, "stepId": step}, running, at, "cell1", "", owner))
        told.append(Event("stepUpdated", {**about, "stepId": step}, ended, at + number * 10_000, "cell1", "", owner))
    if status != "running":
        error = {"firstError": "The weld broke."} if status == "failed" else {}
        ended = {**run, "status": status, "summary": {"completed": 1, **error}}
        told.append(Event("runFinished", about, ended, at + number * 20_000, "cell1", "", owner))
    return told


def week() -> list[Event]:
    events: list[Event] = []
    for number in range(1, 13):
        at = NOW - (100 - 8 * number) * HOUR
        verb = "cancel" if number in (4, 9) else None if number == 12 else "start"
        events += reviewed(number, at, verb)
        if verb == "start":
            status = "running" if number == 11 else "failed" if number in (3, 7) else "completed"
            events += ran(number, at + HOUR, status)
    return sorted(events, key=lambda event: event.ts)


class Week:
    def __init__(self, search: EmbeddedSearch, log: sqlite3.Connection) -> None:
        self.search = search
        self.log = log

    async def ask(self, text: str) -> Asked:
        return await ask_past(self.search, INDEXES, CRAFTS.searchables(), text, now_ms=NOW)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def past(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Week]:
    path: Path = tmp_path_factory.mktemp("week") / "log.db"
    store = await SqliteStore.open(path, project=lambda event: (), now_ms=lambda: NOW)
    await store.append(week())
    search = EmbeddedSearch(store, INDEXES, now_ms=lambda: NOW)
    log = sqlite3.connect(path)
    log.executescript(
        "CREATE TEMP VIEW ev AS SELECT seq, ts, kind, CAST(line AS TEXT) ->> '$.about.planId' AS plan,"
        " CAST(line AS TEXT) ->> '$.about.runId' AS run, CAST(line AS TEXT) ->> '$.data.status' AS status,"
        " CAST(line AS TEXT) ->> '$.data.answer.verb' AS verb, CAST(line AS TEXT) ->> '$.data.answer.by' AS by,"
        " CAST(line AS TEXT) ->> '$.data.startedBy' AS starter, CAST(line AS TEXT) ->> '$.about.stepId' AS step"
        " FROM events;"
    )
    yield Week(search, log)
    log.close()
    await search.close()
    await store.close()


FINISHED = "kind = 'runFinished'"


@pytest.mark.parametrize(
    ("sql", "wordings"),
    [
        (
            "SELECT COUNT(DISTINCT plan) FROM ev WHERE verb = 'cancel'",
            ("how many plans were cancelled", "number of cancelled plans", "how much plans were canceled?"),
        ),
        (
            "SELECT COUNT(*) FROM ev WHERE kind = 'planCreated'",
            ("how many plans were made this week", "number of plans created this week", "count the plans of this week"),
        ),
        (
            "SELECT COUNT(*) FROM ev WHERE kind = 'planCreated' AND plan NOT IN"
            " (SELECT plan FROM ev WHERE verb IS NOT NULL)",
            ("how many plans are waiting", "how many plans are open now", "number of plans that are still waiting"),
        ),
        (
            f"SELECT COUNT(*) FROM ev WHERE {FINISHED} AND status = 'failed'",
            ("how many runs failed", "number of failed runs this week", "how much runs are failed in total"),
        ),
        (
            "SELECT by, COUNT(*) FROM ev WHERE verb = 'start' AND run = 'r5' GROUP BY 1",
            ("who approved run r5", "who approved run 5?", "which person approved run r5"),
        ),
        (
            "SELECT starter, COUNT(*) FROM ev WHERE kind = 'runStarted' GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
            ("who started most runs", "who started the most runs this week", "person with the most runs"),
        ),
        (
            "SELECT COUNT(*) FROM ev WHERE kind = 'stepUpdated' AND status = 'failed'",
            ("how many steps failed", "number of failed steps", "how often did a step fail"),
        ),
        (
            f"SELECT COUNT(*) FROM ev WHERE kind = 'runStarted' AND run NOT IN (SELECT run FROM ev WHERE {FINISHED})",
            ("how many runs are running", "how many runs are there right now", "number of running runs"),
        ),
    ],
)
async def test_the_answer_is_what_sql_says(past: Week, sql: str, wordings: tuple[str, ...]) -> None:
    by_hand = past.log.execute(sql).fetchall()
    assert by_hand
    assert by_hand != [(0,)]
    for wording in wordings:
        assert list((await past.ask(wording)).answer.rows) == by_hand, wording


async def test_the_last_run_and_why_one_failed(past: Week) -> None:
    last = await past.ask("how long did the last run take")
    assert last.answer.rows[0][:3] == ("r10", "p10", "completed")
    assert last.answer.rows[0][4] == 200.0
    why = await past.ask("why did a step of run r7 fail?")
    assert why.answer.rows == (("s2", "failed", "The weld broke."),)
    assert (await past.ask("why run 7 failed?")).answer.rows == (("r7", "failed", "The weld broke."),)


@pytest.mark.parametrize(
    "text", ["how long did the last weld take", "how many plans failed", "which steps failed most"]
)
async def test_what_nobody_wrote_down_is_refused(past: Week, text: str) -> None:
    with pytest.raises(NotUnderstoodError):
        await past.ask(text)
