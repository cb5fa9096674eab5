"""A house for looking only: the same tools and crafts, with a log in a temporary folder.

Checks and previews work in it, so that they never write to the home and do not even create it. What the home knows of
a scene (its document, where its robot stands) is copied in; nothing is made live.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from beforehand.app.cell_plans import atomic_steps, claims, scene_in
from beforehand.app.cells import cells_of
from beforehand.app.craft import PlanRequest
from beforehand.app.crafts import register_crafts
from beforehand.app.graphs import find_scene
from beforehand.app.house import House, open_house
from beforehand.app.plans import craft_of, preview, problems_of
from beforehand.app.scenes import check_scene, get_scene, save_scene
from beforehand.app.settings import Settings
from beforehand.engine.validate import check_document, invalid_plan
from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.model.plan import Plan
from beforehand.model.reason import Problem


@asynccontextmanager
async def open_scratch(settings: Settings, *, with_servers: bool = True) -> AsyncIterator[House]:
    """A house whose log is thrown away; the home's own files stay closed to file tools as ever."""
    with TemporaryDirectory(prefix="beforehand-") as folder:
        values = {**settings.values, "db": str(Path(folder) / "scratch.db")}
        async with open_house(replace(settings, values=values), with_servers=with_servers) as house:
            register_crafts(house)
            yield house


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
    async with open_scratch(settings) as house:
        try:
            document = await for_scene(house, settings, document, scene, start)
        except BadInputError as error:
            if error.code != "plan.invalid":
                raise
            return Checked(len(atomic_steps(document) or ()), list(error.problems))
        plan, problems = check_document(document, house.catalog)
        if not problems:
            plan = await _prepared(house, settings, plan) if plan.scene is not None else plan
            problems = await problems_of(house, plan)
        return Checked(len(plan.steps), problems, None if problems else await _end(house, plan))


async def _end(house: House, plan: Plan) -> dict[str, Any] | None:
    if plan.scene is None or (await craft_of(house, plan.scene)).kind != "cell":
        return None
    end: dict[str, Any] | None = (await preview(house, plan)).get("end")
    return end


async def preview_document(
    settings: Settings, document: Any, scene: str | None = None, start: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """What the plan in a document would do, and the scene it is for; BadInputError when it is not valid."""
    async with open_scratch(settings) as house:
        document = await for_scene(house, settings, document, scene, start, only_look=True)
        plan, problems = check_document(document, house.catalog)
        if problems:
            raise invalid_plan(problems)
        if plan.scene is None:
            return await preview(house, plan), None
        plan = await _prepared(house, settings, plan)
        return await preview(house, plan), (await get_scene(house, str(plan.scene)))["document"]


async def draft_plan(settings: Settings, request: PlanRequest) -> Plan:
    """The plan a scene's craft makes of what somebody wants; it may be without steps, and nothing keeps it."""
    async with open_scratch(settings, with_servers=False) as house:
        name = await know_scene(house, settings, request.scene)
        return await (await craft_of(house, name)).draft(replace(request, scene=name))


async def cell_state(settings: Settings, scene: str) -> dict[str, Any]:
    """Where a cell's robot stands and what it holds: by the home's log, else as its scene begins."""
    async with open_scratch(settings, with_servers=False) as house:
        name = await know_scene(house, settings, scene)
        shown = await cells_of(house).state_document(name)
        del shown["active"]  # here nothing is live; whoever leads the home knows
        return shown


async def scene_document(settings: Settings, scene: str) -> Any:
    """A scene as the home has it, else as an example or a file does."""
    document, _ = await _from_home(settings, scene)
    return await find_scene(settings, scene) if document is None else document


async def for_scene(
    house: House,
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
    name = await know_scene(house, settings, named)
    craft = await craft_of(house, name)
    if craft.kind == "cell":
        await _place(house, name, {**claims(document).get("world", {}), **(start or {})})
    document = await craft.take_in(document, name, only_look=only_look)
    return {**document, "scene": name} if isinstance(document, Mapping) else document


async def _place(house: House, name: str, start: Mapping[str, str]) -> None:
    """Put a cell's robot where the plan begins; only this scratch house knows of it."""
    if start:
        row = await house.store.row("cellState", name)
        began = (await get_scene(house, name))["document"].get("state") or {}
        state = {"current_position": None, "current_tool": "none", **(row or began), **start}
        await house.log("cellStateChanged", state, owner=f"cell:{name}", scene=name, sceneId=name)


async def _prepared(house: House, settings: Settings, plan: Plan) -> Plan:
    name = await know_scene(house, settings, str(plan.scene))
    return await (await craft_of(house, name)).prepare(plan)


async def know_scene(house: House, settings: Settings, scene: str) -> str:
    """Make sure that a scratch house knows a scene: as the home does, else as an example or a file has it; its name."""
    if await house.store.row("scene", scene) is not None:
        return scene
    document, state = await _from_home(settings, scene)
    if document is None:
        document = await find_scene(settings, scene)
        if isinstance(document, dict) and isinstance(document.get("name"), str):
            _, state = await _from_home(settings, document["name"])
    name = str((await save_scene(house, None, document))["name"])
    if state is not None:
        await house.log("cellStateChanged", state, owner=f"cell:{name}", scene=name, sceneId=name)
    return name


async def _from_home(settings: Settings, scene: str) -> tuple[Any, dict[str, Any] | None]:
    """What the home knows of a scene: its document and its robot's state; nothing where there is no home."""
    if not settings.database.exists():
        return None, None
    try:
        async with open_house(settings, lead=False, with_servers=False) as home:
            row = await home.store.row("scene", scene)
            return (None if row is None else row["document"]), await home.store.row("cellState", scene)
    except UnavailableError:
        return None, None


async def check_scene_document(settings: Settings, document: Any) -> tuple[dict[str, Any], list[Problem]]:
    """A scene's document in its normal form and what is odd about it; BadInputError with every problem."""
    async with open_scratch(settings, with_servers=False) as house:
        checked = check_scene(house.crafts, document)
        return checked, house.crafts[checked["kind"]].warnings(checked)
