"""Questions in plain words over a month of fleet history, each checked against SQL written by hand over the log."""

import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.scenarios.asked_past import Asked, ask_past
from tests.scenarios.fleet_month import NOW, month_of_events, ms
from tests.scenarios.question_cases import CASES, DONE, TIMES, VIEWS, YESTERDAY, Case
from tests.scenarios.question_cases_spoken import REFUSED, SPOKEN

from beforehand.adapters.search.embedded import EmbeddedSearch
from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.app.crafts import load_crafts
from beforehand.app.search import searched
from beforehand.crafts.rounds.core.question_shape import Question
from beforehand.model.errors import NotUnderstoodError

pytestmark = pytest.mark.asyncio(loop_scope="module")
CRAFTS = load_crafts(built_in_only=True)
INDEXES = searched(CRAFTS)


class Month:
    def __init__(self, search: EmbeddedSearch, log: sqlite3.Connection) -> None:
        self.search = search
        self.log = log

    async def ask(self, text: str, previous: Question | None = None) -> Asked:
        return await ask_past(self.search, INDEXES, CRAFTS.searchables(), text, now_ms=ms(NOW), previous=previous)

    def by_hand(self, sql: str) -> list[tuple[Any, ...]]:
        times = {name: ms(datetime.fromisoformat(told).replace(tzinfo=UTC)) for name, told in TIMES.items()}
        return self.log.execute(sql, times).fetchall()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def month(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Month]:
    path: Path = tmp_path_factory.mktemp("month") / "log.db"
    store = await SqliteStore.open(path, project=CRAFTS.projection(), now_ms=lambda: ms(NOW))
    await store.append(month_of_events())
    search = EmbeddedSearch(store, INDEXES, now_ms=lambda: ms(NOW))
    log = sqlite3.connect(path)
    log.executescript(VIEWS)
    yield Month(search, log)
    log.close()
    await search.close()
    await store.close()


def rounded(rows: Any) -> list[tuple[Any, ...]]:
    return [
        tuple(pytest.approx(value, abs=0.006) if isinstance(value, float) else value for value in row) for row in rows
    ]


def looked_at(case: Case, rows: Any) -> list[Any]:
    if case.look == "first":
        return [row[0] for row in rows]
    return [row for row in rows if row[1]] if case.look == "some" else list(rows)


@pytest.mark.parametrize(
    ("case", "wording"),
    [pytest.param(case, wording, id=wording) for case in (*CASES, *SPOKEN) for wording in case.wordings],
)
async def test_the_answer_is_what_sql_says(month: Month, case: Case, wording: str) -> None:
    by_hand = month.by_hand(case.sql)
    assert by_hand, "the case would show nothing"
    if "FIRST" in wording:
        wording = wording.replace("FIRST", str(by_hand[0][0]))
    asked = await month.ask(wording)
    expected = [row[0] for row in by_hand] if case.look == "first" else rounded(by_hand)
    assert looked_at(case, asked.answer.rows) == expected
    assert asked.summary.endswith(".")


async def test_there_are_enough_questions() -> None:
    assert len(CASES) >= 60
    assert len(SPOKEN) >= 45
    assert all(len(set(case.wordings)) >= 3 for case in (*CASES, *SPOKEN))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("make me a sandwich", "'sandwich' was not understood"),
        ("how many tasks failed not on Monday", "'not' was not understood"),
        ("how many picks tomorrow", "'tomorrow' was not understood"),
        ("which robot is best", "'best' was not understood"),
        ("how many tasks did RB-09 complete yesterday", "'RB-09' was not understood"),
        ("how many tasks without errors", "'without'"),
        ("how many robots", "does not say what it is about"),
        ("list robots that waited today", "'robots' was not understood"),
        ("how many failed yesterday", "does not say what it is about"),
        ("", "no question"),
        ("average of picks", "nothing that could be averaged"),
        ("how many sessions failed", "Sessions cannot be asked for by 'failed', only by "),
        ("how many tasks failed this week between 8 and 10", "hours of the day together with this week"),
        ("how many tasks failed yesterday today", "was not understood"),
        ("how many tasks on 2026-13-45", "was not understood"),
        ("how many tasks failed between 10 and 8", "was not understood"),
        ("tasks per robot per stream", "split by"),
        ("how many tasks failed since the last run", "no run yet"),
        ("delete all tasks", "'delete'"),
        ("next page", "'next', 'page'"),
        *REFUSED,
    ],
)
async def test_what_is_not_understood_is_refused(month: Month, text: str, says: str) -> None:
    with pytest.raises(NotUnderstoodError) as refused:
        await month.ask(text)
    assert says in refused.value.says
    assert "how many picks failed" in refused.value.hint


async def test_a_name_that_is_near_two_others_is_not_corrected(month: Month) -> None:
    with pytest.raises(NotUnderstoodError) as refused:
        await month.ask("how many picks failed at PICK_00 yesterday")
    assert refused.value.nearest


async def test_questions_go_on_from_the_one_before(month: Month) -> None:
    first = await month.ask("how many tasks were completed yesterday?")
    hours = await month.ask("and per hour?", first.question)
    assert sum(row[1] for row in hours.answer.rows) == first.answer.rows[0][0]
    assert len(hours.answer.rows) == 24
    one = await month.ask("only RB-01", hours.question)
    (expected,) = month.by_hand(f"SELECT COUNT(*) FROM t WHERE {DONE} AND robot = 'RB-01' AND ended {YESTERDAY}")[0]
    assert sum(row[1] for row in one.answer.rows) == expected
    other = await month.ask("what about RB-02?", one.question)
    assert [one.values for one in other.question.filters if one.source == "name:robot"] == [("RB-02",)]
    week = await month.ask("and last week?", other.question)
    assert week.question.span is not None
    assert week.question.span.says == "last week"
    how_long = await month.ask("average duration", week.question)
    assert (how_long.question.act, how_long.question.how) == ("measure", "avg")


async def test_a_question_that_goes_on_keeps_what_it_does_not_change(month: Month) -> None:
    wait = await month.ask("average wait of tasks per stream this week")
    median = await month.ask("and the median?", wait.question)
    assert (median.question.how, median.question.measure, median.question.group) == ("median", "waitS", "streamId")
    picks = await month.ask("how many picks failed by RB-01 last week")
    drops = await month.ask("and drops?", picks.question)
    (expected,) = month.by_hand(
        "SELECT COUNT(*) FROM h WHERE what = 'drop' AND NOT ok AND robot = 'RB-01'"
        " AND at BETWEEN :lastweek AND :week - 1"
    )[0]
    assert drops.answer.rows == ((expected,),)
    failed = await month.ask("list tasks of RB-01 yesterday")
    only = await month.ask("only failed ones", failed.question)
    assert {row[4] for row in only.answer.rows} == {"failed"}
    long = await month.ask("how long did they take?", only.question)
    assert (long.question.act, long.question.how, long.question.measure) == ("measure", "avg", "durationS")
    assert (
        await month.ask("in total?", (await month.ask("and per hour?", picks.question)).question)
    ).answer == picks.answer


@pytest.mark.parametrize("text", ["and now?", "and on average?", "and runs?", "per hour per robot", "why?"])
async def test_what_cannot_go_on_is_refused(month: Month, text: str) -> None:
    first = await month.ask("how many tasks failed yesterday")
    with pytest.raises(NotUnderstoodError):
        await month.ask(text, first.question)


async def test_a_list_is_turned_page_by_page(month: Month) -> None:
    pages = [await month.ask("list failed tasks this month")]
    while pages[-1].answer.more:
        pages.append(await month.ask("next page", pages[-1].question))
    seen = [row[0] for page in pages for row in page.answer.rows]
    expected = month.by_hand("SELECT task FROM t WHERE status = 'failed' AND ended >= :nov ORDER BY ended DESC, 1")
    assert sorted(seen) == sorted(row[0] for row in expected)
    assert len(set(seen)) == len(seen)
    back = await month.ask("previous page", pages[1].question)
    assert back.answer.rows == pages[0].answer.rows


async def test_the_query_of_an_answer_gives_the_same_again(month: Month) -> None:
    asked = await month.ask("which robot failed most tasks last week?")
    found = await month.search.search(asked.question.index, asked.body)
    assert found.aggregations["groups"]["buckets"][0]["key"] == asked.answer.rows[0][0]
    assert Question.model_validate(asked.question.wire()) == asked.question
