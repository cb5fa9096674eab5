"""The controller of a robot cell: it is told one atomic step at a time and says where the robot is and what it holds.

A controller goes on by itself once told; the house may die meanwhile. So every command carries a key, and afterwards
the controller can be asked what became of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from beforehand.ports.tool import ProbeAnswer


@dataclass(frozen=True, slots=True)
class CellCommand:
    key: str
    action: Literal["move", "routine"]
    target: str
    position: str | None = None
    tool: str | None = None
    stabilize: float | None = None
    verify: str | None = None
    action_after: str | None = None
    seconds: float = 0.0
    """How long it is expected to take; a simulated controller takes that long."""


@dataclass(frozen=True, slots=True)
class CellReport:
    """Where the robot stands (None: between positions, nobody knows) and what it holds."""

    position: str | None
    tool: str
    says: str = ""


class CellController(Protocol):
    async def do(self, command: CellCommand, progress: Callable[[float], None]) -> CellReport:
        """Carry a command out to its end; a Fault says what went wrong, `untouched` when nothing moved."""

    async def report(self) -> CellReport: ...

    async def did(self, key: str) -> ProbeAnswer:
        """What became of the command with this key; its value is the report after it."""

    async def place(self, position: str, tool: str) -> None:
        """A person says where the robot stands and what it holds."""
