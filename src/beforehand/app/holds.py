"""Everything held at once, and let go again: what crafts move by themselves, and the runs that move machines.

That everything is held is in the log, with what was held for it, so that letting go gives back that and nothing else:
a run that a person paused before stays paused. While it is held nothing new moves, after a restart too. This is not an
emergency stop: what cannot stop in the middle comes to its end.

Where the log does not take it at once, everything that this process moves is held all the same; the record follows.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from beforehand.app.craft import Holds, Moving, Parts
from beforehand.app.leases import HOLD, LOCK, refuse_needed
from beforehand.app.run_states import owner_of_run
from beforehand.app.runtime import Runtime
from beforehand.loop.asked import asked_here
from beforehand.loop.log_outage import note_unrecorded
from beforehand.model.errors import BeforehandError, ConflictError, UnavailableError
from beforehand.model.event import Event, iso
from beforehand.model.plan import Plan
from beforehand.ports.foreign import contain, contained
from beforehand.ports.log import Log
from beforehand.ports.store import EventFilter

if TYPE_CHECKING:
    from beforehand.engine.state import RunState

log = Log("beforehand.holds")
TURN = "hold"
PATIENCE_S = 5.0
"""How long one thing may take to be told."""
WRITE_S = 0.6
READ_S = 0.3
"""How long holding waits for the log before it goes first."""
RUN = "run"
HELD, CLEARED = "everythingHeld", "everythingCleared"
Entry = dict[str, Any]
"""One thing that is held: `scene`, `kind`, `what`, and a run's `runId`."""


async def held(runtime: Runtime) -> dict[str, Any] | None:
    """Who holds everything, since when, and what was held; None while nothing is."""
    return runtime.held_now or await runtime.store.row(*HOLD)


def moves(runtime: Runtime, plan: Plan) -> bool:
    """Whether a plan does anything in the physical world."""
    specs = (runtime.catalog.get(step.tool) for step in plan.steps)
    return any(spec is not None and spec.effect == "physical" for spec in specs)


async def refuse_held_plan(runtime: Runtime, plan: Plan) -> None:
    """ConflictError where everything is held and the plan would move something."""
    row = await held(runtime)
    if row is not None and moves(runtime, plan):
        raise everything_held(row)


def everything_held(row: Mapping[str, Any]) -> ConflictError:
    """The refusal of what would move something now."""
    return ConflictError(
        f"Everything is held by {row['by'] or 'a person'} since {row['since']}, so nothing starts to move.",
        code="hold.everything",
        hint="Clear the hold first: POST /api/v1/clear.",
        extra={"since": row["since"], "by": row["by"]},
    )


# -- holding ---------------------------------------------------------------------------------------------------------


async def hold_everything(runtime: Runtime, *, by: str = "") -> dict[str, Any]:
    """Let nothing move any more; says what was held and what could not be.

    Held already, it only holds what is not: something that could not be held before, say.
    """
    if runtime.store.lead_left_s() <= 0 or runtime.held_now is not None:
        return await _hold_unrecorded(runtime, by)
    try:
        async with asyncio.timeout(WRITE_S) as waiting, runtime.turns[TURN]:
            before, listed = await _record_hold(runtime, by)
            waiting.reschedule(None)
            could_not = await _each(runtime, listed, _hold_one)
            row = await held(runtime) or {}
            return {"held": True, "already": before is not None, **row, "couldNot": could_not}
    except (UnavailableError, TimeoutError) as error:
        runtime.outage.failed(getattr(error, "says", "The log does not answer."))
        return await _hold_unrecorded(runtime, by)


async def _record_hold(runtime: Runtime, by: str) -> tuple[dict[str, Any] | None, list[Entry]]:
    """Write down that everything is held: what was held before, and all that is held from now on."""
    async with runtime.turns[LOCK]:  # whoever starts a run looks first, or is seen here
        before = await held(runtime)
        new = [*await _runs_to_hold(runtime), *_things_to_hold(runtime)]
        kept = [*(before or {"what": []})["what"]]
        listed = [*kept, *(entry for entry in new if entry not in kept)]
        if before is None or listed != kept:
            since = iso(runtime.now()) if before is None else before["since"]
            who = by if before is None else before["by"]
            await _log(runtime, HELD, {"by": who, "since": since, "what": listed})
    return before, listed


async def _hold_unrecorded(runtime: Runtime, by: str) -> dict[str, Any]:
    """Hold what this process moves, without the log and without waiting for anybody."""
    before = runtime.held_now or await _held_before(runtime)
    runs = [_run_entry(run) for run in runtime.runs.states() if _is_to_hold(runtime, run)]
    kept = [*(before or {"what": []})["what"]]
    listed = [*kept, *(entry for entry in [*runs, *_things_to_hold(runtime)] if entry not in kept)]
    since, who = (iso(runtime.now()), by) if before is None else (before["since"], before["by"])
    told = {"by": who, "since": since, "what": listed}
    is_new = before is None or listed != kept
    if is_new:
        runtime.held_now = {**told, "notRecorded": True}
    row = runtime.held_now
    could_not = await _each(runtime, listed, _hold_one)
    if is_new:
        event = runtime.event(HELD, told, owner=HOLD[0])
        await runtime.outage.record([event], lambda: _is_recorded(runtime, row))
    if runtime.held_now is not None:
        note_unrecorded("Everything is held.")
    return {"held": True, "already": before is not None, **told, "couldNot": could_not}


async def _held_before(runtime: Runtime) -> dict[str, Any] | None:
    """What the log says of it, where it can be read at all."""
    with suppress(BeforehandError, TimeoutError):
        async with asyncio.timeout(READ_S):
            return await runtime.store.row(*HOLD)
    return None


def _is_recorded(runtime: Runtime, row: Mapping[str, Any] | None) -> None:
    if runtime.held_now is row:
        runtime.held_now = None


async def held_by(runtime: Runtime, event: Event) -> dict[str, Any]:
    """What holding everything came to, from its event; as long as it is held, what could not be held is tried again."""
    row = await held(runtime) or {}
    if event.kind != HELD:  # everything was held already
        return {"held": bool(row), "already": True, "by": "", "since": "", "what": [], **row, "couldNot": []}
    first = await runtime.store.last_records(event.seq, 1, EventFilter(owner=HOLD[0]))
    still = row.get("since") == event.data["since"]
    async with runtime.turns[TURN]:
        could_not = await _each(runtime, list(event.data["what"]), _hold_one) if still else []
    already = bool(first) and first[0].kind == HELD
    return {"held": True, "already": already, **event.data, "couldNot": could_not}


async def _runs_to_hold(runtime: Runtime) -> list[Entry]:
    found: list[Entry] = []
    for row in await runtime.store.rows("run", open=True):
        try:
            run = await runtime.runs.state(row["runId"])
        except Exception:  # one that cannot be read is not driven either, and must not keep the others from standing
            log.exception("a run that cannot be read is not held", run=row["runId"])
            continue
        if _is_to_hold(runtime, run):
            found.append({**_run_entry(run), "scene": row.get("scene")})
    return found


def _is_to_hold(runtime: Runtime, run: "RunState") -> bool:
    return not run.paused and not run.cancelling and bool(run.machines or moves(runtime, run.plan))


def _run_entry(run: "RunState") -> Entry:
    what = "Starts no further step; what is in flight comes to its end."
    return {"scene": run.head.get("scene"), "kind": RUN, "what": what, "runId": run.run_id}


def _things_to_hold(runtime: Runtime) -> list[Entry]:
    return [
        {"scene": thing.scene, "kind": thing.kind, "what": thing.what}
        for name, parts in runtime.crafts.items()
        for thing in _moving(name, parts)
    ]


def _moving(craft: str, parts: Parts) -> Sequence[Moving]:
    """What a craft says that moves; one that cannot say it must not keep the others moving."""
    try:
        with contained():
            return parts.holds.moving() if parts.holds is not None else ()
    except Exception:  # somebody else's code
        log.exception("a craft could not say what moves", craft=craft)
        return ()


async def _hold_one(runtime: Runtime, entry: Entry) -> None:
    from beforehand.engine.inputs import PauseAsked

    if entry["kind"] == RUN:
        await runtime.runs.brake(entry["runId"], PauseAsked(runtime.now()))
    else:
        await _holds_of(runtime, entry).hold(entry["scene"])


def _holds_of(runtime: Runtime, entry: Entry) -> Holds:
    for parts in runtime.crafts.values():
        if parts.holds is not None and parts.holds.kind == entry["kind"]:
            return parts.holds
    raise ConflictError(f"Nothing here can tell a {entry['kind']} to stand still.", code="hold.no_craft")


# -- letting go ------------------------------------------------------------------------------------------------------


async def clear_everything(runtime: Runtime, *, by: str = "") -> dict[str, Any]:
    """Give back what was held; says what, and what could not be."""
    async with runtime.turns[TURN]:
        if runtime.store.lead_left_s() <= 0:
            raise runtime.outage.refusal()
        before = await held(runtime)
        if before is None:
            return {"held": False, "already": True, "what": [], "couldNot": []}
        if (asked := asked_here()) is not None:
            asked.decide(runtime.now())
        runs = [entry for entry in before["what"] if entry["kind"] == RUN]
        things = [entry for entry in before["what"] if entry["kind"] != RUN]
        # Things first: a crash in between leaves everything held, to be let go again. Runs last: they look at the log.
        could_not = await _each(runtime, things, _clear_one)
        async with runtime.turns[LOCK]:
            await _log(runtime, CLEARED, {"by": by, "since": before["since"], "what": before["what"]})
        could_not += await _each(runtime, runs, _clear_one)
        return {"held": False, "already": False, "what": before["what"], "couldNot": could_not}


async def cleared_by(runtime: Runtime, event: Event) -> dict[str, Any]:
    """What letting go came to, from its event; runs that a crash kept from going on do so now.

    A run that has gone on since, and was paused again, stays so.
    """
    if event.kind != CLEARED:  # nothing was held
        return {"held": False, "already": True, "what": [], "couldNot": []}
    what = list(event.data["what"])
    async with runtime.turns[TURN]:
        runs = [entry for entry in what if entry["kind"] == RUN and not await _has_gone_on(runtime, entry, event)]
        could_not = [] if await held(runtime) else await _each(runtime, runs, _clear_one)
    return {"held": False, "already": False, "what": what, "couldNot": could_not}


async def _has_gone_on(runtime: Runtime, entry: Entry, since: Event) -> bool:
    only = EventFilter(kinds=frozenset({"runUpdated", "runFinished"}), run=entry["runId"])
    later = await runtime.store.events(since.seq, 1000, only)
    return any(not event.data.get("paused") for event in later)


async def _clear_one(runtime: Runtime, entry: Entry) -> None:
    from beforehand.engine.inputs import ResumeAsked

    if entry["kind"] != RUN:
        await _holds_of(runtime, entry).clear(entry["scene"])
        return
    run = await runtime.runs.state(entry["runId"])
    if run.paused and not run.status.is_final:
        async with runtime.turns[LOCK]:
            await refuse_needed(runtime, run)
            await runtime.runs.send(entry["runId"], ResumeAsked(runtime.now()))


# -- what comes meanwhile --------------------------------------------------------------------------------------------


@asynccontextmanager
async def standing_still(runtime: Runtime, scene: str) -> AsyncIterator[None]:
    """A scene becomes live inside: while everything is held it stands still from its first moment on."""
    async with runtime.turns[TURN]:
        row = await held(runtime)  # not after: the scene would move while that is read
        yield
        if row is not None:
            await _join(runtime, scene, row)


async def _join(runtime: Runtime, scene: str, row: Mapping[str, Any]) -> None:
    new = [entry for entry in _things_to_hold(runtime) if entry["scene"] == scene]
    listed = [entry for entry in row["what"] if entry["scene"] == scene and entry["kind"] != RUN]
    for entry in [*listed, *(entry for entry in new if entry not in listed)]:
        await _hold_one(runtime, entry)  # before it is in the log, for the same reason
    if added := [entry for entry in new if entry not in row["what"]]:
        await _log(runtime, HELD, {**row, "what": [*row["what"], *added]})


async def keep_runs_held(runtime: Runtime) -> None:
    """Before runs are taken up after a start: those that were to be paused are, also where a crash came first."""
    for entry in (await held(runtime) or {"what": []})["what"]:
        if entry["kind"] == RUN and await runtime.store.row("run", entry["runId"]) is not None:
            await runtime.nursery.spare(owner_of_run(entry["runId"]), _keep_held(runtime, entry["runId"]))


async def _keep_held(runtime: Runtime, run_id: str) -> None:
    from beforehand.engine.decide import record
    from beforehand.engine.inputs import PauseAsked

    run = await runtime.runs.state(run_id)
    if not run.status.is_final and not run.paused:
        await runtime.store.append(record(run, PauseAsked(runtime.now()), runtime.catalog).events)


async def _log(runtime: Runtime, kind: str, data: Mapping[str, Any]) -> None:
    await runtime.log(kind, data, owner=HOLD[0])


async def _each(
    runtime: Runtime, entries: list[Entry], act: Callable[[Runtime, Entry], Awaitable[None]]
) -> list[Entry]:
    """All at once, none waiting for another; gives what did not work out, each with what it says."""
    told = await asyncio.gather(*(_told(runtime, entry, act) for entry in entries))
    return [{**entry, "says": says} for entry, says in zip(entries, told, strict=True) if says]


async def _told(runtime: Runtime, entry: Entry, act: Callable[[Runtime, Entry], Awaitable[None]]) -> str:
    try:
        async with asyncio.timeout(PATIENCE_S):
            await contain(act(runtime, entry))
    except BeforehandError as error:
        return error.says
    except TimeoutError:
        return f"It did not answer within {PATIENCE_S:g} s."
    except Exception as error:  # somebody else's code: the others are told all the same
        log.exception("something could not be told to stand still, or to go on", scene=entry["scene"])
        return f"{type(error).__name__}: {error}"
    return ""
