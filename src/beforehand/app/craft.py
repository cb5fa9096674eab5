"""What a craft brings, in one bundle whose parts are all optional.

A `Craft` is what can be known without opening anything: its name, the rows and sentences of its events, its HTTP calls.
`open` makes its `Parts` for one runtime: scenes of a kind, a planner, a judge, tools, owners of decisions. Crafts are
found by the entry point `beforehand.crafts`, the built-in ones like anybody's; nothing else names them.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from beforehand.loop.rows import RowMaker
from beforehand.model.decision import Decision
from beforehand.model.event import Event
from beforehand.model.finding import Finding
from beforehand.model.plan import Plan
from beforehand.model.reason import Problem, Reason
from beforehand.model.versions import Upcasters
from beforehand.ports.mcp import McpTool
from beforehand.ports.search import Searchable
from beforehand.ports.store import Store
from beforehand.ports.tool import Tool

if TYPE_CHECKING:
    from beforehand.app.runtime import Runtime
    from beforehand.app.settings import Settings

Sentence = Callable[[Mapping[str, Any]], str]
"""An event in words, from its ids and its data together; KeyError where they do not have what it needs."""
Start = Mapping[str, Any]
"""Where the world is said to start from, in the words of the command line, such as `{"position": "Home"}`."""
Done = frozenset[str]
"""The ids of steps that have begun in a run."""
StateLists = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What somebody wants of a scene: in words, or as an intent."""

    scene: str
    text: str | None = None
    intent: Mapping[str, Any] | None = None
    note: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WantedStep:
    """One step of what somebody wants, in words; `text` is the piece of the sentence it was read from."""

    says: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was understood of a request before anything is planned, to be shown and corrected."""

    intent: Mapping[str, Any]
    """With a list `steps`."""
    steps: tuple[WantedStep, ...]
    """What each of them says."""
    step_schema: Mapping[str, Any]
    """The JSON schema of a step: the names in it are the scene's."""
    notes: tuple[str, ...] = ()
    model: str | None = None
    """The model that read the words, where the planner itself did not."""


@dataclass(frozen=True, slots=True)
class Answering:
    """A person's answer to a decision. `carry_on` false: only write it down, whoever drives the owner goes on."""

    verb: str
    value: Any = None
    note: str = ""
    by: str = ""
    carry_on: bool = True


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a judge finds in a plan: why its steps would not work out, and what they come to if it can tell."""

    problems: tuple[Problem, ...] = ()
    duration_s: float | None = None
    end: Mapping[str, Any] | None = None
    """The state the plan ends in."""
    says: str = ""
    """That state in words."""
    expects: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The state before each step on a machine, by the step's id: what its guard compares with."""


def _no_warnings(document: Any) -> list[Problem]:
    return []


def _no_machines(document: Any) -> Mapping[str, str]:
    return {}


async def _nothing(name: str) -> None: ...


async def _no_state(name: str) -> StateLists:
    return {}


async def _no_past(name: str, store: Store) -> StateLists:
    return {}


async def _nowhere(name: str) -> Any:
    return None


@dataclass(frozen=True, slots=True)
class Scenes:
    """Scenes of one kind. Documents come as they were saved, already in the form that `check` gave."""

    kind: str
    check: Callable[[Any], dict[str, Any]]
    """The document in its normal form; raises BadInputError with every problem."""
    activate: Callable[[str, Mapping[str, Any]], Awaitable[None]]
    """The scene is live from now on; raises ConflictError when it cannot be."""
    deactivate: Callable[[str], Awaitable[None]] = _nothing
    """The scene is not live any more; raises ConflictError while something goes on in it."""
    machines: Callable[[Any], Mapping[str, str]] = _no_machines
    """The machines a checked document names: by the address each is known by, the name it has there."""
    live_machines: Callable[[], Mapping[str, Mapping[str, str]]] = dict
    """The same for every live scene, by the scene's name."""
    warnings: Callable[[Any], list[Problem]] = _no_warnings
    """What is legal in a checked document and yet worth a look."""
    state: Callable[[str], Awaitable[StateLists]] = _no_state
    """What is live in a scene, for `GET /state`: lists by name."""
    state_at: Callable[[str, Store], Awaitable[StateLists]] = _no_past
    """The same as it was where a store ends, for `GET /state?at=`; what is not in the log is left out."""
    held_state: "Callable[[str, Store, Reason], Awaitable[StateLists]] | None" = None
    """The same, by the log, of a scene that should be live and is not: what would move is held for that reason.
    None: as `state_at`."""
    replays: tuple[str, ...] = ()
    """The kinds of events whose rows `state_at` reads."""
    lists: tuple[str, ...] = ()
    """The names of those lists, which `GET /state` always has."""
    find: Callable[[str], Awaitable[Any]] = _nowhere
    """The document of a scene kept in some other place, such as a database; None where that place has none."""
    kept_elsewhere: Callable[[], Awaitable[Sequence[str]]] | None = None
    """The names `find` knows."""
    draw: Callable[[Mapping[str, Any], Mapping[str, Any]], str] | None = None
    """A scene's document and a preview as a picture in characters."""


@dataclass(frozen=True, slots=True)
class Going:
    """What goes on outside of scenes, for `GET /state`."""

    lists: tuple[str, ...]
    """The names of the lists, which `GET /state` always has."""
    state: Callable[[Store], Awaitable[StateLists]]
    """What goes on, from the rows of a store: of the present one, or of one that ends earlier."""
    replays: tuple[str, ...] = ()
    """The kinds of events that write those rows."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A plan that is being made anew: `follow` is the call, below `/api/v1`, that says how far it is."""

    plan_id: str
    follow: str
    says: str


@dataclass(frozen=True, slots=True)
class Planner:
    """Makes plans; the name is kept with what it makes, so that it can be made anew.

    One that plans for scenes of the craft's kind does so at once (`plan`); one that takes its time has `begin_again`.
    """

    name: str
    plan: Callable[[PlanRequest, str], Awaitable[Plan]] | None = None
    """The plan for a request, and the correlation id it is made under; without steps where everything is so already.

    Raises BadInputError when it cannot be made, NotUnderstoodError when it would be a guess."""
    read: Callable[[PlanRequest], Awaitable[Wanted]] | None = None
    """What `plan` would be given to plan; raises as it does, for names nobody knows and words that would be a guess."""
    asks_model: bool = False
    """Whether it takes the option `model`, and then has a model read words that it does not understand itself."""
    step_list: Callable[[Plan], list[dict[str, Any]]] | None = None
    """The steps of a plan in the craft's own form, for `plan -o steps`."""
    begin_again: Callable[[Plan, str, str], Awaitable[Begun]] | None = None
    """Begin to make a plan anew, with a person's note and who asked; it goes on as events."""
    begun: Callable[[Event], Begun] | None = None
    """What `begin_again` gave, from the event that it began with."""


@dataclass(frozen=True, slots=True)
class Documents:
    """A form of its own in which a craft writes steps, such as the list that `plan -o steps` prints."""

    recognise: Callable[[Any], str | None]
    """What a document is, such as `a list of a machine's steps`; None where it is not of this form."""
    read: Callable[[Any, str, Start], Awaitable[tuple[Any, list[Problem]]]]
    """The document as a plan's document for a scene, and everything wrong with it as it stands."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Says whether plans would work out, whatever the engine thinks of them; asked about every plan there is."""

    assess: Callable[[Plan], Awaitable[Assessment]]
    assess_rest: Callable[[Plan, Done], Awaitable[Assessment]] | None = None
    """The same for a plan under way: what has not begun is judged, from the present state."""
    bind: Callable[[Plan, Start], Awaitable[Plan]] | None = None
    """A plan for one of the craft's scenes, bound to the state of the world it starts from."""
    repair: Callable[[Plan, list[dict[str, Any]]], Awaitable[tuple[list[dict[str, Any]], str] | None]] | None = None
    """An offer to mend edited steps that the scene does not allow, and what it says; None when there is none."""
    ready: Callable[[Plan], Awaitable[None]] | None = None
    """A run is about to start; raises ConflictError when the plan's scene is not live and cannot be made so."""
    refuse: Callable[[Plan], Awaitable[None]] | None = None
    """What `ready` refuses, for somebody who only looks: raises the same and makes nothing live."""
    drift: Callable[[Plan], Awaitable[dict[str, Any] | None]] | None = None
    """How the world differs from the one the plan was made for, with `says`; None when it does not.

    Where nobody knows how the world is, its `now` is None, and `tryNext` says what to do about that."""
    replan: Callable[[Plan, Done], Awaitable[tuple[list[dict[str, Any]], str] | None]] | None = None
    """The rest of a plan planned anew from the present state: its steps' documents and what it says."""
    preview: Callable[[Plan], Awaitable[dict[str, Any] | None]] | None = None
    """What the plan would do, simulated; None where the tools are to be asked instead."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Takes the answers to the decisions it opened, whatever their kind."""

    answer: Callable[[Decision, Answering], Awaitable[None]]
    restart: Callable[[str], Awaitable[None]] | None = None
    """Take one of its things up again from the log, after its driver stopped on a bug."""


@dataclass(frozen=True, slots=True)
class Moving:
    """Something that moves, or may begin to, in a live scene."""

    scene: str
    kind: str
    what: str
    """What holding it means, a sentence."""


@dataclass(frozen=True, slots=True)
class Holds:
    """How what a craft moves is made to stand still, when somebody holds everything, and let go.

    Runs are paused without it; this is for what moves beside them, and for machines that can stop in the middle.
    """

    kind: str
    """The kind of what is held, such as `tank`."""
    moving: Callable[[], Sequence[Moving]]
    """Everything that nobody holds by hand already."""
    hold: Callable[[str], Awaitable[None]]
    """Make it stand still, in the scene of this name; held already, nothing happens."""
    clear: Callable[[str], Awaitable[None]]
    """Let it go on; not held, nothing happens."""


@dataclass(frozen=True, slots=True)
class Source:
    """A map of another system, as it was given."""

    file: str
    """What the file is called, for sentences."""
    text: str
    document: Any = None
    """What the text holds, where it is JSON."""
    name: str | None = None
    """What the scene is to be called; None leaves it to the map."""
    stem: str = "imported"
    """What it is called where the map does not say."""
    starts: str | None = None
    """The text of a second file that says who starts where, for the maps that have one."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something of a map that a scene cannot say, and where it stands there."""

    path: str
    says: str

    def wire(self) -> dict[str, str]:
        return {"path": self.path, "says": self.says}


@dataclass(frozen=True, slots=True)
class Imported:
    """A map as a scene's document, which passes its check, and everything that could not be carried over."""

    kind: str
    document: dict[str, Any]
    notes: tuple[Note, ...]
    says: str = ""
    """What is in the scene, in words."""


@dataclass(frozen=True, slots=True)
class Importer:
    """Makes scenes of another system's maps."""

    kind: str
    says: str
    """What it reads, in words."""
    recognise: Callable[[Source], bool]
    read: Callable[[Source], Imported]
    """Raises BadInputError where it is no such map."""
    starts: bool = False
    """Whether a second file may say who starts where."""


@dataclass(frozen=True, slots=True)
class FileForm:
    """Files that scenes name and the home keeps, by the folder their names begin with."""

    folder: str
    suffix: str
    says: str
    """What such a file is, in two words."""
    check: Callable[[Any], Sequence[Problem]]
    """Everything wrong with one, from its document."""


async def _close_nothing() -> None: ...


async def _begin_nothing() -> None: ...


@dataclass(frozen=True, slots=True)
class Parts:
    """A craft at work in one runtime."""

    service: object = None
    """What the craft's own calls and commands work with; see `Runtime.service`."""
    scenes: Scenes | None = None
    planner: Planner | None = None
    documents: Documents | None = None
    judge: Judge | None = None
    holds: Holds | None = None
    going: Going | None = None
    tools: tuple[Tool, ...] = ()
    owners: Mapping[str, Owner] = field(default_factory=dict)
    """By what the ids of their things begin with: `tank` owns `tank:north`."""
    begin: Callable[[], Awaitable[None]] = _begin_nothing
    """The home is led from now on, and everything is open: what a crash left behind can be settled."""
    ready: Callable[[], Awaitable[None]] = _begin_nothing
    """In a server only: every scene that was live and every run that was under way goes on."""
    close: Callable[[], Awaitable[None]] = _close_nothing


@dataclass(frozen=True, slots=True)
class Craft:
    """What a craft is before anything is open; the object its entry point names."""

    name: str
    open: Callable[["Runtime"], Parts]
    plans: bool = True
    """Whether it has a part in plans that are made, checked or previewed at once: by scenes, a planner that does not
    take its time, a form of documents, a judge or tools. One that has none is not opened where nothing else is done."""
    rows: Mapping[str, RowMaker] = field(default_factory=dict)
    """The rows its events write, by kind of event."""
    ends: tuple[str, ...] = ()
    """Kinds of those rows that are over for good once they are closed, and what the owners of such things begin with:
    their events may be archived then."""
    remembers: tuple[str, ...] = ()
    """Kinds of those rows, one per scene under its name, that a dry run starts from."""
    sentences: Mapping[str, Sentence] = field(default_factory=dict)
    """Its events in words, by kind of event."""
    upcasters: Upcasters = field(default_factory=dict)
    """What brings its events from older versions up to date, by kind of event."""
    searchable: Searchable = field(default_factory=Searchable)
    """What can be searched and asked about its events."""
    http: Callable[[], Any] | None = None
    """Its calls (`server.kit.HttpPart`), imported only where a server is made."""
    says_who: tuple[str, ...] = ()
    """Those of its calls whose events say who asked, such as `pots/*/water`; of all others it is recorded."""
    mcp: Callable[[], Sequence[McpTool]] | None = None
    """Its tools for programs that call over MCP, imported only where they are served; none may move anything."""
    importers: Callable[[], Sequence[Importer]] = tuple
    """What makes scenes of other systems' maps, imported only where one is read."""
    file_forms: tuple[FileForm, ...] = ()
    """The forms of the files that its scenes name."""
    findings: Callable[["Settings", Store], Awaitable[Sequence[Finding]]] | None = None
    """How the machines that its scenes name are, for doctor: looked at without a change, by what a store holds."""
    plugin_points: tuple[str, ...] = ()
    """Groups of entry points of its own, loaded by the craft, that `beforehand plugins` lists."""
