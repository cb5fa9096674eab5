"""A house for looking only: the same tools and crafts, with a log in memory.

Checks and previews work in it, so that they never write to the home and do not even create it. What the home knows of
a scene (its document, where its robot stands) is copied in; nothing is made live.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from beforehand.app.craft import PlanRequest
from beforehand.app.crafts import register_crafts
from beforehand.app.plans import craft_of, preview, problems_of
from beforehand.app.runtime import Runtime, open_runtime
from beforehand.app.scenes import check_scene, get_scene, save_scene
from beforehand.app.settings import Settings
from beforehand.app.stores import store_exists
from beforehand.crafts.cell.cells import cells_of
from beforehand.crafts.cell.graphs import find_scene
from beforehand.crafts.cell.plans import atomic_steps, claims, scene_in
from beforehand.engine.validate import check_document, invalid_plan
from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.model.plan import Plan
from beforehand.model.reason import Problem


@asynccontextmanager
async def open_dry_run(settings: Settings, *, with_servers: bool = True) -> AsyncIterator[Runtime]:
    """A house whose log is thrown away; the home's own files stay closed to file tools as ever."""
    values = {**settings.values, "db": "memory:"}
    async with open_runtime(replace(settings, values=values), with_servers=with_servers) as runtime:
        register_crafts(runtime)
        yield runtime


@dataclass(frozen=True, slots=True)
class Checked:
    steps: int
    problems: list[Problem]
    end: dict[str, Any] | None = None
    """Where a cell's robot would stand and what it would hold; None for other plans, and where there are problems."""


async def check_plan(
    settings: Settings, document: Any, scene: str | None = None, start: Mapping[str, str] | None = None
) -> Checked:
    """The plan in a document and everything that is wrong with it. `start` says where a cell's robot stands first."""
    async with open_dry_run(settings) as runtime:
        try:
            document = await for_scene(runtime, settings, document, scene, start)
        except BadInputError as error:
            if error.code != "plan.invalid":
                raise
            return Checked(len(atomic_steps(document) or ()), list(error.problems))
        plan, problems = check_document(document, runtime.catalog)
        if not problems:
            plan = await _prepared(runtime, settings, plan) if plan.scene is not None else plan
            problems = await problems_of(runtime, plan)
        return Checked(len(plan.steps), problems, None if problems else await _end(runtime, plan))


async def _end(runtime: Runtime, plan: Plan) -> dict[str, Any] | None:
    if plan.scene is None or (await craft_of(runtime, plan.scene)).kind != "cell":
        return None
    end: dict[str, Any] | None = (await preview(runtime, plan)).get("end")
    return end


async def preview_document(
    settings: Settings, document: Any, scene: str | None = None, start: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """What the plan in a document would do, and the scene it is for; BadInputError when it is not valid."""
    async with open_dry_run(settings) as runtime:
        document = await for_scene(runtime, settings, document, scene, start, only_look=True)
        plan, problems = check_document(document, runtime.catalog)
        if problems:
            raise invalid_plan(problems)
        if plan.scene is None:
            return await preview(runtime, plan), None
        plan = await _prepared(runtime, settings, plan)
        return await preview(runtime, plan), (await get_scene(runtime, str(plan.scene)))["document"]


async def draft_plan(settings: Settings, request: PlanRequest) -> Plan:
    """The plan a scene's craft makes of what somebody wants; it may be without steps, and nothing keeps it."""
    async with open_dry_run(settings, with_servers=False) as runtime:
        name = await know_scene(runtime, settings, request.scene)
        return await (await craft_of(runtime, name)).draft(replace(request, scene=name))


async def cell_state(settings: Settings, scene: str) -> dict[str, Any]:
    """Where a cell's robot stands and what it holds: by the home's log, else as its scene begins."""
    async with open_dry_run(settings, with_servers=False) as runtime:
        name = await know_scene(runtime, settings, scene)
        shown = await cells_of(runtime).state_document(name)
        del shown["active"]  # here nothing is live; whoever leads the home knows
        return shown


async def scene_document(settings: Settings, scene: str) -> Any:
    """A scene as the home has it, else as an example or a file does."""
    document, _ = await _from_home(settings, scene)
    return await find_scene(settings, scene) if document is None else document


async def for_scene(
    runtime: Runtime,
    settings: Settings,
    document: Any,
    scene: str | None,
    start: Mapping[str, str] | None = None,
    *,
    only_look: bool = False,
) -> Any:
    """The document as a plan for its scene; a list of atomic steps becomes one."""
    if scene is None and atomic_steps(document) is not None:
        raise BadInputError("This is a list of a cell's steps; say which cell with --scene.", code="scene.needed")
    named = scene if scene is not None else scene_in(document)
    if named is None:
        return document
    name = await know_scene(runtime, settings, named)
    craft = await craft_of(runtime, name)
    if craft.kind == "cell":
        await _place(runtime, name, {**claims(document).get("world", {}), **(start or {})})
    document = await craft.take_in(document, name, only_look=only_look)
    return {**document, "scene": name} if isinstance(document, Mapping) else document


async def _place(runtime: Runtime, name: str, start: Mapping[str, str]) -> None:
    """Put a cell's robot where the plan begins; only this scratch house knows of it."""
    if start:
        row = await runtime.store.row("cellState", name)
        began = (await get_scene(runtime, name))["document"].get("state") or {}
        state = {"current_position": None, "current_tool": "none", **(row or began), **start}
        await runtime.log("cellStateChanged", state, owner=f"cell:{name}", scene=name, sceneId=name)


async def _prepared(runtime: Runtime, settings: Settings, plan: Plan) -> Plan:
    name = await know_scene(runtime, settings, str(plan.scene))
    return await (await craft_of(runtime, name)).prepare(plan)


async def know_scene(runtime: Runtime, settings: Settings, scene: str) -> str:
    """Make sure that a scratch house knows a scene: as the home does, else as an example or a file has it; its name."""
    if await runtime.store.row("scene", scene) is not None:
        return scene
    document, state = await _from_home(settings, scene)
    if document is None:
        document = await find_scene(settings, scene)
        if isinstance(document, dict) and isinstance(document.get("name"), str):
            _, state = await _from_home(settings, document["name"])
    name = str((await save_scene(runtime, None, document))["name"])
    if state is not None:
        await runtime.log("cellStateChanged", state, owner=f"cell:{name}", scene=name, sceneId=name)
    return name


async def _from_home(settings: Settings, scene: str) -> tuple[Any, dict[str, Any] | None]:
    """What the home knows of a scene: its document and its robot's state; nothing where there is no home."""
    if not store_exists(settings.database):
        return None, None
    try:
        async with open_runtime(settings, lead=False, with_servers=False) as home:
            row = await home.store.row("scene", scene)
            return (None if row is None else row["document"]), await home.store.row("cellState", scene)
    except UnavailableError:
        return None, None


async def check_scene_document(settings: Settings, document: Any) -> tuple[dict[str, Any], list[Problem]]:
    """A scene's document in its normal form and what is odd about it; BadInputError with every problem."""
    async with open_dry_run(settings, with_servers=False) as runtime:
        checked = check_scene(runtime.crafts, document)
        return checked, runtime.crafts[checked["kind"]].warnings(checked)
