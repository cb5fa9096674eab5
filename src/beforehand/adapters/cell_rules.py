"""What a cell allows, judged from its scene and the robot's state just before a command.

The simulated controller refuses by it, and so does whatever speaks for a real one: nothing is sent that can be seen to
be wrong. A refusal is a Fault with nothing touched.
"""

from beforehand.model.cell import ATTACH, NO_TOOL, RELEASE, CellScene
from beforehand.model.errors import Fault
from beforehand.model.reason import name_list
from beforehand.ports.cell import OTHER_STATE, CellCommand


class CellRules:
    def __init__(self, scene: CellScene) -> None:
        self._scene = scene
        self._exits = _exits(scene)

    @property
    def positions(self) -> "frozenset[str]":
        return frozenset(self._exits)

    def refuse(self, command: CellCommand, position: str | None, tool: str) -> None:
        """Fault where the robot, standing there with that tool, cannot do this."""
        if position is None:
            raise _untouched("The robot is busy, or its position is not known; set its position first.", "cell.busy")
        _refuse_other_state(command, position, tool)
        if command.action == "move":
            self._refuse_move(command, position)
        elif position != command.position:
            raise _untouched(
                f"{command.target} needs the robot at {command.position}; it is at {position}.", "cell.place"
            )
        elif command.target in (ATTACH, RELEASE):
            self._refuse_tool_change(command, tool)
        else:
            self._refuse_routine(command, tool)

    def _refuse_move(self, command: CellCommand, position: str) -> None:
        exits = self._exits.get(position, set())
        if command.target not in exits:
            there = name_list(sorted(exits))
            raise _untouched(f"No move leads from {position} to {command.target}; from there: {there}.", "cell.no_edge")

    def _refuse_tool_change(self, command: CellCommand, held: str) -> None:
        stand = next((tool.stand for tool in self._scene.tools if tool.name == command.tool), None)
        if stand != command.position:
            raise _untouched(f"{command.tool} hangs at {stand}, not at {command.position}.", "cell.stand")
        if command.target == ATTACH and held != NO_TOOL:
            raise _untouched(f"The robot already holds {held}.", "cell.tool_held")
        if command.target == RELEASE and held != command.tool:
            raise _untouched(f"The robot holds {held}, not {command.tool}.", "cell.tool_held")

    def _refuse_routine(self, command: CellCommand, held: str) -> None:
        routine = next((routine for routine in self._scene.routines if routine.name == command.target), None)
        if routine is None:
            raise _untouched(f"There is no routine {command.target} here.", "cell.routine")
        if command.position not in {support.position for support in routine.supported_at}:
            raise _untouched(f"{command.target} is not supported at {command.position}.", "cell.support")
        if routine.tool_needed not in (None, held):
            raise _untouched(f"{command.target} needs {routine.tool_needed}; the robot holds {held}.", "cell.tool")


def _refuse_other_state(command: CellCommand, position: str, tool: str) -> None:
    """The state is another one than the command was checked for, whatever the cell would allow from here."""
    if command.needs_position not in (None, position):
        says = f"{command.target} was checked with the robot at {command.needs_position}; it is at {position}."
        raise _untouched(says, OTHER_STATE)
    if command.needs_tool not in (None, tool):
        says = f"{command.target} was checked with {_shown(command.needs_tool)}; the robot holds {_shown(tool)}."
        raise _untouched(says, OTHER_STATE)


def _shown(tool: str | None) -> str:
    return "no tool" if tool in (None, NO_TOOL) else str(tool)


def _exits(scene: CellScene) -> dict[str, set[str]]:
    exits: dict[str, set[str]] = {place.name: set() for place in scene.positions}
    for move in scene.moves:
        exits[move.source].add(move.target)
        if not move.one_way:
            exits[move.target].add(move.source)
    return exits


def _untouched(says: str, code: str) -> Fault:
    return Fault(says, code=code, untouched=True)
