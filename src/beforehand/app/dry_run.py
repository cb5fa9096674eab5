"""Dry runs: the same tools and crafts over a log in memory, so that looking never writes to the home.

Checks, previews and drafts work in it, and do not even make a home. What the home knows of its scenes (their documents,
what their crafts remember of them) is there from the start; nothing is made live.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from beforehand.app.crafts import Crafts, load_crafts
from beforehand.app.intake import PlanInput, SceneFinder, take_in
from beforehand.app.runtime import Runtime, open_runtime
from beforehand.app.scenes import find_anywhere, findings, saved_scene, scene_row
from beforehand.app.settings import Settings
from beforehand.app.stores import open_reading, open_store, store_exists, store_in_memory
from beforehand.engine.validate import invalid_plan
from beforehand.model.errors import UnavailableError
from beforehand.model.plan import Plan
from beforehand.model.reason import Problem
from beforehand.ports.log import Log
from beforehand.ports.store import Row

log = Log("beforehand.log")


@asynccontextmanager
async def open_dry_run(settings: Settings, *, with_servers: bool = True) -> AsyncIterator[Runtime]:
    """A runtime whose log is forgotten; the home's own files stay closed to file tools as ever."""
    async with _forgetful(settings, load_crafts(), with_servers) as runtime:
        yield runtime


@asynccontextmanager
async def _for_plans(settings: Settings, *, with_servers: bool = True) -> AsyncIterator[Runtime]:
    """The same with those crafts only that have a part in plans."""
    async with _forgetful(settings, load_crafts().for_plans(), with_servers) as runtime:
        yield runtime


@asynccontextmanager
async def _forgetful(settings: Settings, crafts: Crafts, with_servers: bool) -> AsyncIterator[Runtime]:
    store = store_in_memory(crafts.projection(), await _known_rows(settings, crafts))
    async with open_runtime(
        settings, store=store, with_servers=with_servers, serves=False, runs_plans=False, crafts=crafts
    ) as runtime:
        yield runtime


async def _known_rows(settings: Settings, crafts: Crafts) -> list[Row]:
    """What the home remembers of its scenes; nothing where there is no home."""
    rows: list[Row] = []
    kinds = {kind for craft in crafts.by_name.values() for kind in craft.remembers}
    try:
        if not store_exists(settings.database):
            return []
        async with open_reading(settings.database, crafts.upcasters()) as home:
            for scene in await home.rows("scene"):
                name = str(scene["name"])
                rows.append(Row("scene", name, {**scene, "active": False}))
                for kind in kinds:
                    if (body := await home.row(kind, name)) is not None:
                        rows.append(Row(kind, name, body))
    except UnavailableError as error:
        log.warning("what the home remembers of its scenes is left out", says=error.says)
        return []
    return rows


@asynccontextmanager
async def open_for_looking(settings: Settings, *, with_servers: bool = False) -> AsyncIterator[Runtime]:
    """A runtime over the home's own log, beside whoever leads it: it can read, and write nothing at all.

    Without a home it is over an empty log.
    """
    crafts = load_crafts()
    if store_exists(settings.database):
        store = await open_store(
            settings.database, project=crafts.projection(), upcasters=crafts.upcasters(), lead=False, now_ms=lambda: 0
        )
    else:
        store = store_in_memory(crafts.projection())
    async with open_runtime(
        settings, store=store, with_servers=with_servers, serves=False, runs_plans=False, crafts=crafts
    ) as runtime:
        yield runtime


@dataclass(frozen=True, slots=True)
class Checked:
    steps: int
    problems: list[Problem]
    end: Mapping[str, Any] | None = None
    """The state the plan ends in, where its scene's craft can tell; None where there are problems."""
    says: str = ""
    """That end in words."""


async def check_plan(settings: Settings, given: PlanInput, *, scene_of: SceneFinder = saved_scene) -> Checked:
    """The plan in a document and everything that is wrong with it."""
    async with _for_plans(settings) as runtime:
        taken = await take_in(runtime, given, scene_of=scene_of)
        steps = len(taken.plan.steps) or _length(given.document)
        if taken.problems:
            return Checked(steps, taken.problems)
        return Checked(steps, [], taken.end, taken.end_says)


def _length(document: Any) -> int:
    steps = document.get("steps") if isinstance(document, dict) else document
    return len(steps) if isinstance(steps, list) else 0


async def preview_input(
    settings: Settings, given: PlanInput, *, scene_of: SceneFinder = saved_scene
) -> tuple[dict[str, Any], str | None]:
    """What a plan would do, and a picture of it in characters where its craft draws one.

    Raises BadInputError when it cannot even be read.
    """
    from beforehand.app.plans import preview

    async with _for_plans(settings) as runtime:
        taken = await take_in(runtime, given, scene_of=scene_of)
        if not taken.plan.steps or _is_unreadable(taken.problems):
            raise invalid_plan(taken.problems)
        shown = await preview(runtime, taken.plan)
        return shown, await _drawn(runtime, taken.plan, shown)


def _is_unreadable(problems: list[Problem]) -> bool:
    """Whether the engine itself refuses the plan; what a craft finds wrong is shown in its preview."""
    return any(problem.code.startswith(("plan.", "step.")) for problem in problems)


async def _drawn(runtime: Runtime, plan: Plan, shown: dict[str, Any]) -> str | None:
    row = None if plan.scene is None else await scene_row(runtime, plan.scene)
    scenes = None if row is None else runtime.scenes_of(row["kind"])
    return None if row is None or scenes is None or scenes.draw is None else scenes.draw(row["document"], shown)


async def draft_plan(
    settings: Settings, given: PlanInput, *, scene_of: SceneFinder = saved_scene
) -> tuple[Plan, list[dict[str, Any]]]:
    """The plan a scene's planner makes of what somebody wants, and its steps in the planner's own form.

    It may be without steps, and nothing keeps it. Raises BadInputError with every problem.
    """
    from beforehand.app.intake import planner_for
    from beforehand.model.plan import step_wire

    async with _for_plans(settings, with_servers=False) as runtime:
        taken = await take_in(runtime, given, scene_of=scene_of)
        if taken.problems:
            raise invalid_plan(taken.problems)
        planner = await planner_for(runtime, str(taken.plan.scene))
        form = planner.step_list or (lambda plan: [step_wire(step) for step in plan.steps])
        return taken.plan, form(taken.plan)


async def scene_document(settings: Settings, scene: str) -> Any:
    """A scene as the home has it, else as an example, a file or another place does."""
    async with _for_plans(settings, with_servers=False) as runtime:
        row = await runtime.store.row("scene", scene)
        return await find_anywhere(runtime, scene) if row is None else row["document"]


async def check_scene_document(settings: Settings, document: Any) -> dict[str, Any]:
    """Everything that is wrong with a scene's document, and what is odd about it."""
    async with _for_plans(settings, with_servers=False) as runtime:
        return findings(runtime, document)
