"""The words of a robot cell: its map, its tools and routines, where the robot stands, what is wanted, what it will do.

A scene says which moves are allowed and nothing else may happen. The words stand for themselves: a YAML file and a
graph database both fill them. Wire names are snake_case, as the sequence spec writes them.
"""

from typing import Any, Literal

from pydantic import Field, model_serializer

from beforehand.model.base import SnakeWireModel
from beforehand.model.machine import Machine

NO_TOOL = "none"
"""How a state, and a routine that needs none, write "no tool"."""

ATTACH = "tool_attach"
RELEASE = "tool_release"
MOVE_SAFE = "move_safe"

Role = Literal["home", "safe", "work", "stand"]
GoalAction = Literal["move", "routine", "attach_tool", "release_tool"]
Number = int | float


class Position(SnakeWireModel):
    name: str
    x: Number | None = None
    y: Number | None = None
    role: Role | None = None


class Move(SnakeWireModel):
    """An allowed move (ONLY_ALLOWED_MOVE_TO), both ways unless `one_way`."""

    source: str = Field(validation_alias="from")
    target: str = Field(validation_alias="to")
    one_way: bool = False
    cost: Number = 1

    @model_serializer
    def _as_written(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"from": self.source, "to": self.target}
        if self.one_way:
            shown["one_way"] = True
        if self.cost != 1:
            shown["cost"] = self.cost
        return shown


class ToolStand(SnakeWireModel):
    """A tool and the position where it hangs; a tool whose stand nobody knows cannot be fetched."""

    name: str
    stand: str | None = None


class Support(SnakeWireModel):
    """A position where a routine may run, and how it runs there (SUPPORTED_AT and its metadata)."""

    position: str
    stabilize: Number | None = None
    verify: str | None = None
    action_after: str | None = None


class Routine(SnakeWireModel):
    name: str
    required_tool: str | None = None
    words: tuple[str, ...] = ()
    duration_s: Number | None = None
    supported_at: tuple[Support, ...] = ()

    @property
    def tool_needed(self) -> str | None:
        """The tool it cannot run without; None when any tool, or none, may stay on."""
        return None if self.required_tool in (None, "", NO_TOOL) else self.required_tool


class CellState(SnakeWireModel):
    current_position: str
    current_tool: str = NO_TOOL


class CellScene(SnakeWireModel):
    kind: Literal["cell"] = "cell"
    name: str
    positions: tuple[Position, ...] = ()
    moves: tuple[Move, ...] = ()
    tools: tuple[ToolStand, ...] = ()
    routines: tuple[Routine, ...] = ()
    state: CellState | None = None
    speed_mps: Number | None = None
    """Metres a second between positions that have coordinates; 0.5 unless the scene says otherwise."""
    controller: Machine | None = None
    """What moves the robot: a kind, or a mapping with the kind and what it needs; a simulator when absent."""


class Goal(SnakeWireModel):
    """One high-level step of an intent. `after` holds the numbers (from 1) of goals that must come before it."""

    action: GoalAction
    routine: str | None = None
    position: str | None = None
    tool: str | None = None
    after: tuple[int, ...] = ()

    @model_serializer
    def _as_written(self) -> dict[str, Any]:
        pairs = (
            ("action", self.action),
            ("routine", self.routine),
            ("position", self.position),
            ("tool", self.tool),
            ("after", list(self.after) or None),
        )
        return {key: value for key, value in pairs if value is not None}


class Intent(SnakeWireModel):
    goal: str = "sequence"
    steps: tuple[Goal, ...] = ()


class AtomicStep(SnakeWireModel):
    """One move along one allowed edge, or one routine at one position; its wire form is the spec's Output section."""

    id: int
    name: str
    action: Literal["move", "routine"]
    target: str
    position: str | None = None
    tool: str | None = None
    stabilize: Number | None = None
    action_after: str | None = None
    verify: str | None = None
