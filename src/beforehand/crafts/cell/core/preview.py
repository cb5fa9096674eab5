"""A sequence seen before it runs: the cell simulated in virtual time, step after step.

How long a step takes is `times.py`'s to say. Nothing is waited for: the times are only added up.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from beforehand.crafts.cell.core.steplist import Line, read_lines
from beforehand.crafts.cell.core.times import Watch
from beforehand.crafts.cell.core.verifier import verify
from beforehand.model.cell import ATTACH, RELEASE, CellScene, CellState
from beforehand.model.reason import Problem


@dataclass(frozen=True, slots=True)
class Moment:
    """One step on the timeline, and the state it leaves."""

    step_id: Any
    start_s: float
    end_s: float
    name: str
    action: str
    before: CellState
    after: CellState

    def wire(self) -> dict[str, Any]:
        shown = {
            "stepId": self.step_id,
            "startS": self.start_s,
            "endS": self.end_s,
            "name": self.name,
            "says": f"{self.name}.",
            "action": self.action,
            "position": self.after.current_position,
            "tool": self.after.current_tool,
        }
        return shown | ({"from": self.before.current_position} if self.action == "move" else {})


@dataclass(frozen=True, slots=True)
class Preview:
    duration_s: float
    moves: int
    tool_changes: int
    """Changes of what is held; a release straight followed by an attach is one."""
    timeline: tuple[Moment, ...]
    end: CellState
    problems: tuple[Problem, ...] = ()

    def wire(self) -> dict[str, Any]:
        return {
            "durationS": self.duration_s,
            "moves": self.moves,
            "toolChanges": self.tool_changes,
            "timeline": [moment.wire() for moment in self.timeline],
            "end": self.end.wire(),
            "problems": [problem.wire() for problem in self.problems],
        }

    def at(self, seconds: float) -> CellState:
        """The state at a moment of virtual time: that of the last step that has ended by then."""
        ended = [moment for moment in self.timeline if moment.end_s <= seconds]
        first = self.timeline[0].before if self.timeline else self.end
        return ended[-1].after if ended else first


def preview(scene: CellScene, steps: Any, state: CellState) -> Preview:
    """Simulate atomic steps, or a plan's cell steps, from the state; what is wrong with them is told with it."""
    lines, _ = read_lines(steps, scene.name)
    verdict = verify(scene, steps, state)
    watch = Watch(scene)
    timeline: list[Moment] = []
    now, before = 0, state
    for line, after in zip(lines, verdict.states, strict=True):
        end = now + _milliseconds(watch, line, before.current_position)
        timeline.append(Moment(line.step_id, now / 1_000, end / 1_000, line.name, line.action, before, after))
        now, before = end, after
    moves = sum(line.action == "move" for line in lines)
    return Preview(now / 1_000, moves, _tool_changes(lines), tuple(timeline), verdict.end, verdict.problems)


def step_seconds(scene: CellScene, action: str, target: str, stabilize: float | None, position: str | None) -> float:
    """How long one step takes, begun where the robot stands."""
    line = Line("", "", action, {"target": target, "stabilize": stabilize})
    return _milliseconds(Watch(scene), line, position) / 1_000


def _milliseconds(watch: Watch, line: Line, position: str | None) -> int:
    target = line.text("target") or ""
    if line.action == "move":
        return watch.move(position, target)
    return watch.routine(target, line.fields.get("stabilize"))


def _tool_changes(lines: list[Line]) -> int:
    """A routine that only follows a release at the stand does not make the exchange two changes."""
    ran = [line for line in lines if line.action == "routine"]
    done = [line.text("target") for before, line in zip([None, *ran], ran, strict=False) if not _follows(before, line)]
    swaps = sum(pair == (RELEASE, ATTACH) for pair in pairwise(done))
    return done.count(ATTACH) + done.count(RELEASE) - swaps


def _follows(before: Line | None, line: Line) -> bool:
    if before is None:
        return False
    asked = (before.text("action_after"), before.text("position"))
    return asked == (line.text("target"), line.text("position"))
