"""Old forms of events and what they become; that every store does so on every way out is tests/contract's."""

from dataclasses import replace
from typing import Any

from beforehand.model.decision import Decision
from beforehand.model.event import Event
from beforehand.model.versions import (
    BEFOREHAND,
    DATA_VERSION,
    UPCASTERS,
    is_behind,
    kind_version,
    newer_names,
    present_versions,
    up_to_date,
)


def decision(kind: str, about: dict[str, Any], owner: str, event: str = "decisionOpened", **more: Any) -> Event:
    """A decision as version 1 wrote it."""
    data = {
        "id": "d1",
        "kind": kind,
        "title": "What now?",
        "about": about,
        "verbs": ["take-up", "leave"] if kind == "bug" else ["approve", "deny"],
        "effects": {"take-up": "It goes on.", "leave": "It stays."} if kind == "bug" else {},
        "openedAt": "2026-01-01T12:00:00.000Z",
        "status": "open",
        **more,
    }
    return Event(event, {"decisionId": "d1"}, data, 5, "dock", "c", owner, 7)


def test_a_decision_gets_the_owner_of_its_event() -> None:
    for owner in ("run:r1", "plan:p1", "fleet:dock"):
        old = decision("approval", {"runId": "r1"}, owner)
        new = up_to_date(old, 1, UPCASTERS)
        assert new == replace(old, data={**old.data, "owner": owner})
        assert Decision.model_validate(new.data).owner == owner


def test_a_bug_is_owned_by_what_stopped_and_its_verb_is_restart() -> None:
    run = up_to_date(decision("bug", {"runId": "r1", "planId": "p1"}, "bug:r1"), 1, UPCASTERS)
    fleet = up_to_date(decision("bug", {"scene": "dock"}, "bug:dock"), 1, UPCASTERS)
    assert (run.data["owner"], fleet.data["owner"]) == ("bug:run:r1", "bug:fleet:dock")
    for event in (run, fleet):
        asked = Decision.model_validate(event.data)
        assert asked.verbs == ("restart", "leave")
        assert asked.effects == {"restart": "It goes on.", "leave": "It stays."}


def test_the_answer_to_a_bug_is_renamed_too() -> None:
    for verb, now in (("take-up", "restart"), ("leave", "leave")):
        given = {"verb": verb, "by": "ada"}
        old = decision("bug", {"runId": "r1"}, "bug:r1", "decisionAnswered", status="answered", answer=given)
        assert up_to_date(old, 1, UPCASTERS).data["answer"] == {"verb": now, "by": "ada"}


def test_what_was_written_in_the_present_version_is_left_alone() -> None:
    for kind in ("decisionOpened", "decisionAnswered", "decisionWithdrawn"):
        event = decision("approval", {}, "run:r1", kind)
        event = replace(event, data={**event.data, "owner": "session:s1"})
        assert kind_version(kind, UPCASTERS) == 2
        assert up_to_date(event, 2, UPCASTERS) is event
        assert up_to_date(event, 1, UPCASTERS).data["owner"] == "run:r1"
    other = Event("stepUpdated", {}, {}, 5)
    assert up_to_date(other, kind_version("stepUpdated", UPCASTERS), UPCASTERS) is other


def test_what_is_older_and_what_is_newer() -> None:
    present = present_versions({"noted": (lambda event: event,)})
    assert present == {BEFOREHAND: DATA_VERSION, "noted": 2}
    assert is_behind({}, present)
    assert is_behind({BEFOREHAND: DATA_VERSION}, present)
    assert not is_behind({**present, "elsewhere": 9}, present)
    assert newer_names({BEFOREHAND: DATA_VERSION + 1, "noted": 3, "elsewhere": 9}, present) == [BEFOREHAND, "noted"]
    assert newer_names(present, present) == []
