"""The controller of a robot cell: it is told one atomic step at a time and says where the robot is and what it holds.

A controller goes on by itself once told; the process that told it may die meanwhile. So every command carries a key,
and afterwards the controller can be asked what became of it. It does one command at a time.

A scene says which kind of controller its cell has; a factory per kind makes it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from beforehand.model.cell import CellScene
from beforehand.ports.clock import Clock
from beforehand.ports.private_files import KeptFile
from beforehand.ports.tool import ProbeAnswer

OTHER_STATE = "cell.other_state"
"""Why a command is refused that was made for another position or tool than the robot has: nothing was begun."""


@dataclass(frozen=True, slots=True)
class CellCommand:
    key: str
    """Names this very command, for good: the same key is never used for another."""
    action: Literal["move", "routine"]
    target: str
    """Of a move the neighbouring position, of a routine its name."""
    position: str | None = None
    """Where the robot must stand for a routine."""
    tool: str | None = None
    """What `tool_attach` and `tool_release` take on or put down."""
    stabilize: float | None = None
    verify: str | None = None
    seconds: float = 0.0
    """How long it is expected to take; a simulated controller takes that long."""
    needs_position: str | None = None
    """Where the robot stood when the command was checked: a controller that finds it elsewhere refuses by itself."""
    needs_tool: str | None = None
    """What it held then (`none`: no tool), for the same purpose."""


@dataclass(frozen=True, slots=True)
class CellReport:
    """Where the robot stands (None: between positions, nobody knows) and what it holds (`none`: no tool)."""

    position: str | None
    tool: str
    says: str = ""
    own: bool = field(default=True, compare=False)
    """Of a command's end: whether its own answer says this. Else it names no place, and this is how things are now."""


class CellController(Protocol):
    async def do(self, command: CellCommand, progress: Callable[[float], None]) -> CellReport:
        """Carry a command out to its end and report how things are then.

        `progress` is told percentages that never fall; the last one is 100. A key that is finished is not done again:
        the present report is its answer. While a command is under way every other `do` is refused, also one with the
        same key; `did` tells how that stands. A caller that stops waiting does not stop the robot.

        Raises Fault. `untouched` is true exactly where nothing was begun: a command that the cell does not allow, that
        comes while another is under way, that needs another state (code OTHER_STATE), or that failed before anything
        moved. Then nothing has changed. InDoubtError says that nobody knows how far it came, or that what the machine
        says contradicts itself; any other Fault that the machine itself says that it failed.
        """

    async def stop(self, key: str) -> None:
        """Bring what is under way with this key to rest as soon as the machine can; `do` then ends with what became
        of it. A key that is not under way is left alone."""

    async def report(self) -> CellReport:
        """How things are now: no position while the robot moves or is lost, the position it stands at otherwise."""

    async def did(self, key: str) -> ProbeAnswer:
        """What became of the command with this key, also after a restart of whoever asks.

        `happened`: it was carried out; the value is `{"current_position", "current_tool"}` right after it.
        `running`: the controller is still at it, or cannot be asked just now: ask again. `unknown`: it was begun and
        nobody knows how far it came. `not_begun`: it is neither under way nor carried out. A command whose Fault was
        reported is over: of that one the controller may have forgotten everything.
        """

    async def place(self, position: str, tool: str) -> None:
        """A person says where the robot stands and what it holds. It is true from now on, and nothing is under way."""

    async def close(self) -> None:
        """Let go of the controller. What is under way goes on."""


@runtime_checkable
class HoldingController(Protocol):
    """What a controller has beside the rest when it can stand still in the middle of a command and go on later.

    Held, the command is still under way: `do` ends when it has gone on to its end. Both may be said twice, and neither
    does anything where the machine turns out to have no such thing.
    """

    @property
    def can_hold(self) -> bool:
        """Whether the machine can, as far as is known by now."""

    async def hold(self) -> None:
        """Stand still at once, and begin nothing."""

    async def go_on(self) -> None:
        """Go on with what was under way."""


@runtime_checkable
class WatchedController(Protocol):
    """A controller that notices changes by itself, such as by a subscription; any other is asked now and then."""

    async def change(self, seconds: float) -> None:
        """Return when the cell may be in another state than it was, or after so many seconds."""


@dataclass(frozen=True, slots=True)
class ControllerRequest:
    """What a factory is given to make one controller from."""

    scene: CellScene
    """Its `controller` names this kind; `options_of(scene.controller)` is what it says beside it."""
    clock: Clock
    speed: float = 1.0
    """How fast simulated time passes; a real cell does not care."""
    file: Path | None = None
    """A file of its own in the home, for simulators; None where nothing is kept."""
    with_secrets: Callable[[Any], Any] = lambda value: value
    """Fills in what the scene gives by reference (`secret:NAME`), when it is needed."""
    kept: KeptFile | None = None
    """A file of its own that every server finds that takes over; None where nothing is kept."""
    before_send: Callable[[], None] = lambda: None
    """Called right before the cell is told to begin something: a Fault where another server leads by now."""


class ControllerFactory(Protocol):
    """Makes a controller. It connects nothing yet: a controller connects when it is first used."""

    def __call__(self, request: ControllerRequest) -> CellController: ...
