"""A month of a fleet's history, the same every time: real kinds of events with real records, a few hundred a day."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from beforehand.model.event import Event, iso
from beforehand.model.fleet import Robot, Task
from beforehand.model.records import wire_of

SCENE = "hall"
ROBOTS = tuple(f"RB-{number:02}" for number in range(1, 7))
PICKS = tuple(f"PICK_{number:02}" for number in range(1, 5))
DROPS = tuple(f"DROP_{number:02}" for number in range(1, 5))
STREAMS = ("inbound", "outbound", "empties")
FIRST = datetime(2026, 10, 16, tzinfo=UTC)
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
"""A Sunday noon."""
_FAULTS = (
    ("pick.no_pallet", "There was no pallet to pick."),
    ("robot.blocked", "Something stood in its way."),
    ("drop.occupied", "The place was taken."),
)


def ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


class _Month:
    def __init__(self) -> None:
        self.random = random.Random(7)
        self.events: list[Event] = []
        self.tasks = 0

    def tell(self, at: int, kind: str, about: dict[str, Any], data: dict[str, Any]) -> None:
        self.events.append(Event(kind, about, data, at, SCENE, "", f"fleet:{SCENE}"))

    def robot(self, at: int, name: str, phase: str, task_id: str | None = None, **more: Any) -> None:
        record = Robot(name, phase=phase, task_id=task_id, **more)  # type: ignore[arg-type]
        self.tell(at, "robotUpdated", {"robotId": name}, wire_of(record))

    def day(self, day: datetime, name: str) -> None:
        at = ms(day) + self.random.randint(6 * 3600, 7 * 3600) * 1000
        end = min(ms(day) + 20 * 3600_000, ms(NOW))
        while at < end:
            self.robot(at, name, "idle")
            at += self.random.randint(60, 2400) * 1000
            chance = self.random.random()
            if chance < 0.08:
                self.robot(at, name, "charging")
                at += self.random.randint(900, 3600) * 1000
            elif chance < 0.12:
                self.robot(at, name, "error", error="It stood still.")
                at += self.random.randint(30, 600) * 1000
            elif at < end:
                at = self.transport(at, name, end)

    def transport(self, at: int, name: str, end: int) -> int:
        self.tasks += 1
        fate = self.random.random()
        task = Task(
            f"{SCENE}-t{self.tasks}",
            self.random.choice(STREAMS),
            self.random.choice(PICKS),
            self.random.choice(DROPS),
            robot_id=name,
            created_ts_ms=at,
        )
        self.task("taskCreated", at, task)
        at += self.random.randint(0, 90) * 1000
        task = self.sent(at, task, "moving_to_pick")
        at += self.random.randint(30, 200) * 1000
        if at > end:
            return at
        self.robot(at, name, "picking", task.task_id)
        at += 20_000
        if fate < 0.06:
            return self.ends(at, task, "failed", *_FAULTS[self.tasks % 2])
        self.handled("palletPicked", at, task, task.source_id)
        task = self.sent(at, changed_to(task, step="drop"), "moving_to_drop")
        at += self.random.randint(30, 300) * 1000
        if at > end:
            return at
        if fate < 0.09:
            return self.ends(at, task, "canceled", "task.canceled", "A person cancelled it.")
        self.robot(at, name, "dropping", task.task_id)
        at += 15_000
        if fate < 0.12:
            return self.ends(at, task, "failed", *_FAULTS[2])
        self.handled("palletDropped", at, task, task.target_id)
        return self.ends(at, changed_to(task, step="done"), "completed", None, None)

    def task(self, kind: str, at: int, task: Task) -> None:
        about = {"taskId": task.task_id, "streamId": task.stream_id, "robotId": task.robot_id}
        self.tell(at, kind, about, wire_of(changed_to(task, updated_ts_ms=at)))

    def sent(self, at: int, task: Task, phase: str) -> Task:
        assert task.robot_id is not None
        sent = changed_to(task, status="active", phase=phase, sent_ts_ms=at, attempt=task.attempt + 1)
        self.task("taskUpdated", at, sent)
        self.robot(at, task.robot_id, phase, task.task_id)
        command = {"robotId": task.robot_id, "key": f"{task.task_id}:{task.step}", "command": "goTarget"}
        self.tell(at, "commandSent", {"robotId": task.robot_id, "taskId": task.task_id}, command)
        return sent

    def handled(self, kind: str, at: int, task: Task, place: str) -> None:
        ids = {"taskId": task.task_id, "robotId": task.robot_id, "worksiteId": place}
        self.tell(at, kind, ids, ids)

    def ends(self, at: int, task: Task, status: str, code: str | None, error: str | None) -> int:
        ended = changed_to(task, status=status, error_code=code, error=error, ended_ts_ms=at, phase="idle")
        self.task("taskUpdated", at, ended)
        return at

    def hold(self, at: int, number: int, answered_after: int | None) -> None:
        self.tell(at, "fleetHeld", {"sceneName": SCENE}, {"scene": SCENE, "held": True})
        decision = {
            "id": f"{SCENE}-d{number}",
            "kind": "hold",
            "owner": f"fleet:{SCENE}",
            "title": "The fleet is held.",
            "about": {"scene": SCENE},
            "verbs": ["clear"],
            "openedAt": iso(at),
            "status": "open",
        }
        self.tell(at, "decisionOpened", {"decisionId": decision["id"]}, decision)
        if answered_after is None:
            return
        at += answered_after
        answer = {"verb": "clear", "by": ("ada", "ben")[number % 2], "at": iso(at)}
        self.tell(
            at, "decisionAnswered", {"decisionId": decision["id"]}, {**decision, "status": "answered", "answer": answer}
        )
        self.tell(at, "fleetCleared", {"sceneName": SCENE}, {"scene": SCENE, "held": False})


def changed_to(task: Task, **changes: Any) -> Task:
    from beforehand.model.records import changed

    return changed(task, **changes)


def month_of_events() -> list[Event]:
    """The whole month, in the order of time."""
    month = _Month()
    for number in range((NOW - FIRST).days + 1):
        for name in ROBOTS:
            month.day(FIRST + timedelta(days=number), name)
    for number, day in enumerate(_hold_days(), 1):
        month.hold(ms(day), number, None if number == 9 else month.random.randint(60, 900) * 1000)
    return sorted(month.events, key=lambda event: event.ts)


def _hold_days() -> Iterator[datetime]:
    for number in range(9):
        yield FIRST + timedelta(days=3 * number + 5, hours=9 + number % 5, minutes=7)
