"""Everything live in one answer, with the place in the log it is true at; and as it was at an earlier place."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from beforehand.app.craft import Scenes, StateLists
from beforehand.app.holds import held
from beforehand.app.inbox import list_decisions
from beforehand.app.past import store_at
from beforehand.app.run_progress import with_progress
from beforehand.app.runs import list_runs
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import get_scene, list_scenes

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
            for name, items in (await live(brought, row["name"])).items():
                shown.setdefault(name, []).extend(items)
    if scene is None:
        for parts in runtime.crafts.values():
            shown |= await parts.going.state(runtime.store) if parts.going else {}
    decisions = await list_decisions(runtime)
    hold = await held(runtime)
    if hold is not None:
        shown["hold"] = hold
    shown["runs"] = [await with_progress(runtime, run) for run in runs]
    shown["decisions"] = [item for item in decisions if scene is None or await _scene_of(runtime, item) == scene]
    return shown


async def _scene_of(runtime: Runtime, decision: dict[str, Any]) -> str | None:
    """The scene a decision belongs to: its own, or its plan's."""
    about = decision["about"]
    if "scene" in about or "planId" not in about:
        found = about.get("scene")
        return None if found is None else str(found)
    head = await runtime.store.row("planHead", str(about["planId"])) or {}
    return str(head["scene"]) if "scene" in head else None
