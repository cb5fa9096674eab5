"""The guard: does the world still hold what a command needs, at the last moment before it is sent?

Plans are verified when they are kept and when they start; what can change after that (a skip, a retry, a person's
correction, another run, the map itself) is seen here. It reads the scene by itself and shares no code with the builder.
"""

from collections.abc import Mapping
from typing import Any

from beforehand.model.cell import ATTACH, NO_TOOL, RELEASE, CellScene


def differences(
    scene: CellScene, action: str, args: Mapping[str, Any], position: str | None, tool: str, expects: Mapping[str, Any]
) -> list[str]:
    """Everything that does not hold for one step, a sentence each; nothing where it may be sent.

    `expects` is the state before the step as the plan was verified: a move needs the robot where it was planned to be,
    a routine needs its position and its tool.
    """
    if position is None:
        return ["Nobody knows where the robot stands."]
    target = str(args.get("target"))
    if action == "move":
        return _move(scene, target, position, expects.get("current_position"))
    there = args.get("position") == position
    found = [] if there else [f"The robot must be at {args.get('position')}; it is at {position}."]
    if target in (ATTACH, RELEASE):
        return found + _tool_change(scene, target, args.get("tool"), position, tool)
    return found + _routine(scene, target, position, tool)


def missed(action: str, args: Mapping[str, Any], position: str | None, tool: str) -> str | None:
    """What a step that its controller calls done has not brought about; None where it has."""
    target = str(args.get("target"))
    if action == "move" and position != target:
        stands = "nobody knows where the robot stands" if position is None else f"the robot stands at {position}"
        return f"The controller says that the move to {target} is done, but {stands}."
    wanted = {ATTACH: args.get("tool"), RELEASE: NO_TOOL}.get(target, tool) if action == "routine" else tool
    if tool != wanted:
        return f"The controller says that {target} is done, but the robot holds {_shown(tool)}."
    return None


def _move(scene: CellScene, target: str, position: str, planned: Any) -> list[str]:
    found = []
    if planned is not None and planned != position:
        found.append(f"The robot must be at {planned}; it is at {position}.")
    pairs = {(move.source, move.target) for move in scene.moves}
    pairs |= {(move.target, move.source) for move in scene.moves if not move.one_way}
    if (position, target) not in pairs:
        found.append(f"No move from {position} to {target} is allowed.")
    return found


def _tool_change(scene: CellScene, target: str, named: Any, position: str, held: str) -> list[str]:
    stand = next((stand.stand for stand in scene.tools if stand.name == named), None)
    found = [] if stand == position else [f"{named} hangs at {stand or 'no known stand'}; the robot is at {position}."]
    if target == ATTACH and held != NO_TOOL:
        found.append(f"The robot must hold no tool; it holds {held}.")
    if target == RELEASE and held != named:
        found.append(f"The robot must hold {named}; it holds {_shown(held)}.")
    return found


def _routine(scene: CellScene, target: str, position: str, held: str) -> list[str]:
    routine = next((routine for routine in scene.routines if routine.name == target), None)
    if routine is None:
        return [f"The cell has no routine {target!r}."]
    found = []
    if position not in {support.position for support in routine.supported_at}:
        found.append(f"{target} is not supported at {position}.")
    if routine.tool_needed is not None and routine.tool_needed != held:
        found.append(f"{target} needs {routine.tool_needed}; the robot holds {_shown(held)}.")
    return found


def _shown(tool: str) -> str:
    return "no tool" if tool == NO_TOOL else tool
