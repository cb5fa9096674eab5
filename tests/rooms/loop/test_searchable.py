"""What can be searched later of runs, plans, steps and decisions: when, how long, and what became of them."""

from collections.abc import Iterable
from typing import Any

import pytest

from beforehand.loop.searchable import SEARCHABLE, indexes_of, seconds_between
from beforehand.model.event import Event, iso
from beforehand.ports.search import Field, Index, Noun, Searchable

T0 = 1_767_268_800_000
INDEXES = {index.name: index for index in indexes_of(iter([SEARCHABLE]))}


def documents(index: str, *events: Event) -> dict[str, Any]:
    """The index's documents after these events."""
    kept: dict[str, Any] = {}
    for event in events:
        for name, document in INDEXES[index].fold(event, kept.get):
            kept[name] = document
    return kept


def told(kind: str, after_s: float, data: dict[str, Any], scene: str | None = "hall", **about: Any) -> Event:
    return Event(kind, about, data, T0 + round(after_s * 1000), scene, "c1", "run:r1", 7)


def run(kind: str, after_s: float, status: str, scene: str | None = "hall", **more: Any) -> Event:
    return told(kind, after_s, {"runId": "r1", "planId": "p1", "status": status, **more}, scene, runId="r1")


def step(after_s: float, status: str, **more: Any) -> Event:
    return told("stepUpdated", after_s, {"stepId": "a", "status": status, **more}, runId="r1", planId="p1")


def decision(event_kind: str, after_s: float, status: str, **more: Any) -> Event:
    data = {"id": "d1", "kind": "review", "owner": "plan:p1", "title": "Start?", "status": status, **more}
    return told(event_kind, after_s, data, planId="p1")


def test_every_document_has_only_fields_that_are_declared() -> None:
    made = {
        "runs": run("runFinished", 1, "completed"),
        "plans": told("planCreated", 0, {"id": "p1"}),
        "steps": step(1, "completed"),
        "decisions": decision("decisionOpened", 0, "open"),
        "events": step(1, "completed"),
    }
    assert set(made) == set(INDEXES)
    for name, event in made.items():
        index = INDEXES[name]
        [document] = documents(name, event).values()
        declared = {one.name for one in index.fields}
        assert set(document) <= declared
        spoken = {index.time, *index.shown, *index.present, *(one for sped in index.sped for one in sped)}
        spoken |= {one for condition in index.conditions for one in (*condition.terms, condition.time) if one}
        assert spoken <= declared, "what is shown, narrowed and timed by has to be there"


def test_a_run_tells_when_it_began_and_ended_and_who_started_it() -> None:
    begun = run("runStarted", 0, "running", startedBy="ann", startedAt=iso(T0 - 500))
    going = documents("runs", begun, run("runUpdated", 3, "paused", scene=None))["r1"]
    assert (going["status"], going["startedBy"], going["scene"]) == ("paused", "ann", "hall")
    assert (going["startedAt"], going["endedAt"], going["durationS"]) == (T0 - 500, None, None)
    assert going["updatedAt"] == T0 + 3_000
    failed = run("runFinished", 4, "failed", summary={"firstError": "It slipped."})
    over = documents("runs", begun, failed)["r1"]
    assert (over["endedAt"], over["durationS"], over["error"]) == (T0 + 4_000, 4.5, "It slipped.")
    assert (over["runId"], over["planId"]) == ("r1", "p1")


def test_a_run_whose_start_nobody_wrote_down_began_with_its_first_event() -> None:
    for data in ({}, {"startedAt": ""}, {"startedAt": None}):
        assert documents("runs", run("runStarted", 2, "running", **data))["r1"]["startedAt"] == T0 + 2_000


def test_a_plan_is_as_its_newest_version_and_was_made_with_its_first() -> None:
    made = told("planCreated", 0, {"id": "p1", "name": "tidy", "version": 1, "origin": {"planner": "model"}})
    edited = told("planEdited", 5, {"id": "p1", "name": "tidy up", "version": 2})
    first, then = documents("plans", made)["p1"], documents("plans", made, edited)["p1"]
    assert (first["name"], first["version"], first["planner"], first["status"]) == ("tidy", 1, "model", "waiting")
    assert (then["name"], then["version"], then["planner"]) == ("tidy up", 2, None)
    assert (then["createdAt"], then["updatedAt"], then["scene"]) == (T0, T0 + 5_000, "hall")


@pytest.mark.parametrize(("verb", "status"), [("start", "started"), ("cancel", "cancelled")])
def test_what_became_of_a_plan_is_told_by_the_answer_at_its_review(verb: str, status: str) -> None:
    made = told("planCreated", 0, {"id": "p1", "name": "tidy"})
    answered = decision("decisionAnswered", 9, "answered", answer={"verb": verb, "by": "ann"})
    plan = documents("plans", made, answered)["p1"]
    assert (plan["status"], plan["decidedBy"], plan["decidedAt"]) == (status, "ann", T0 + 9_000)
    assert (plan["name"], plan["updatedAt"]) == ("tidy", T0 + 9_000)


@pytest.mark.parametrize(
    "more", [{"kind": "approval", "answer": {"verb": "start"}}, {"answer": {"verb": "edit"}}, {"answer": None}, {}]
)
def test_other_answers_do_not_decide_a_plan(more: dict[str, Any]) -> None:
    made = told("planCreated", 0, {"id": "p1"})
    answered = decision("decisionAnswered", 9, "answered", **more)
    assert documents("plans", made, answered)["p1"]["status"] == "waiting"
    assert documents("plans", answered) == {}, "a plan that nobody made is not made by an answer"


def test_a_step_took_from_its_first_running_to_its_end() -> None:
    events = [step(0, "pending"), step(1, "running", attempt=1), step(2, "running", attempt=2)]
    going = documents("steps", *events)["r1/a"]
    assert (going["startedAt"], going["endedAt"], going["attempt"]) == (T0 + 1_000, None, 2)
    failed = documents("steps", *events, step(4, "failed", result={"error": "It slipped."}))["r1/a"]
    assert (failed["endedAt"], failed["durationS"], failed["error"]) == (T0 + 4_000, 3.0, "It slipped.")
    assert (failed["runId"], failed["planId"], failed["stepId"], failed["scene"]) == ("r1", "p1", "a", "hall")
    assert documents("steps", step(4, "skipped"))["r1/a"]["durationS"] is None, "it never began"


def test_a_step_that_is_run_again_begins_anew() -> None:
    events = [step(1, "running"), step(2, "completed"), step(9, "pending", reset=True), step(10, "running")]
    again = documents("steps", *events[:3])["r1/a"]
    assert (again["startedAt"], again["endedAt"], again["durationS"]) == (None, None, None)
    assert documents("steps", *events)["r1/a"]["startedAt"] == T0 + 10_000


def test_a_decision_tells_how_long_it_was_open_and_who_answered_what() -> None:
    opened = decision("decisionOpened", 1, "open", openedAt=iso(T0))
    waiting = documents("decisions", opened)["d1"]
    assert (waiting["openedAt"], waiting["closedAt"], waiting["openS"], waiting["verb"]) == (T0, None, None, None)
    assert (waiting["kind"], waiting["owner"], waiting["title"]) == ("review", "plan:p1", "Start?")
    data = {"id": "d1", "status": "answered", "answer": {"verb": "start", "by": "ann"}}
    answered = documents("decisions", opened, told("decisionAnswered", 5, data, None, runId="r1"))["d1"]
    assert (answered["closedAt"], answered["openS"]) == (T0 + 5_000, 5.0)
    assert (answered["verb"], answered["by"], answered["scene"]) == ("start", "ann", "hall")
    assert (answered["planId"], answered["runId"]) == ("p1", "r1")
    withdrawn = documents("decisions", opened, decision("decisionWithdrawn", 2, "withdrawn"))["d1"]
    assert (withdrawn["status"], withdrawn["openS"], withdrawn["by"]) == ("withdrawn", 2.0, None)


def test_events_can_be_searched_by_what_they_are_about_and_what_they_say() -> None:
    robot = Field("about.robotId", "keyword", "The robot.", ("robot",), "robot")
    battery = Field("data.battery", "double", "How full it is.")
    fleet = Searchable((), event_fields=(robot, battery), event_nouns=(Noun(("telegram",)),))
    events = indexes_of([SEARCHABLE, fleet, fleet])[0]
    event = Event(
        "robotUpdated", {"robotId": "RB-01", "x": 1}, {"battery": 0.5, "y": 2}, T0, "hall", "c", "fleet:hall", 3
    )
    [(name, document)] = events.fold(event, lambda _: None)
    assert name == "3"
    assert document == {
        "seq": 3,
        "ts": T0,
        "kind": "robotUpdated",
        "scene": "hall",
        "owner": "fleet:hall",
        "correlationId": "c",
        "about.robotId": "RB-01",
        "data.battery": 0.5,
    }
    assert [one.name for one in events.fields].count("about.robotId") == 1
    assert words(events.nouns) >= {"event", "telegram"}
    assert events.grows, "documents are only added, so they may be counted as they come"
    assert ("about.robotId", "ts") in events.sped
    assert ("data.battery", "ts") not in events.sped, "nobody names a robot by its battery"


def test_names_of_which_there_are_ever_more_are_not_listed() -> None:
    runs: Index = INDEXES["runs"]
    assert set(runs.listed) == {"scene", "startedBy"}


def test_a_question_finds_each_index_by_its_words_and_its_measure() -> None:
    assert {name: words(index.nouns) for name, index in INDEXES.items()} == {
        "events": {"event"},
        "runs": {"run", "plan run"},
        "plans": {"plan"},
        "steps": {"step"},
        "decisions": {"decision"},
    }
    timed = {name: index.measure for name, index in INDEXES.items() if index.measure}
    assert timed == {"runs": "durationS", "steps": "durationS", "decisions": "openS"}
    assert not any(index.grows for name, index in INDEXES.items() if name != "events")


def test_a_time_that_is_not_known_yet_or_runs_backwards_is_no_duration() -> None:
    assert seconds_between(None, 5) is seconds_between(5, None) is None
    assert seconds_between(0, 1_500) == 1.5
    assert seconds_between(2_000, 1_000) == 0


def words(nouns: Iterable[Noun]) -> set[str]:
    return {word for noun in nouns for word in noun.words}
