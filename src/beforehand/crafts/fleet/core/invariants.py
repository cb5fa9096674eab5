"""What must hold of any log, checked from the events alone, with no code shared with the core.

No worksite is held by two, no robot has two tasks, nothing is picked from an empty place or dropped on a filled one,
no fork carries two pallets, pallets are neither made nor lost, and what has ended holds nothing and stays ended. In a
simulation the books are also compared with where the pallets truly are.
"""

from collections.abc import Iterable
from typing import Any

from beforehand.model.event import Event
from beforehand.model.fleet import FleetScene

Place = tuple[str, str]
"""Where a pallet truly is: `worksite` or `robot`, and which."""
OVER = {"completed", "failed", "canceled"}


class Invariants:
    """Give it every event in order; `violations` fills up with sentences."""

    def __init__(self, scene: FleetScene) -> None:
        self.violations: list[str] = []
        self.lies: dict[str, str] = {site.worksite_id: site.initial_occupancy for site in scene.worksites}
        self.holder: dict[str, str | None] = dict.fromkeys(self.lies)
        self.forks: dict[str, str] = {robot.robot_id: robot.load_state for robot in scene.robots}
        self.task_of: dict[str, str] = {}
        self.tasks: dict[str, dict[str, Any]] = {}
        self.bare = {site.worksite_id for site in scene.worksites if site.worksite_type in ("charger", "park")}
        """Where no pallets stand, whatever is said of it."""
        self.capacity = {robot.robot_id: robot.capacity for robot in scene.robots}
        self.carried: dict[str, list[str]] = {}
        """Pallets on forks by the events of moving: for each robot the task of each pallet."""
        self.doubled: list[tuple[str, str, str]] = []
        self.passed_on: list[tuple[str, str, str]] = []

    def see(self, event: Event) -> None:
        match event.kind:
            case "taskCreated":
                self._task(event, new=True)
            case "taskUpdated":
                self._task(event, new=False)
            case "worksiteUpdated":
                self._worksite(event)
            case "palletPicked":
                self._picked(event)
            case "palletDropped":
                self._dropped(event)
            case "robotUpdated":
                self._robot(event)
            case _:
                pass

    def end(self) -> list[str]:
        """What can only be said when no more events come."""
        open_tasks = {task_id for task_id, task in self.tasks.items() if task["status"] not in OVER}
        for site, holder in self.holder.items():
            if holder is not None and holder in self.tasks and holder not in open_tasks:
                self._say(f"{site} is still reserved by {holder}, which is {self.tasks[holder]['status']}.")
        for task_id in sorted(open_tasks):
            legs = [leg["targetId"] for leg in self.tasks[task_id].get("legs", ()) if leg["state"] != "dropped"]
            for target in dict.fromkeys([self.tasks[task_id]["targetId"], *legs]):
                if self.holder.get(target) != task_id:
                    self._say(f"{task_id} is open but its drop {target} is held by {self.holder.get(target)}.")
        return self.violations

    def _task(self, event: Event, new: bool) -> None:
        data = dict(event.data)
        task_id, robot_id = data["taskId"], data.get("robotId")
        before = self.tasks.get(task_id)
        if new and before is not None:
            self._say(f"{task_id} was created twice.")
        if before is not None and before["status"] in OVER and before["status"] != data["status"]:
            self._say(f"{task_id} was {before['status']} and became {data['status']}.")
        self.tasks[task_id] = data
        for robot, task in list(self.task_of.items()):
            if task == task_id and (robot != robot_id or data["status"] in OVER):
                del self.task_of[robot]
        if robot_id is not None and data["status"] not in OVER:
            other = self.task_of.get(robot_id)
            if other is not None and other != task_id and self.tasks[other]["status"] not in OVER:
                self.doubled.append((robot_id, other, task_id))
            self.task_of[robot_id] = task_id

    def settle(self) -> None:
        """Call after the events of one decision: what passed from one task to another must be free of the first."""
        for robot_id, one, other in self.doubled:
            if self.tasks[one]["status"] not in OVER and self.tasks[one].get("robotId") == robot_id:
                self._say(f"{robot_id} has two tasks at once: {one} and {other}.")
        for site, one, other in self.passed_on:
            task = self.tasks.get(one)
            if task is not None and task["status"] not in OVER and task["targetId"] == site:
                self._say(f"{site} went from {one} to {other} without being released.")
        self.doubled, self.passed_on = [], []

    def _worksite(self, event: Event) -> None:
        data = event.data
        site, holder, before = data["worksiteId"], data.get("reservedBy"), self.holder[data["worksiteId"]]
        if before is not None and holder is not None and holder != before:
            self.passed_on.append((site, before, holder))
        self.holder[site] = holder
        self.lies[site] = data.get("occupancyBefore", "unknown") if holder is not None else data["occupancy"]

    def _picked(self, event: Event) -> None:
        site, robot, task = event.data["worksiteId"], event.data["robotId"], event.data["taskId"]
        if self.lies[site] != "filled":
            self._say(f"{robot} picked from {site}, which was {self.lies[site]}.")
        if self.holder[site] != task:
            self._say(f"{task} picked from {site}, which was held by {self.holder[site]}.")
        others = self.carried.setdefault(robot, [])
        if len(others) >= self.capacity[robot]:
            self._say(f"{robot} picked a second pallet, one too many, while carrying that of {others[0]}.")
        if any(other != task for other in others):
            self._say(f"{robot} picked for {task} while carrying the pallet of {others[0]}.")
        self.lies[site], self.holder[site] = "empty", None
        others.append(task)

    def _dropped(self, event: Event) -> None:
        site, robot, task = event.data["worksiteId"], event.data["robotId"], event.data["taskId"]
        if self.lies[site] == "filled":
            self._say(f"{robot} dropped on {site}, which was filled.")
        if self.holder[site] != task:
            self._say(f"{task} dropped on {site}, which was held by {self.holder[site]}.")
        if task not in self.carried.get(robot, ()):
            self._say(f"{robot} dropped a pallet of {task} that it did not carry.")
        else:
            self.carried[robot].remove(task)
            if event.data["loadState"] != ("loaded" if self.carried[robot] else "empty"):
                self._say(
                    f"{robot} is {event.data['loadState']} after a drop that left {len(self.carried[robot])} on it."
                )
        self.lies[site], self.holder[site] = "filled", None

    def _robot(self, event: Event) -> None:
        robot, load = event.data["robotId"], event.data.get("loadState", "unknown")
        # Once its task is over, a person or a sensor that says the fork is empty means it was taken off by hand.
        over = all(self.tasks.get(task, {}).get("status") in OVER for task in self.carried.get(robot, ()))
        if load == "empty" and over and event.data.get("loadStateSource") in ("manual", "sensor"):
            self.carried.pop(robot, None)
        self.forks[robot] = load

    def differing(self, pallets: Iterable[Place]) -> list[str]:
        """What the books have wrong of where all pallets truly are; the places and robot of an open task may differ."""
        true = set(pallets)
        under_way = {name for task in self.tasks.values() if task["status"] not in OVER for name in _named_by(task)}
        known = [
            ("worksite", site, lies, "filled", "empty") for site, lies in self.lies.items() if site not in self.bare
        ]
        known += [("robot", robot, load, "loaded", "empty") for robot, load in self.forks.items()]
        return [
            f"{name} is {said} in the books, and truly it is not."
            for kind, name, said, full, bare in known
            if said in (full, bare) and (said == full) != ((kind, name) in true)
            if name not in under_way
        ]

    def pallets(self) -> int:
        """Pallets the log knows of: on the floor and on forks."""
        return sum(1 for lies in self.lies.values() if lies == "filled") + sum(map(len, self.carried.values()))

    def _say(self, says: str) -> None:
        if says not in self.violations:
            self.violations.append(says)


def _named_by(task: dict[str, Any]) -> set[str]:
    """The places and the robot a task is about."""
    keys = ("sourceId", "targetId", "nextTargetId", "robotId")
    named = {task[key] for key in keys if task.get(key) is not None}
    return named.union(*({leg["sourceId"], leg["targetId"]} for leg in task.get("legs", ())))
