"""A fleet that should be live and is not, for whoever looks: what is under way in it is held, and says why.

Nothing of this is in the log. What the robots do by themselves goes on; when the fleet lives again they are asked.
"""

from dataclasses import replace

from beforehand.crafts.fleet.core.state import FleetState
from beforehand.model.reason import Reason


def held_for(state: FleetState, reason: Reason) -> FleetState:
    """The state with every open task held for this reason and every robot waiting for it, seen nowhere."""
    held = {"status": "held", "error_code": reason.code, "error": reason.says, "waits_for": "person"}
    tasks = {name: replace(state.tasks[name], **held) for name in state.open_tasks}  # type: ignore[arg-type]
    waits = {"waits_says": f"waits: {reason.says}", "held": False, "paused": False}
    robots = {
        name: replace(robot, **waits, phase="held" if robot.task_id else robot.phase)  # type: ignore[arg-type]
        for name, robot in state.robots.items()
    }
    return replace(state, tasks={**state.tasks, **tasks}, robots=robots, seen={})
