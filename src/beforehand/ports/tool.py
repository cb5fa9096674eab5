"""Tools: what a step calls.

A tool declares its arguments as JSON schema and what a crash means for it: *pure* (run again freely), *idempotent*
(run again under the same key) or *physical* (never run again unasked; `probe` asks the machine, else a person is).
A tool may also judge whether one call is destructive and preview what a call would do.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from beforehand.model.quick import quick

Effect = Literal["pure", "idempotent", "physical"]
Destructive = Literal["never", "always", "judged"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    name: str
    description: str
    input_schema: Mapping[str, Any]
    effect: Effect
    destructive: Destructive = "never"
    """`judged` asks the tool's `judge` about each call, once, before it first starts."""
    writes: tuple[str, ...] = ()
    """The arguments that name a file it changes: two steps that may run side by side must not name the same one."""
    asks_person: bool = False
    """The step is a question: a person's answer is its value, and `run` is never called."""
    output: str = ""
    """What its value is, a sentence."""
    output_schema: Mapping[str, Any] | None = None
    estimate_s: float = 0.1
    pace: float = 1.0
    """How many of the machine's seconds pass in one; more than one where a simulated machine is sped up."""
    can_probe: bool = False
    machine: str | None = None
    """The machine a call works on, with its arguments in braces, such as `press:{press}`: held by one run at a time."""
    scene_kind: str | None = None
    """The kind of scene it works in; its argument `scene` then says in which one."""
    source: str = "built-in"

    @property
    def moves(self) -> bool:
        """Whether a call does something to a machine, or in a scene: a robot that is sent to park moves, too."""
        return self.effect == "physical" or (self.effect != "pure" and bool(self.machine or self.scene_kind))


@dataclass(frozen=True, slots=True)
class Judgement:
    destructive: bool
    says: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """What a person sees when asked: a diff, a path, a size."""
    state: str | None = None
    """A hash of what was looked at, such as a file's content; when that has changed, the call is asked about anew."""
    refused: str = ""
    """Why the call cannot work at all; the step then fails without anybody being asked."""


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """`running`: still at it, ask again; `failed`: it ended and did not work out; `unknown`: a person must say."""

    state: Literal["happened", "not_begun", "running", "failed", "unknown"]
    value: Any = None
    says: str = ""
    difference: Mapping[str, Any] | None = None
    """Of `unknown`: what the call was to leave and what is seen, where these contradict each other."""
    from_log: bool = False
    """The log itself says so and no machine: it is believed also where the log was restored since."""


class Unknown:
    """The value of a step that a preview cannot know; `says` tells why."""

    def __init__(self, says: str) -> None:
        self.says = says

    def __repr__(self) -> str:
        return f"‹{self.says}›"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a call would do: a sentence, how long it takes, the value it would give and, for files, the unified diff."""

    says: str
    seconds: float
    value: Any = None
    diff: str | None = None
    problems: tuple[str, ...] = ()


class Workspace(Protocol):
    """The folder that file tools stay inside, links included. Paths are relative to it; leaving it is a Fault.

    `over` is what a change may be made over (`file_state`), looked at in the very moment of the change: anything else
    lying there is a ChangedSinceError, and stays.
    """

    def describe(self) -> str: ...
    async def exists(self, path: str) -> bool: ...
    async def read(self, path: str) -> bytes: ...
    async def write(self, path: str, content: bytes, *, over: str | None = None) -> None: ...
    async def delete(self, path: str, *, over: str | None = None) -> None: ...
    async def entries(self, path: str) -> list[str]: ...


def file_state(content: bytes | None) -> str:
    """What lies at a path in one word: a hash of its content, or that nothing does."""
    return "absent" if content is None else hashlib.sha256(content).hexdigest()


def _no_progress(percent: float) -> None: ...


def _nothing() -> None: ...


def _no_log(line: str) -> None: ...


@quick
@dataclass(frozen=True, slots=True)
class ToolContext:
    """What one call is given besides its arguments."""

    key: str
    """Stable for run, step and attempt; the machine's idempotency key."""
    workspace: Workspace
    correlation_id: str = ""
    seen: str | None = None
    """The state that was judged, and approved where somebody was asked; None where the call is not held to it."""
    expects: Mapping[str, Any] = field(default_factory=dict)
    """The state of the world before this step, as the plan was verified; the guard compares with it."""
    progress: Callable[[float], None] = _no_progress
    """Report 0-100; shown live, not logged."""
    log: Callable[[str], None] = _no_log
    """A line for whoever follows the step; kept with its result."""
    before_effect: Callable[[], None] = _nothing
    """Call it right before a machine is told anything: a Fault, nothing being touched, where another server leads by
    now. It was looked at before `run`; this is for tools that do something else first."""


STOPPED = "stopped"
"""The message of the CancelledError where the step was given up, and not only the process that waits for it ends."""


class Tool(ABC):
    """One tool. Faults are raised as `model.errors.Fault`; being stopped arrives as `asyncio.CancelledError`."""

    spec: ToolSpec

    @abstractmethod
    async def run(self, args: Mapping[str, Any], context: ToolContext) -> Any:
        """Do it and return a JSON value."""

    async def judge(self, args: Mapping[str, Any], context: ToolContext) -> Judgement:
        """Whether this very call would destroy something."""
        return Judgement(destructive=self.spec.destructive == "always")

    async def probe(self, args: Mapping[str, Any], context: ToolContext) -> ProbeAnswer:
        """After a crash: did the call with this key happen?"""
        return ProbeAnswer("unknown")

    async def stop(self, args: Mapping[str, Any], context: ToolContext) -> bool:
        """The call under way is to stop. True: the machine was told, and `run` ends by itself soon.

        False: nothing was told, and `run` is cancelled; then `probe`, if there is one, says what became of it.
        """
        return False

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        """What the call would do, against a copy-on-write workspace; must change nothing outside it."""
        return Preview(
            says=self.spec.description, seconds=self.spec.estimate_s, value=Unknown(f"what {self.spec.name} gives")
        )


class ToolSource(Protocol):
    """Where tools are found by name; an unknown name is a NotFoundError."""

    def get(self, name: str) -> Tool: ...
