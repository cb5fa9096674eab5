"""The shape of a cell document, read by hand so that one pass finds everything and every problem has its path.

Readers return what could be read as pairs of path and word, and leave a problem on the paper for what could not.
Values are shown shortened, and nothing here recurses, so a hostile document costs no more than a plain one.
"""

import math
from collections.abc import Iterable
from typing import Any

from beforehand.model.cell import NO_TOOL, CellState, Move, Number, Position, Role, Routine, Support, ToolStand
from beforehand.model.reason import Problem, unknown
from beforehand.model.words import counted

ROLES: tuple[Role, ...] = ("home", "safe", "stand", "work")
MOST_PROBLEMS = 500


class Paper:
    """Problems as they are found, and the small questions every reader asks."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, path: str, says: str, *, code: str = "scene.invalid", nearest: tuple[str, ...] = ()) -> None:
        if len(self.problems) == MOST_PROBLEMS:
            code, path, says, nearest = "scene.more", "", f"There are more than {MOST_PROBLEMS} problems.", ()
        if len(self.problems) <= MOST_PROBLEMS:
            self.problems.append(Problem(code=code, about=path, says=says, path=path, nearest=nearest))

    def shown(self, value: Any) -> str:
        """A value as a sentence can hold it: short, and never a whole tree."""
        if isinstance(value, str):
            return f"'{value[:60]}'"
        if value is None or isinstance(value, bool):
            return "null" if value is None else str(value).lower()
        if isinstance(value, float) or (isinstance(value, int) and abs(value) < 10**30):
            return str(value)
        return {dict: "a mapping", list: "a list", int: "a very large number"}.get(type(value), "something else")

    def mapping(self, value: Any, path: str, keys: Iterable[str], what: str) -> dict[str, Any] | None:
        """The value as a mapping with known keys, camelCase spellings read as snake_case."""
        if not isinstance(value, dict):
            self.add(path, f"{what} must be a mapping, not {self.shown(value)}.")
            return None
        allowed = tuple(keys)
        spelled = {_camel(key): key for key in allowed}
        found: dict[str, Any] = {}
        for key, inner in value.items():
            name = spelled.get(key, key) if isinstance(key, str) else key
            where = f"{path}.{str(key)[:60]}" if path else str(key)[:60]
            if name not in allowed:
                told = unknown("key", key, allowed, inside=f"{what[0].lower()}{what[1:]}")
                self.add(where, told.says, code="scene.unknown_key", nearest=told.nearest)
            elif name in found:
                self.add(where, f"{what} gives {name} twice, in two spellings.", code="scene.duplicate")
            else:
                found[name] = inner
        return found

    def entries(self, value: Any, path: str, *, needed: bool = False) -> list[tuple[str, Any]]:
        """The items of a list with their paths; nothing for a missing one unless it is needed."""
        if value is None and not needed:
            return []
        if not isinstance(value, list | tuple):
            shown = "missing" if value is None else self.shown(value)
            self.add(path, f"{path} must be a list, and is {shown}.")
            return []
        return [(f"{path}[{at}]", item) for at, item in enumerate(value)]

    def name(self, value: Any, path: str, what: str) -> str | None:
        if isinstance(value, str) and value.strip() == value and value and value.isprintable() and len(value) <= 200:
            return value
        if value is None:
            self.add(path, f"{what} needs a name.")
        elif isinstance(value, bool | int | float):
            self.add(path, f"{what} has the name {self.shown(value)}; names are text, so put it in quotes.")
        else:
            rule = "a name is 1 to 200 printable characters without outer spaces"
            self.add(path, f"{what} has the name {self.shown(value)}; {rule}.")
        return None

    def optional_name(self, value: Any, path: str, what: str) -> str | None:
        return None if value is None or value == "" else self.name(value, path, what)

    def number(self, value: Any, path: str, what: str, *, least: float | None = None) -> Number | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.add(path, f"{what} must be a number, not {self.shown(value)}.")
            return None
        if (isinstance(value, int) and abs(value) > 10**18) or not math.isfinite(value):
            self.add(path, f"{what} must be an ordinary number, not {self.shown(value)}.", code="scene.bad_number")
            return None
        if least is not None and value < least:
            self.add(path, f"{what} must be {least:g} or more, not {value}.", code="scene.bad_number")
            return None
        return value

    def unique(self, names: list[tuple[str, str]], what: str) -> dict[str, str]:
        """Every name with its first path; a second one is a problem."""
        seen: dict[str, str] = {}
        for path, name in names:
            if name in seen:
                self.add(path, f"The {what} {name} is already given at {seen[name]}.", code="scene.duplicate")
            seen.setdefault(name, path)
        return seen

    def known(self, name: str | None, path: str, what: str, names: dict[str, str]) -> None:
        if name is None or name in names:
            return
        told = unknown(what, name, names)
        self.add(path, told.says, code=f"scene.unknown_{what}", nearest=told.nearest)


def _camel(key: str) -> str:
    head, *rest = key.split("_")
    return head + "".join(part.title() for part in rest)


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
