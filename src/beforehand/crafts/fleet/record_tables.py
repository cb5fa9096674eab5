"""Robots, tasks, streams and worksites in words: the rows of their tables, and one of them in full."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from beforehand.cli.screen import line, print_table
from beforehand.crafts.fleet.sentences import stream_says, task_says
from beforehand.model.event import iso

Document = Mapping[str, Any]
Row = Callable[[Document], Sequence[object]]


def _battery(robot: Document) -> str:
    return f"{robot['battery']:.0%}" if "battery" in robot else "unknown"


def _fork(robot: Document) -> str:
    return {"empty": "empty", "loaded": "a pallet"}.get(robot["loadState"], "unknown")


def _robot(robot: Document) -> Sequence[object]:
    at, name = robot.get("nodeId", "between places"), robot["robotId"]
    return (
        name,
        line(robot["says"]).removeprefix(f"{name} "),
        at,
        _battery(robot),
        _fork(robot),
        robot.get("taskId", ""),
    )


def link_rows(link: Document) -> list[tuple[str, str]]:
    """What leads to a robot, a line for each thing that is known."""
    since = f" Since {iso(link['sinceTsMs'])}." if "sinceTsMs" in link else ""
    rows = [("kind", link["kind"]), ("at", link.get("at", "")), ("answers", line(link["says"]) + since)]
    if "control" in link:
        rows.append(("control", link["control"] or "nobody"))
    if "trouble" in link:
        rows.append(("last trouble", f"{line(link['trouble'])} At {iso(link['troubleTsMs'])}."))
    return [(name, value) for name, value in rows if value]


def _task(task: Document) -> Sequence[object]:
    robot = task.get("robotId", "")
    says = line(task_says(task)).removeprefix(f"{robot} ")
    return task["taskId"], task["status"], task["sourceId"], task["targetId"], robot, says


def _stream(stream: Document) -> Sequence[object]:
    begun, done = stream.get("tasksCreated", 0), stream.get("tasksCompleted", 0)
    return stream["streamId"], "on" if stream["enabled"] else "off", f"{stream.get('priority', 0):g}", begun, done


def _lies(site: Document) -> str:
    """What lies there, also under a reservation."""
    return str(site.get("occupancyBefore", site["occupancy"]))


def _worksite(site: Document) -> Sequence[object]:
    group = site.get("groupId", "")
    return site["worksiteId"], _lies(site), site.get("reservedBy", ""), site["worksiteType"], group


def _worksite_says(site: Document) -> str:
    reserved = f", and reserved by {site['reservedBy']}" if site.get("reservedBy") else ""
    return f"{site['worksiteId']} is {_lies(site)}{reserved}."


@dataclass(frozen=True, slots=True)
class Records:
    """A kind of records: what it is called, the columns of its table, and one record as a sentence."""

    noun: str
    columns: tuple[str, ...]
    row: Row
    says: Callable[[Document], str]

    @property
    def plural(self) -> str:
        return f"{self.noun}s"

    def print_all(self, found: Sequence[Document]) -> None:
        """The table; the scene is a column of it where there are several."""
        several = len({item["scene"] for item in found}) > 1
        columns = (*self.columns, "scene") if several else self.columns
        rows = [(*self.row(item), item["scene"]) if several else self.row(item) for item in found]
        print_table(columns, rows, nothing=f"There are no {self.plural} in an active fleet.")


ROBOTS = Records(
    "robot", ("robot", "what it does", "at", "battery", "fork", "task"), _robot, lambda robot: str(robot["says"])
)
TASKS = Records("task", ("task", "status", "from", "to", "robot", "where it stands"), _task, task_says)
STREAMS = Records("stream", ("stream", "is", "priority", "tasks begun", "completed"), _stream, stream_says)
WORKSITES = Records("worksite", ("worksite", "is", "reserved by", "kind", "group"), _worksite, _worksite_says)
