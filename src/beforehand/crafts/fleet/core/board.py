"""The board one tick is worked out on: the state as given, and over it what this tick has changed so far.

Phases read and write the board; the state beneath is never touched. When all phases are through, `settle` turns the
changes into events, one for each thing that is different now: first what ended and what it freed, then what begins,
last every command that goes out.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from beforehand.crafts.fleet.core.inputs import FleetInput
from beforehand.crafts.fleet.core.state import FleetState, Hold, Seen, after_created, robot_wire
from beforehand.crafts.fleet.core.streams import Candidate, Pallets
from beforehand.crafts.fleet.core.traffic.memory import TrafficMemory
from beforehand.model.decision import Answer, Decision
from beforehand.model.event import Event, Verdict, iso
from beforehand.model.fleet import Robot, Settings, Stream, Task, Worksite
from beforehand.model.reason import Reason
from beforehand.model.records import changed, wire_of
from beforehand.model.robot import Ack, RobotCommand, Telemetry, command_wire

FaultClass = Literal["transient", "retry", "terminal", "doubt"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something went wrong with a task's present step."""

    task_id: str
    code: str
    says: str
    kind: FaultClass
    difference: dict[str, Any] | None = None
    """Where witnesses disagree: what was to be, and what is seen."""


class Board:
    """One tick's working copy. Everything on it is a record that is replaced, never changed."""

    def __init__(self, state: FleetState, inputs: Sequence[FleetInput], now_ms: int) -> None:
        self.state = state
        self.inputs = inputs
        self.now = now_ms
        self.reports: list[tuple[Telemetry, Telemetry]] = []
        """Accepted reports of this tick, each with the one before it."""
        self.placeless: set[str] = set()
        """Robots whose report does not say where they are."""
        self.acks: list[Ack] = []
        self.words: list[FleetInput] = []
        """What people ask for."""
        self.faults: list[Fault] = []
        self.restless: list[str] = []
        """Open tasks that are not simply under way."""
        self.work: Any = None
        """What could be given out, in the order of the arbitration; None when there is no robot to take it."""
        self.asked = False
        """Whether the streams were asked."""
        self.firsts: dict[str, Candidate | None] = {}
        """What each stream that was asked would do first."""
        self.passed: dict[Pallets, frozenset[str]] = {}
        """What the next tick need not look at again, and the robots it was tried with."""
        self.offered = False
        """Whether there was any work to give out."""
        self.free: list[str] = []
        """Robots that may take work."""
        self.on_chargers: dict[str, str] | None = None
        """Which robot stands on which charger's node, once somebody has asked."""
        self.short_of_charge: set[str] = set()
        """Robots that could not take work for lack of battery."""
        self.events: list[Event] = []
        self.commands: list[RobotCommand] = []
        self.reasons: list[Reason] = []
        self.seen_now: dict[str, Seen] = {}
        self.tasks_now: dict[str, Task] = {}
        self.robots_now: dict[str, Robot] = {}
        self.sites_now: dict[str, Worksite] = {}
        self.streams_now: dict[str, Stream] = {}
        self.decisions_now: dict[str, Decision | None] = {}
        self.traffic: TrafficMemory | None = None
        """What traffic remembers for the next tick, once it has been worked out."""
        self.hold = state.hold
        self.tasks_made = state.tasks_made
        self.decisions_made = state.decisions_made
        self._created: dict[str, Task] = {}
        self._creations: list[Event] = []
        self._touched: dict[tuple[str, str], None] = {}

    # Reading

    @property
    def settings(self) -> Settings:
        return self.state.scene.settings

    @property
    def recovers(self) -> bool:
        return self.state.scene.settings.error_policy == "recover"

    def task(self, task_id: str) -> Task:
        return self.tasks_now.get(task_id) or self.state.tasks[task_id]

    def robot(self, robot_id: str) -> Robot:
        return self.robots_now.get(robot_id) or self.state.robots[robot_id]

    def site(self, site_id: str) -> Worksite:
        return self.sites_now.get(site_id) or self.state.worksites[site_id]

    def stream(self, stream_id: str) -> Stream:
        return self.streams_now.get(stream_id) or self.state.streams[stream_id]

    def seen(self, robot_id: str) -> Seen:
        return self.seen_now.get(robot_id) or self.state.seen[robot_id]

    def knows_task(self, task_id: str) -> bool:
        return task_id in self.tasks_now or task_id in self.state.tasks

    def pending_tasks(self) -> Iterator[Task]:
        """Those of the open tasks that wait for a robot or have an order to send, and perhaps others."""
        pending, now = self.state.pending, self.tasks_now
        for task_id in self.state.open_tasks:
            if task_id in pending or task_id in now:
                task = self.task(task_id)
                if task.ended_ts_ms is None:
                    yield task
        for task_id in self._created:
            task = self.task(task_id)
            if task.ended_ts_ms is None:
                yield task

    def untasked_robots(self) -> list[str]:
        """Robots that may be without a task, in the order of the scene."""
        names = self.state.untasked
        if self.robots_now:
            names = names.union(self.robots_now)
        places = self.state.robot_places
        return sorted(names, key=places.__getitem__)

    def open_tasks(self) -> Iterator[Task]:
        for task_id in (*self.state.open_tasks, *self._created):
            task = self.task(task_id)
            if task.ended_ts_ms is None:
                yield task

    def decision_about(self, key: str, value: str) -> Decision | None:
        for decision_id in (*self.state.decisions, *self.decisions_now):
            decision = self.decision(decision_id)
            if decision is not None and decision.about.get(key) == value:
                return decision
        return None

    def question_of(self, robot_id: str) -> Decision | None:
        """What is asked about the robot itself, not about its task."""
        for decision_id in (*self.state.decisions, *self.decisions_now):
            decision = self.decision(decision_id)
            if decision is not None and decision.about.get("robotId") == robot_id and _is_question(decision):
                return decision
        return None

    def traffic_question(self, robot_id: str) -> Decision | None:
        """What is asked about a robot that waits for another one."""
        for decision_id in (*self.state.decisions, *self.decisions_now):
            decision = self.decision(decision_id)
            if decision is not None and decision.about.get("robotId") == robot_id and "waitsFor" in decision.about:
                return decision
        return None

    def has_traffic_questions(self) -> bool:
        return any(
            "waitsFor" in one.about for one in (*self.state.decisions.values(), *self.decisions_now.values()) if one
        )

    def decision(self, decision_id: str) -> Decision | None:
        if decision_id in self.decisions_now:
            return self.decisions_now[decision_id]
        return self.state.decisions.get(decision_id)

    # Writing

    def change_task(self, task: Task, **changes: Any) -> Task:
        now = self.tasks_now[task.task_id] = changed(task, **changes)
        self._touched.setdefault(("task", task.task_id))
        return now

    def change_robot(self, robot: Robot, **changes: Any) -> Robot:
        now = self.robots_now[robot.robot_id] = changed(robot, **changes)
        self._touched.setdefault(("robot", robot.robot_id))
        return now

    def change_site(self, site: Worksite, **changes: Any) -> Worksite:
        now = self.sites_now[site.worksite_id] = changed(site, **changes)
        self._touched.setdefault(("site", site.worksite_id))
        return now

    def create_task(self, task: Task, correlation_id: str = "") -> Task:
        self.tasks_made += 1
        self.tasks_now[task.task_id] = self._created[task.task_id] = task
        self._touched.setdefault(("task", task.task_id))
        if task.stream_id is not None:
            self.streams_now[task.stream_id] = after_created(
                self.stream(task.stream_id), task, self.now, self.settings.quota_window_s
            )
        self._creations.append(
            self._event("taskCreated", _about_task(task), wire_of(task), correlation_id or task.task_id)
        )
        return task

    def new_task_id(self) -> str:
        return f"{self.state.scene.name}-t{self.tasks_made + 1}"

    def set_stream(self, stream: Stream) -> None:
        self.streams_now[stream.stream_id] = stream
        self.emit("streamUpdated", {"streamId": stream.stream_id}, wire_of(stream))

    def set_hold(self, hold: Hold) -> None:
        if hold == self.hold:
            return
        self.hold = hold
        data = {"scene": self.state.scene.name, "held": bool(hold), **hold.wire()}
        self.emit("fleetHeld" if hold else "fleetCleared", {"sceneName": self.state.scene.name}, data)

    def open_decision(
        self,
        title: str,
        about: dict[str, Any],
        evidence: dict[str, Any],
        effects: dict[str, str],
        values: dict[str, dict[str, Any]] | None = None,
    ) -> None:
        self.decisions_made += 1
        decision = Decision(
            id=f"{self.state.scene.name}-d{self.decisions_made}",
            kind="hold",
            owner=self.state.owner,
            title=title,
            about={"scene": self.state.scene.name, **about},
            evidence=evidence,
            verbs=tuple(effects),
            effects=effects,
            values=values or {},
            if_unanswered="It stays as it is until somebody answers.",
            asked_by=self.state.owner,
            opened_at=iso(self.now),
        )
        self.decisions_now[decision.id] = decision
        self.emit("decisionOpened", {"decisionId": decision.id, **about}, decision.wire())

    def close_decision(self, decision: Decision, answer: Answer | None = None) -> None:
        """Answered by a person, or withdrawn because what it asked about is settled."""
        status = "withdrawn" if answer is None else "answered"
        closed = decision.model_copy(update={"status": status, "answer": answer})
        self.decisions_now[decision.id] = None
        kind = "decisionWithdrawn" if answer is None else "decisionAnswered"
        ids = {key: value for key, value in decision.about.items() if key != "scene"}
        self.emit(kind, {"decisionId": decision.id, **ids}, closed.wire())

    def emit(self, kind: str, about: dict[str, Any], data: dict[str, Any], correlation_id: str = "") -> None:
        self.events.append(self._event(kind, about, data, correlation_id))

    def _event(self, kind: str, about: dict[str, Any], data: dict[str, Any], correlation_id: str) -> Event:
        name, owner = self.state.scene.name, self.state.owner
        return Event(kind, about, data, self.now, scene=name, correlation_id=correlation_id, owner=owner)

    def refuse(self, code: str, about: str, says: str, try_next: str = "") -> None:
        self.reasons.append(Reason(code=code, about=about, says=says, try_next=try_next))

    # The end of the tick

    def settle(self) -> Verdict[RobotCommand]:
        """The changes as events; what ended up as it was gives none."""
        touched: Iterable[tuple[str, str]] = self._touched
        if self._creations:
            begun = {one for one in touched if self._begins(*one)}
            self._settle_all(one for one in touched if one not in begun)
            self.events += self._creations
            touched = [one for one in touched if one in begun]
        self._settle_all(touched)
        for command in self.commands:
            self._settle_command(command)
        return Verdict(tuple(self.events), tuple(self.commands), tuple(self.reasons))

    def _begins(self, kind: str, key: str) -> bool:
        """Whether this belongs to a task that this tick has made, and so comes after it."""
        if kind == "task":
            return key in self._created
        return (self.site(key).reserved_by if kind == "site" else self.robot(key).task_id) in self._created

    def _settle_all(self, touched: Iterable[tuple[str, str]]) -> None:
        for kind, key in touched:
            if kind == "task":
                self._settle_task(key)
            elif kind == "site":
                self._settle_site(key)
            else:
                self._settle_robot(key)

    def _settle_site(self, key: str) -> None:
        site, was = self.site(key), self.state.worksites[key]
        if site != was:
            # What frees a place belongs to the task that held it.
            holder = site.reserved_by or was.reserved_by or key
            self.emit("worksiteUpdated", {"worksiteId": key}, wire_of(site), holder)

    def _settle_command(self, command: RobotCommand) -> None:
        task_id = self.robot(command.robot_id).task_id
        about = {"robotId": command.robot_id} | ({"taskId": task_id} if task_id else {})
        self.emit("commandSent", about, command_wire(command), task_id or command.robot_id)

    def _settle_robot(self, robot_id: str) -> None:
        robot, was = self.robot(robot_id), self.state.robots[robot_id]
        if robot != was:
            about = {"robotId": robot_id} | ({"taskId": robot.task_id} if robot.task_id else {})
            task_id = robot.task_id or was.task_id or robot_id
            self.emit("robotUpdated", about, robot_wire(robot, self.seen(robot_id)), task_id)

    def _settle_task(self, task_id: str) -> None:
        before = self._created.get(task_id) or self.state.tasks.get(task_id)
        task = self.task(task_id)
        if task != before:
            task = self.tasks_now[task_id] = changed(task, updated_ts_ms=self.now)
            self.emit("taskUpdated", _about_task(task), wire_of(task), task_id)


def _is_question(decision: Decision) -> bool:
    return "taskId" not in decision.about and "waitsFor" not in decision.about


def _about_task(task: Task) -> dict[str, Any]:
    about = {"taskId": task.task_id}
    if task.stream_id is not None:
        about["streamId"] = task.stream_id
    if task.robot_id is not None:
        about["robotId"] = task.robot_id
    return about
