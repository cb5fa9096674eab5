"""What may move into the archive, and what has to stay."""

from typing import Any

from beforehand.loop.ended import Sieve, kinds_that_end, living_in
from beforehand.loop.rows import ROWS, projection, row_in_scene
from beforehand.model.event import Event

PROJECT = projection(ROWS, {"siteUpdated": row_in_scene("site", "siteId")})


def sieve(*open_rows: dict[str, Any], **replayed_from: int) -> Sieve:
    known = {owner.replace("_", ":"): seq for owner, seq in replayed_from.items()}
    return Sieve(PROJECT, kinds_that_end(["task"]), living_in(open_rows), known)


def event(seq: int, kind: str, owner: str, about: Any = None, **data: Any) -> Event:
    return Event(kind, about or {}, data, seq, "hall", "c", owner, seq)


def run_event(seq: int, run: str = "r1") -> Event:
    about = {"planId": "p1", "runId": run, "stepId": "a"}
    return event(seq, "stepUpdated", f"run:{run}", about, stepId="a", status="completed")


def test_events_of_a_run_go_once_it_has_ended() -> None:
    assert sieve().sift([run_event(1), run_event(2)]) == [1, 2]
    assert sieve({"runId": "r1", "planId": "p9"}).sift([run_event(1), run_event(2, "r2")]) == [2]


def test_only_ids_of_what_is_open_hold_anything() -> None:
    assert sieve({"runId": "r9", "status": "a", "name": "p1"}).sift([run_event(1)]) == [1]
    assert sieve({"id": "a"}).sift([run_event(1)]) == []


def test_a_plan_stays_while_a_run_or_a_review_of_it_is_open() -> None:
    plan = event(1, "planCreated", "plan:p1", {"planId": "p1"}, id="p1", version=1, steps=[])
    assert sieve().sift([plan]) == [1]
    assert sieve({"runId": "r7", "planId": "p1"}).sift([plan]) == []
    assert sieve({"id": "d1", "about": {"planId": "p1", "scene": "hall"}}).sift([plan]) == []


def test_an_open_decision_about_a_scene_does_not_hold_everything_in_it() -> None:
    living = sieve({"id": "d1", "about": {"sceneId": "hall", "scene": "hall"}})
    assert living.sift([event(1, "stepUpdated", "run:r1", {"sceneId": "hall", "runId": "r1"}, stepId="a")]) == [1]


def test_of_what_has_no_end_the_newest_stays() -> None:
    saved = [event(seq, "sceneSaved", "scene:hall", {"sceneId": "hall"}, name="hall", n=seq) for seq in (1, 2, 3)]
    chosen = sieve()
    assert chosen.sift(saved[:2]) == [1]
    assert chosen.sift(saved[2:]) == [2], "also when it comes with a later call"
    assert chosen.newest == 1


def test_what_makes_no_row_stays_as_long_as_it_is_the_newest_of_its_kind() -> None:
    told = [event(seq, kind, "fleet:hall") for seq, kind in enumerate(["begun", "sent", "sent", "begun", "sent"], 1)]
    assert sieve().sift(told) == [2, 1, 3]


def test_one_event_that_is_the_newest_word_on_two_things_stays_until_both_are_said_anew() -> None:
    activated = event(1, "sceneActivated", "scene:hall", {"requestId": "q1", "requestHash": "h"}, name="hall")
    again = event(2, "sceneSaved", "scene:hall", name="hall")
    assert sieve({"id": "q1"}).sift([activated, again]) == [], "the request is not forgotten yet"
    assert sieve().sift([activated, again]) == [1]


def test_what_a_driver_would_replay_stays() -> None:
    told = [event(seq, "siteUpdated", "fleet:hall", {"siteId": "A"}, siteId="A", n=seq) for seq in range(1, 6)]
    assert sieve(fleet_hall=3).sift(told) == [1, 2]


def test_a_task_goes_with_its_end_and_not_before() -> None:
    task = projection(ROWS, {"taskUpdated": row_in_scene("task", "taskId", lambda data: data["status"] != "done")})
    told = [event(1, "taskUpdated", "fleet:hall", {"taskId": "t1"}, taskId="t1", status="done")]
    assert Sieve(task, kinds_that_end(["task"]), set(), {}).sift(told) == [1]
    assert Sieve(task, kinds_that_end(["task"]), living_in([{"taskId": "t1"}]), {}).sift(told) == []
