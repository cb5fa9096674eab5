"""A scene as the rows of a graph, and back.

The database keeps no order of its own, so each row carries its `rank` in the scene's document; rows without one, made
by others, follow in name order. Values keep their kind: a whole number stays whole, an absent one is left out, and one
of the wrong kind is a problem that names the node.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import ValidationError

from beforehand.model.base import SnakeWireModel
from beforehand.model.cell import CellScene, CellState, Move, Position, Routine, Support, ToolStand
from beforehand.model.errors import BadInputError
from beforehand.model.machine import Machine
from beforehand.model.reason import Problem

Row = dict[str, Any]
Tables = dict[str, list[list[Any]]]
"""Values as a database gives them, by kind of thing."""
WordT = TypeVar("WordT", bound=SnakeWireModel)


@dataclass(frozen=True, slots=True)
class Rows:
    """`about` is the Scene node; the others are lists of nodes and of relations, both ends by name."""

    about: Row
    positions: list[Row] = field(default_factory=list)
    moves: list[Row] = field(default_factory=list)
    tools: list[Row] = field(default_factory=list)
    routines: list[Row] = field(default_factory=list)
    supports: list[Row] = field(default_factory=list)


def digest(tables: Tables) -> str:
    """A text that changes when any value does; the order in which a server gave the rows does not matter."""
    parts = [(table, sorted(map(repr, rows))) for table, rows in sorted(tables.items())]
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def rows_of(scene: CellScene) -> Rows:
    """What is written for a scene."""
    state = scene.state.wire() if scene.state else {}
    about = {"name": scene.name, "kind": scene.kind, **state, "speed_mps": scene.speed_mps}
    return Rows(
        about=_present({**about, "controller": _controller_text(scene.controller)}),
        positions=_ranked(place.wire() for place in scene.positions),
        moves=_ranked(
            {"source": move.source, "target": move.target, "cost": move.cost, "one_way": move.one_way}
            for move in scene.moves
        ),
        tools=_ranked(tool.wire() for tool in scene.tools),
        routines=_ranked(
            {
                "name": routine.name,
                "required_tool": routine.required_tool,
                "words": list(routine.words),
                "duration_s": routine.duration_s,
            }
            for routine in scene.routines
        ),
        supports=[
            {"routine": routine.name, **row}
            for routine in scene.routines
            for row in _ranked(support.wire() for support in routine.supported_at)
        ],
    )


def _ranked(rows: Iterable[Row]) -> list[Row]:
    return [{**_present(row), "rank": rank} for rank, row in enumerate(rows)]


def _present(row: Mapping[str, Any]) -> Row:
    return {key: value for key, value in row.items() if value is not None}


def scene_of(name: str, rows: Rows) -> CellScene:
    """The scene the rows make up; BadInputError with every value of the wrong kind."""
    reading = _Reading()
    supports: dict[Any, list[Support]] = {}
    for row in _in_order(rows.supports, "routine", "position"):
        routine = row.pop("routine", None)
        word = reading.take(Support, row, f"the support of {routine} at {row.get('position')}")
        supports.setdefault(routine, []).extend([word] if word else [])
    routines = []
    for row in _in_order(rows.routines, "name"):
        if isinstance(row.get("words"), list):
            row["words"] = tuple(row["words"])
        row["supported_at"] = tuple(supports.get(row.get("name"), ()))
        routines.append(reading.take(Routine, row, f"the routine {row.get('name', 'without a name')}"))
    scene = CellScene(
        name=name,
        positions=reading.all(Position, _in_order(rows.positions, "name"), "the position {name}"),
        moves=_once(reading.all(Move, _in_order(rows.moves, "source", "target"), "the move from {source} to {target}")),
        tools=reading.all(ToolStand, _in_order(rows.tools, "name"), "the tool {name}"),
        routines=tuple(routine for routine in routines if routine),
        **_about(reading, rows.about),
    )
    if reading.problems:
        says = reading.problems[0].says if len(reading.problems) == 1 else f"The graph's scene {name} is not usable."
        raise BadInputError(says, code="graph.invalid", problems=reading.problems)
    return scene


def _about(reading: "_Reading", row: Row) -> dict[str, Any]:
    state = _present({key: row.get(key) for key in ("current_position", "current_tool")})
    found = reading.take(CellState, state, "the state") if "current_position" in state else None
    speed = row.get("speed_mps")
    if isinstance(speed, bool) or not isinstance(speed, int | float | None):
        reading.add("the scene", "speed_mps", speed)
        speed = None
    return {"state": found, "speed_mps": speed, "controller": _controller_in(reading, row.get("controller"))}


def _controller_text(controller: Machine | None) -> str | None:
    """A property is one value, so a controller with options is kept as JSON text."""
    return json.dumps(dict(controller), ensure_ascii=False) if isinstance(controller, Mapping) else controller


def _controller_in(reading: "_Reading", value: Any) -> Any:
    try:
        if value is None or isinstance(value, str):
            return json.loads(value) if value and value.startswith("{") else value
    except ValueError:
        pass
    reading.add("the scene", "controller", value)
    return None


def _once(moves: Iterable[Move]) -> tuple[Move, ...]:
    """The same relation drawn twice allows nothing more than drawn once."""
    return tuple(dict.fromkeys(moves))


def _in_order(rows: Iterable[Row], *names: str) -> list[Row]:
    def place(row: Row) -> tuple[Any, ...]:
        rank = row.get("rank")
        known = isinstance(rank, int) and not isinstance(rank, bool)
        return (not known, rank if known else 0, *(str(row.get(name)) for name in names), repr(row))

    return [_present({k: v for k, v in row.items() if k != "rank"}) for row in sorted(rows, key=place)]


class _Reading:
    """Rows become words; what cannot is remembered as a problem."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def all(self, kind: type[WordT], rows: Iterable[Row], called: str) -> tuple[WordT, ...]:
        words = [self.take(kind, row, called.format_map(_Named(row))) for row in rows]
        return tuple(word for word in words if word is not None)

    def take(self, kind: type[WordT], row: Row, called: str) -> WordT | None:
        try:
            return kind.model_validate(row, strict=True)
        except ValidationError as error:
            for field_name in dict.fromkeys(str(fault["loc"][0]) for fault in error.errors()):
                self.add(called, field_name, row.get(field_name))
            return None

    def add(self, called: str, field_name: str, value: Any) -> None:
        what = f"no {field_name}" if value is None else f"a {field_name} of the wrong kind, {str(value)[:60]!r}"
        says = f"In the graph {called} has {what}."
        problem = Problem(
            code="graph.bad_value",
            about=called.removeprefix("the "),
            says=says,
            path=field_name,
            try_next="Correct it in the graph database.",
            fixable_by="graph",
        )
        self.problems.append(problem)


class _Named(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "without a name"
