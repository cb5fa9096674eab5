"""The runtime: everything that is open while a process works on a home.

Opened for leading it may write the log and run plans; opened for reading it only reads. The verbs live beside it, one
function each; they all take the runtime as their first argument.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from beforehand.adapters.files.workspace import DiskWorkspace
from beforehand.app.clock import WallClock, follow_the_log
from beforehand.app.craft import Craft, Owner, Parts, Scenes
from beforehand.app.crafts import Crafts, load_crafts, unavailable
from beforehand.app.extensions import Extensions, built_in_extensions, load_plugins
from beforehand.app.high_water import HighWater, settle_identity
from beforehand.app.kept_files import files_of
from beforehand.app.private_files import make_home, refuse_half_restored
from beforehand.app.search import open_search
from beforehand.app.sentences import Sentences
from beforehand.app.settings import CONFIG_FILE, Settings
from beforehand.app.stores import open_store, store_files
from beforehand.app.tracing import tracing
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.loop.asked import asked_store
from beforehand.loop.edge import refuse_unled
from beforehand.loop.feed import Feed
from beforehand.loop.log_outage import LogOutage
from beforehand.loop.nursery import Nursery
from beforehand.loop.telemetry import Telemetry
from beforehand.model.errors import BadInputError, BeforehandError, UnavailableError
from beforehand.model.event import Event
from beforehand.model.log_identity import UNNAMED, LogIdentity
from beforehand.ports.clock import Clock
from beforehand.ports.foreign import is_ours, loaded, started
from beforehand.ports.log import this_request
from beforehand.ports.private_files import PrivateFiles
from beforehand.ports.run_host import RunHost
from beforehand.ports.search import Search
from beforehand.ports.store import Projection, Store
from beforehand.ports.tool import Tool

if TYPE_CHECKING:
    from beforehand.engine.inputs import RunInput
    from beforehand.engine.state import RunState

ServiceT = TypeVar("ServiceT")


@dataclass(slots=True)
class Runtime:
    settings: Settings
    store: Store
    clock: Clock
    extensions: Extensions
    feed: Feed
    sentences: Sentences
    nursery: Nursery
    catalog: ToolCatalog
    project: Projection
    """The rows of every event, those of the crafts among them."""
    files: PrivateFiles
    """What every server of the installation must know alike and is no part of the log."""
    search: Search
    """Questions to what has happened; nothing is opened before the first."""
    ends: frozenset[str] = frozenset()
    """Kinds of the crafts' rows that are over for good once they are closed."""
    serves: bool = True
    """False in a process that carries out one plan and is not the home's server."""
    identity: LogIdentity = UNNAMED
    """Which log is led: what every key that reaches a machine begins with; settled before anything moves."""
    stands_by: bool = False
    """True in a server while another one leads: it reads, and what is live it knows from the log only."""
    telemetry: Telemetry = field(default_factory=Telemetry)
    crafts: dict[str, Parts] = field(default_factory=dict)
    owners: dict[str, Owner] = field(default_factory=dict)
    """Who takes the answers to decisions, by what the owner's id begins with."""
    turns: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    """One verb at a time on one plan, so that nobody starts the same version twice."""
    run_host: "RunHost[RunState, RunInput] | None" = None
    not_live: set[str] = field(default_factory=set)
    """The scenes that this process could not make live; why is in the log (`not_live`)."""
    mark: HighWater | None = None
    """How far the log has come, beside it."""
    outage: LogOutage = field(default_factory=lambda: LogOutage(WallClock().now_ms))
    """Since when the log cannot be written, and what is to be recorded."""
    held_now: dict[str, Any] | None = None
    """That everything is held, and what, as long as that could not be written into the log."""

    def now(self) -> int:
        """The time in ms since 1970, by the clock of this runtime."""
        return self.clock.now_ms()

    @property
    def runs(self) -> "RunHost[RunState, RunInput]":
        """What carries plans out; refused where the runtime was opened for looking only."""
        if self.run_host is None:
            raise UnavailableError("This process only reads the home, so it runs no plans.", code="run.reading_only")
        return self.run_host

    def service(self, kind: type[ServiceT]) -> ServiceT:
        """The craft whose service is of this class; UnavailableError where it is not open here."""
        for parts in self.crafts.values():
            if isinstance(parts.service, kind):
                return parts.service
        raise UnavailableError(f"{kind.__name__} is not open in this process.", code="craft.not_open")

    def scenes_of(self, kind: str) -> Scenes | None:
        """What a craft brings for scenes of this kind."""
        parts = self.parts_for(kind)
        return None if parts is None else parts.scenes

    def parts_for(self, kind: str) -> Parts | None:
        """The craft whose scenes are of this kind."""
        return next((parts for parts in self.crafts.values() if parts.scenes and parts.scenes.kind == kind), None)

    @property
    def scene_kinds(self) -> list[str]:
        """The kinds of scenes that the installed crafts bring."""
        return sorted(parts.scenes.kind for parts in self.crafts.values() if parts.scenes)

    async def log(
        self,
        kind: str,
        data: Mapping[str, Any],
        *,
        owner: str,
        correlation_id: str = "",
        scene: str | None = None,
        **about: Any,
    ) -> Event:
        """Append one event and return it numbered; `about` holds its ids."""
        event = self.event(kind, data, owner=owner, correlation_id=correlation_id, scene=scene, **about)
        return (await self.store.append([event]))[0]

    def event(
        self,
        kind: str,
        data: Mapping[str, Any],
        *,
        owner: str,
        correlation_id: str = "",
        scene: str | None = None,
        **about: Any,
    ) -> Event:
        """An event of now, to be appended together with others; it belongs to the request being answered, if any."""
        correlation_id = correlation_id or this_request.get()
        return Event(kind, about, data, self.now(), scene=scene, correlation_id=correlation_id, owner=owner)

    def workspace(self, path: str | None) -> DiskWorkspace:
        """The folder a plan's file tools stay inside; BadInputError when there is no such folder."""
        return open_workspace(self.settings, path, lambda: refuse_unled(self.store))


def open_workspace(
    settings: Settings, path: str | None, before_change: Callable[[], None] = lambda: None
) -> DiskWorkspace:
    """A folder inside the workspace that is set, or that one itself; Beforehand's own files are closed there."""
    root = settings.workspace if path is None else settings.workspace / path
    if not _is_folder(root):
        shown = str(root) if len(str(root)) <= 200 else f"{str(root)[:120]}…"
        raise BadInputError(f"The workspace {shown} is not a folder.", code="workspace.missing")
    closed = own_files(settings)
    return DiskWorkspace(root, closed=closed, closed_names=[CONFIG_FILE], before_change=before_change)


def own_files(settings: Settings) -> list[Path]:
    """The files of this installation, wherever they lie: its home, its log, and the settings it was started with."""
    return [settings.home, *store_files(settings.database), *([settings.file] if settings.file else [])]


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that no folder can have
        return False


@asynccontextmanager
async def open_runtime(
    settings: Settings,
    *,
    with_servers: bool = True,
    serves: bool = True,
    runs_plans: bool = True,
    clock: Clock | None = None,
    store: Store | None = None,
    url: str | None = None,
    note: str = "",
    crafts: Crafts | None = None,
    tools: Iterable[Tool] = (),
) -> AsyncIterator[Runtime]:
    """Lead a home, or a `store` in place of its log, with every craft and tool; `tools` are the caller's own.

    `with_servers` false leaves MCP servers alone; `serves` false is for a process that carries out one plan, and
    `runs_plans` false for one that only looks: it runs nothing and takes no answers, until `begin_leading`.
    Raises NotLeadingError when another process leads the home already, BadInputError when one of `tools` has a name
    that is taken.
    """
    crafts = crafts or load_crafts()
    clock = clock or WallClock()
    if store is None:
        _make_home(settings)
        store = await open_store(
            settings.database,
            project=crafts.projection(),
            upcasters=crafts.upcasters(),
            now_ms=clock.now_ms,
            url_of_server=url,
            note=note,
        )
    stack = AsyncExitStack()
    stack.push_async_callback(store.close)
    async with stack:
        if runs_plans or serves:
            await stack.enter_async_context(tracing(settings))
        runtime = _runtime(settings, store, clock, crafts, serves)
        runtime.nursery.open()
        try:
            await load_plugins(runtime.extensions, settings, with_servers=with_servers)
            for tool in tools:
                runtime.extensions.tools.add(tool)
                runtime.extensions.led.add(tool.spec.name)
            runtime.catalog = runtime.extensions.catalog
            if runs_plans:
                await begin_leading(runtime)
            yield runtime
        finally:
            await _close(runtime)


async def begin_leading(runtime: Runtime) -> None:
    """The home is led from now on: plans can be run, answers are taken, and what a crash left behind is settled."""
    await follow_the_log(runtime.clock, runtime.store)
    _drop_mark(runtime)
    runtime.identity, runtime.mark = await settle_identity(runtime.store, runtime.settings.home)
    keep_mark(runtime)
    await runtime.nursery.begin()
    _let_run(runtime)
    for name, parts in runtime.crafts.items():
        await _told_to(runtime, name, "begun", parts.begin)


async def make_ready(runtime: Runtime) -> None:
    """In a server: every scene that was live and every run that was under way goes on."""
    for name, parts in runtime.crafts.items():
        await _told_to(runtime, name, "made ready", parts.ready)


async def _told_to(runtime: Runtime, name: str, how: str, call: Callable[[], Awaitable[None]]) -> None:
    """Call what a craft brings; somebody else's that fails is reported, and the others go on."""
    ours = is_ours(call)
    try:
        await started(call(), ours=ours)
    except Exception as error:
        if ours:
            raise
        runtime.extensions.reasons.append(unavailable(name, how, error))


def keep_mark(runtime: Runtime) -> None:
    """From now on what is durable is marked beside the log."""
    if runtime.mark is not None:
        runtime.store.on_commit(runtime.mark.rise)


def _drop_mark(runtime: Runtime) -> None:
    if runtime.mark is not None:
        runtime.mark.close()


def _make_home(settings: Settings) -> None:
    refuse_half_restored(settings.home)
    try:
        if settings["db"] is None or settings.home.exists():
            make_home(settings.home)
    except OSError as error:
        says = f"The home {settings.home} cannot be used: {error.strerror}."
        hint = "Name another home with --home."
        raise UnavailableError(says, code="store.unusable", hint=hint) from error


def _runtime(settings: Settings, store: Store, clock: Clock, crafts: Crafts, serves: bool) -> Runtime:
    outage = LogOutage(clock.now_ms)
    store = asked_store(store, clock, outage)
    extensions = built_in_extensions(settings)
    extensions.reasons.extend(crafts.missing)
    sentences = Sentences(craft.sentences for craft in crafts.by_name.values())
    runtime = Runtime(
        settings,
        store,
        clock,
        extensions,
        Feed(store, sentences.added_to),
        sentences,
        Nursery(store, clock),
        extensions.catalog,
        crafts.projection(),
        files_of(settings),
        open_search(settings, store, crafts, clock.now_ms, serves=serves),
        crafts.ends(),
        serves,
        outage=outage,
    )
    for craft in crafts.by_name.values():
        _open_craft(runtime, craft)
    return runtime


def _open_craft(runtime: Runtime, craft: Craft) -> None:
    """Take in what a craft brings; a broken one is reported and spared, a wrong setting stops everything."""
    ours = is_ours(craft.open)
    try:
        parts = loaded(partial(craft.open, runtime), ours=ours)
    except Exception as error:  # somebody else's code: it may fail in any way, and the rest works on
        if ours and isinstance(error, BeforehandError):
            raise
        runtime.extensions.reasons.append(unavailable(craft.name, "opened", error))
        return
    runtime.crafts[craft.name] = parts
    runtime.owners |= parts.owners
    for tool in parts.tools:
        runtime.extensions.add(tool)
        runtime.extensions.led.add(tool.spec.name)


def _let_run(runtime: Runtime) -> None:
    """What carries plans out, and who takes the answers to what it asks."""
    from beforehand.app.decisions import owner_of_bugs
    from beforehand.app.engines import run_host_for
    from beforehand.app.plans import owner_of_plans
    from beforehand.app.run_answers import owner_of_runs
    from beforehand.app.scene_answers import owner_of_scenes

    runtime.run_host = run_host_for(runtime)
    runtime.owners |= {
        "plan": owner_of_plans(runtime),
        "run": owner_of_runs(runtime),
        "scene": owner_of_scenes(runtime),
        "bug": owner_of_bugs(runtime),
    }


async def _close(runtime: Runtime) -> None:
    runtime.feed.close()
    runtime.telemetry.close()
    if runtime.run_host is not None:
        await runtime.run_host.close()
    for name, parts in runtime.crafts.items():  # after the runs: to a step, a craft that stops would be a failure
        await _told_to(runtime, name, "closed", parts.close)
    await runtime.nursery.stop()
    await runtime.nursery.close()
    await runtime.search.close()
    await runtime.outage.close()
    await runtime.store.close()  # whoever takes over need not wait for the rest
    _drop_mark(runtime)
    runtime.files.close()
    await runtime.extensions.close()
