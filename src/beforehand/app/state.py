"""Everything live in one answer, with the place in the log it is true at; and as it was at an earlier place."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from beforehand.app.craft import Going, Scenes, StateLists
from beforehand.app.holds import held
from beforehand.app.inbox import list_decisions
from beforehand.app.past import store_at
from beforehand.app.run_progress import with_progress
from beforehand.app.runs import list_runs
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import get_scene, list_scenes
from beforehand.model.errors import ForeignError
from beforehand.model.reason import Reason
from beforehand.ports.foreign import guarded, is_ours, started, why
from beforehand.ports.log import Log

log = Log("beforehand.scenes")

RECENT_RUNS = 50


_KINDS = (
    *("sceneSaved", "sceneActivated", "sceneDeactivated", "everythingHeld", "everythingCleared"),
    *("runStarted", "runUpdated", "runFinished", "runAdopted", "stepUpdated", "stepExpanded"),
    *("decisionOpened", "proposalMade", "decisionAnswered", "decisionWithdrawn"),
    *("planCreated", "planEdited"),
)


async def state_at(runtime: Runtime, at: int, scene: str | None = None) -> dict[str, Any]:
    """The same as it was after event `at`, from the log; what was not logged (where machines stood) is left out.

    Raises BadInputError where there is no such event, NotFoundError where that scene was not known then.
    """
    crafts = [part for parts in runtime.crafts.values() for part in (parts.scenes, parts.going) if part]
    kinds = {*_KINDS, *(kind for brought in crafts for kind in brought.replays)}
    then = replace(runtime, store=await store_at(runtime, at, kinds))
    if scene is not None:
        await get_scene(then, scene)
    return await _view(then, scene, lambda brought, name: brought.state_at(name, then.store))


async def state_view(runtime: Runtime, scene: str | None = None) -> dict[str, Any]:
    """`GET /state`: `seq`, scenes, runs, decisions, and the lists that crafts bring; of a scene, what is in it only.

    A server that stands by reads it out of the log: what is not in there (where machines stand) is left out.
    """
    if runtime.stands_by:
        return await _view(runtime, scene, lambda brought, name: brought.state_at(name, runtime.store))
    return await _view(runtime, scene, lambda brought, name: brought.state(name))


async def _view(
    runtime: Runtime, scene: str | None, live: Callable[[Scenes, str], Awaitable[StateLists]]
) -> dict[str, Any]:
    seq = await runtime.store.last_seq()
    scenes = [row for row in await list_scenes(runtime) if scene is None or row["name"] == scene]
    runs = [run for run in await list_runs(runtime, limit=RECENT_RUNS) if scene is None or run.get("scene") == scene]
    brought_lists = [part for parts in runtime.crafts.values() for part in (parts.scenes, parts.going) if part]
    lists = [name for part in brought_lists for name in part.lists]
    shown: dict[str, Any] = {"seq": seq, "scenes": scenes, **{name: [] for name in lists}}
    for row in scenes:
        brought = runtime.scenes_of(row["kind"])
        if row["active"] and brought is not None:
            for name, items in (await _lists_of(runtime, brought, row, live)).items():
                shown.setdefault(name, []).extend(items)
    if scene is None:
        for craft, parts in runtime.crafts.items():
            shown |= await _going(runtime, craft, parts.going) if parts.going else {}
    decisions = await list_decisions(runtime)
    hold = await held(runtime)
    if hold is not None:
        shown["hold"] = hold
    shown["runs"] = [await with_progress(runtime, run) for run in runs]
    shown["decisions"] = [item for item in decisions if scene is None or await _scene_of(runtime, item) == scene]
    return shown


async def _going(runtime: Runtime, craft: str, going: Going) -> StateLists:
    """What goes on outside of scenes; somebody else's craft that cannot say it has nothing."""
    ours = is_ours(going.state)
    try:
        return await started(going.state(runtime.store), ours=ours)
    except Exception as error:
        if ours:
            raise
        log.error("a craft could not say what goes on", craft=craft, says=why(error))
        return {}


async def _lists_of(
    runtime: Runtime, brought: Scenes, row: dict[str, Any], live: Callable[[Scenes, str], Awaitable[StateLists]]
) -> StateLists:
    """What is in an active scene: live, or as the log left it; somebody else's craft that cannot say it says why."""
    name, ours = row["name"], is_ours(brought.state)
    try:
        with guarded(f"Saying what is in {name}"):
            if row["live"]:
                return await started(live(brought, name), ours=ours)
            if brought.held_state is None:
                return await started(brought.state_at(name, runtime.store), ours=ours)
            reason = Reason.model_validate(row["reason"])
            return await started(brought.held_state(name, runtime.store, reason), ours=ours)
    except ForeignError as error:
        if ours:
            raise
        log.error("a craft could not say what is in its scene", scene=name, says=error.says)
        told = Reason(code=error.code, about=name, says=error.says, try_next=error.hint)
        row |= {"live": False, "reason": told.wire()}
        return {}


async def _scene_of(runtime: Runtime, decision: dict[str, Any]) -> str | None:
    """The scene a decision belongs to: its own, or its plan's."""
    about = decision["about"]
    if "scene" in about or "planId" not in about:
        found = about.get("scene")
        return None if found is None else str(found)
    head = await runtime.store.row("planHead", str(about["planId"])) or {}
    return str(head["scene"]) if "scene" in head else None
