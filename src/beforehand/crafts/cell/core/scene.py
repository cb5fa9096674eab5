"""Reading a scene of kind `cell`: from any document to a CellScene, or every problem with its path in the file.

Shape first (`cell/shape.py`), then sense: names that lead nowhere, things said twice, numbers that cannot be. Both
are reported together. What is legal but odd, such as a position no path leads to, is a warning.
"""

from typing import Any

from beforehand.crafts.cell.core.action_after import Ways, check_actions_after
from beforehand.crafts.cell.core.shape import read_moves, read_positions, read_routines, read_state, read_tools
from beforehand.crafts.cell.core.topology import Topology
from beforehand.model.cell import (
    ATTACH,
    MOVE_SAFE,
    NO_TOOL,
    RELEASE,
    CellScene,
    CellState,
    Move,
    Position,
    Routine,
    ToolStand,
)
from beforehand.model.errors import BadInputError
from beforehand.model.paper import Paper
from beforehand.model.reason import Problem
from beforehand.ports.machines import MachineKinds

KEYS = ("kind", "name", "positions", "moves", "tools", "routines", "state", "speed_mps", "controller")
CONTROLLER_KINDS = MachineKinds("controller")
"""What a scene's `controller` may name; `cell/controllers.py` adds to it."""


def read_cell(document: Any) -> CellScene:
    """The scene a document holds; BadInputError with every problem when it is not a good one."""
    paper = Paper()
    fields = paper.mapping(document, "", KEYS, "A cell scene")
    if fields is None:
        raise _bad(paper)
    if fields.get("kind", "cell") != "cell":
        paper.add("kind", f"This reads scenes of kind cell, not {paper.shown(fields['kind'])}.", nearest=("cell",))
    name = paper.name(fields.get("name"), "name", "The scene")
    positions = read_positions(paper, fields.get("positions"))
    moves = read_moves(paper, fields.get("moves"))
    tools = read_tools(paper, fields.get("tools"))
    routines = read_routines(paper, fields.get("routines"))
    state = read_state(paper, fields.get("state"))
    speed = paper.number(fields.get("speed_mps"), "speed_mps", "speed_mps", least=0)
    if speed == 0:
        paper.add("speed_mps", "speed_mps must be more than 0.")
    controller = fields.get("controller")
    paper.problems += _controller_problems(controller)
    _check_sense(paper, positions, moves, tools, routines, state)
    if paper.problems:
        raise _bad(paper)
    return CellScene(
        name=name or "",
        positions=tuple(place for _, place in positions),
        moves=tuple(move for _, move in moves),
        tools=tuple(tool for _, tool in tools),
        routines=tuple(routine for _, routine in routines),
        state=state or _home([place for _, place in positions]),
        speed_mps=speed,
        controller=controller,
    )


def warnings(scene: CellScene) -> list[Problem]:
    """What is legal and yet worth a look before planning in this cell."""
    paper = Paper()
    _warn_unreachable(paper, scene)
    for at, tool in enumerate(scene.tools):
        if tool.stand is None:
            paper.add(f"tools[{at}].stand", f"The tool {tool.name} has no stand, so it cannot be fetched.")
    _warn_routines(paper, scene)
    seen: dict[tuple[str, str], int] = {}
    for at, move in enumerate(scene.moves):
        first = seen.setdefault((min(move.source, move.target), max(move.source, move.target)), at)
        if first != at and not move.one_way and not scene.moves[first].one_way:
            paper.add(f"moves[{at}]", f"This move is the same as moves[{first}] read the other way.")
    return paper.problems


def _bad(paper: Paper) -> BadInputError:
    problems = sorted(paper.problems, key=lambda problem: ".unknown_" not in problem.code)
    says = problems[0].says if len(problems) == 1 else f"The scene has {len(problems)} problems."
    return BadInputError(says, code="scene.invalid", problems=problems)


def _controller_problems(controller: Any) -> list[Problem]:
    return [] if controller is None else CONTROLLER_KINDS.problems(controller, "controller")


def _home(positions: list[Position]) -> CellState | None:
    """Where a robot stands that nobody has placed: at the only position of role home, or the one called Home."""
    homes = [place.name for place in positions if place.role == "home"]
    if len(homes) != 1:
        homes = [place.name for place in positions if place.name == "Home"]
    return CellState(current_position=homes[0]) if homes else None


def _check_sense(
    paper: Paper,
    positions: list[tuple[str, Position]],
    moves: list[tuple[str, Move]],
    tools: list[tuple[str, ToolStand]],
    routines: list[tuple[str, Routine]],
    state: CellState | None,
) -> None:
    places = paper.unique([(f"{path}.name", place.name) for path, place in positions], "position")
    names = paper.unique([(f"{path}.name", tool.name) for path, tool in tools], "tool")
    paper.unique([(f"{path}.name", routine.name) for path, routine in routines], "routine")
    for path, tool in tools:
        if tool.name == NO_TOOL:
            paper.add(f"{path}.name", "A tool cannot be called none: that word means that no tool is held.")
        paper.known(tool.stand, f"{path}.stand", "position", places)
    _check_moves(paper, moves, places)
    for path, routine in routines:
        paper.known(routine.tool_needed, f"{path}.required_tool", "tool", names)
        supports = [
            (f"{path}.supported_at[{at}].position", one.position) for at, one in enumerate(routine.supported_at)
        ]
        paper.unique(supports, "supported position")
        for where, place in supports:
            paper.known(place, where, "position", places)
    ways = Ways([place for _, place in positions], [move for _, move in moves])
    check_actions_after(paper, routines, [tool for _, tool in tools], ways)
    if state:
        paper.known(state.current_position, "state.current_position", "position", places)
        if state.current_tool != NO_TOOL:
            paper.known(state.current_tool, "state.current_tool", "tool", names)


def _check_moves(paper: Paper, moves: list[tuple[str, Move]], places: dict[str, str]) -> None:
    seen: dict[tuple[str, str], tuple[str, Move]] = {}
    for path, move in moves:
        paper.known(move.source, f"{path}.from", "position", places)
        paper.known(move.target, f"{path}.to", "position", places)
        if move.source == move.target:
            paper.add(path, f"A move leads from {move.source} to itself.")
            continue
        other = seen.get((move.target, move.source))
        if other and other[1].cost != move.cost and not (other[1].one_way or move.one_way):
            paper.add(path, f"This move and {other[0]} give the same two positions different costs.")
        first = seen.setdefault((move.source, move.target), (path, move))
        if first[0] != path:
            paper.add(path, f"The move from {move.source} to {move.target} is already given by {first[0]}.")


def _warn_unreachable(paper: Paper, scene: CellScene) -> None:
    if scene.state is None:
        paper.add("state", "The scene does not say where the robot stands; say it when planning.")
        return
    within = Topology(scene).reachable(scene.state.current_position)
    for at, place in enumerate(scene.positions):
        if place.name not in within:
            start = scene.state.current_position
            paper.add(f"positions[{at}]", f"No path of allowed moves leads from {start} to {place.name}.")


def _warn_routines(paper: Paper, scene: CellScene) -> None:
    spoken: dict[str, str] = {}
    for at, routine in enumerate(scene.routines):
        if not routine.supported_at:
            paper.add(f"routines[{at}].supported_at", f"The routine {routine.name} is not supported at any position.")
        if routine.name in (ATTACH, RELEASE) and routine.tool_needed:
            paper.add(f"routines[{at}].required_tool", f"{routine.name} works the tools, so its own tool is ignored.")
        for word in routine.words:
            first = spoken.setdefault(word.lower(), routine.name)
            if first != routine.name:
                paper.add(f"routines[{at}].words", f"The word {word} also means {first}; neither will be understood.")
        _warn_move_safe(paper, scene, at, routine)


def _warn_move_safe(paper: Paper, scene: CellScene, at: int, routine: Routine) -> None:
    safe = {place.name for place in scene.positions if place.role == "safe"}
    asking = [one.position for one in routine.supported_at if one.action_after == MOVE_SAFE]
    if not asking:
        return
    near = {name for move in scene.moves if move.target in safe for name in [move.source]}
    near |= {move.target for move in scene.moves if move.source in safe and not move.one_way}
    for index, support in enumerate(routine.supported_at):
        if support.action_after == MOVE_SAFE and support.position not in near:
            where = f"routines[{at}].supported_at[{index}].action_after"
            paper.add(where, f"move_safe at {support.position} has no neighbouring position of role safe to go to.")
