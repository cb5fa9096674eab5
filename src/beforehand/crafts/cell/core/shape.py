"""The shape of a cell document, read by hand so that one pass finds everything and every problem has its path.

Readers return what could be read as pairs of path and word, and leave a problem on the paper for what could not.
"""

from typing import Any

from beforehand.model.cell import NO_TOOL, CellState, Move, Position, Role, Routine, Support, ToolStand
from beforehand.model.paper import Paper
from beforehand.model.reason import unknown
from beforehand.model.words import counted

ROLES: tuple[Role, ...] = ("home", "safe", "stand", "work")


def read_positions(paper: Paper, value: Any) -> list[tuple[str, Position]]:
    found = []
    for path, item in paper.entries(value, "positions", needed=True):
        fields = {"name": item} if not isinstance(item, dict) else None
        fields = fields or paper.mapping(item, path, ("name", "x", "y", "role"), "A position")
        if fields is None:
            continue
        name = paper.name(fields.get("name"), f"{path}.name", "A position")
        x = paper.number(fields.get("x"), f"{path}.x", "x")
        y = paper.number(fields.get("y"), f"{path}.y", "y")
        if (fields.get("x") is None) != (fields.get("y") is None):
            paper.add(path, "A position has both x and y, or neither.")
        role = _read_role(paper, fields.get("role"), f"{path}.role")
        if name is not None:
            found.append((path, Position(name=name, x=x, y=y, role=role)))
    if isinstance(value, list | tuple) and not value:
        paper.add("positions", "A cell needs at least one position.")
    return found


def _read_role(paper: Paper, value: Any, path: str) -> Role | None:
    for role in ROLES:
        if value == role:
            return role
    if value is not None:
        paper.add(path, unknown("role", value, ROLES).says, nearest=ROLES)
    return None


def read_moves(paper: Paper, value: Any) -> list[tuple[str, Move]]:
    found = []
    for path, item in paper.entries(value, "moves"):
        if isinstance(item, list | tuple):
            if len(item) != 2:
                paper.add(
                    path, f"A move is two positions, [from, to]; this one has {counted(len(item), 'entry', 'entries')}."
                )
                continue
            fields: dict[str, Any] | None = {"from": item[0], "to": item[1]}
        else:
            fields = paper.mapping(item, path, ("from", "to", "one_way", "cost"), "A move")
        move = _read_move(paper, fields, path) if fields is not None else None
        if move:
            found.append((path, move))
    return found


def _read_move(paper: Paper, fields: dict[str, Any], path: str) -> Move | None:
    source = paper.name(fields.get("from"), f"{path}.from", "The start of a move")
    target = paper.name(fields.get("to"), f"{path}.to", "The end of a move")
    one_way = fields.get("one_way")
    if one_way is not None and not isinstance(one_way, bool):
        paper.add(f"{path}.one_way", f"one_way is true or false, not {paper.shown(one_way)}.")
    cost = paper.number(fields.get("cost"), f"{path}.cost", "The cost of a move", least=0)
    if source is None or target is None:
        return None
    return Move(source=source, target=target, one_way=one_way is True, cost=1 if cost is None else cost)


def read_tools(paper: Paper, value: Any) -> list[tuple[str, ToolStand]]:
    found = []
    for path, item in paper.entries(value, "tools"):
        fields = paper.mapping(item, path, ("name", "stand"), "A tool")
        if fields is None:
            continue
        name = paper.name(fields.get("name"), f"{path}.name", "A tool")
        stand = paper.optional_name(fields.get("stand"), f"{path}.stand", "A stand")
        if name is not None:
            found.append((path, ToolStand(name=name, stand=stand)))
    return found


def read_routines(paper: Paper, value: Any) -> list[tuple[str, Routine]]:
    keys = ("name", "required_tool", "words", "duration_s", "supported_at")
    found = []
    for path, item in paper.entries(value, "routines"):
        fields = paper.mapping(item, path, keys, "A routine")
        if fields is None:
            continue
        name = paper.name(fields.get("name"), f"{path}.name", "A routine")
        tool = paper.optional_name(fields.get("required_tool"), f"{path}.required_tool", "A required tool")
        duration = paper.number(fields.get("duration_s"), f"{path}.duration_s", "duration_s", least=0)
        words = _read_words(paper, fields.get("words"), f"{path}.words")
        supports = _read_supports(paper, fields.get("supported_at"), f"{path}.supported_at")
        if name is not None:
            routine = Routine(name=name, required_tool=tool, words=words, duration_s=duration, supported_at=supports)
            found.append((path, routine))
    return found


def _read_words(paper: Paper, value: Any, path: str) -> tuple[str, ...]:
    read = [paper.name(item, where, "A word") for where, item in paper.entries(value, path)]
    return tuple(word for word in read if word is not None)


def _read_supports(paper: Paper, value: Any, path: str) -> tuple[Support, ...]:
    keys = ("position", "stabilize", "verify", "action_after")
    found = []
    for where, item in paper.entries(value, path):
        fields = {"position": item} if isinstance(item, str) else paper.mapping(item, where, keys, "A support")
        if fields is None:
            continue
        position = paper.name(fields.get("position"), f"{where}.position", "A supported position")
        support = Support(
            position=position or "",
            stabilize=paper.number(fields.get("stabilize"), f"{where}.stabilize", "stabilize", least=0),
            verify=paper.optional_name(fields.get("verify"), f"{where}.verify", "A verify routine"),
            action_after=paper.optional_name(fields.get("action_after"), f"{where}.action_after", "An action_after"),
        )
        if position is not None:
            found.append(support)
    return tuple(found)


def read_state(paper: Paper, value: Any) -> CellState | None:
    if value is None:
        return None
    fields = paper.mapping(value, "state", ("current_position", "current_tool"), "The state")
    if fields is None:
        return None
    position = paper.name(fields.get("current_position"), "state.current_position", "The robot's position")
    tool = paper.optional_name(fields.get("current_tool"), "state.current_tool", "The tool held") or NO_TOOL
    return None if position is None else CellState(current_position=position, current_tool=tool)
