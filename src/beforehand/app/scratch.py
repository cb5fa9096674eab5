"""A house for looking only: the same tools and crafts, with a log in a temporary folder.

Checks and previews work in it, so that they never write to the home and do not even create it. What the home knows of
a scene (its document, where its robot stands) is copied in; nothing is made live.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from beforehand.app.house import House, open_house
from beforehand.app.plans import craft_of, preview, problems_of
from beforehand.app.scenes import check_scene, find_document, save_scene
from beforehand.app.settings import Settings
from beforehand.engine.validate import check_document, invalid_plan
from beforehand.model.errors import UnavailableError
from beforehand.model.plan import Plan
from beforehand.model.reason import Problem


@asynccontextmanager
async def open_scratch(settings: Settings, *, with_servers: bool = True) -> AsyncIterator[House]:
    """A house whose log is thrown away; the home's own files stay closed to file tools as ever."""
    with TemporaryDirectory(prefix="beforehand-") as folder:
        values = {**settings.values, "db": str(Path(folder) / "scratch.db")}
        async with open_house(replace(settings, values=values), with_servers=with_servers) as house:
            yield house


async def check_plan(settings: Settings, document: Any, scene: str | None = None) -> tuple[Plan, list[Problem]]:
    """The plan in a document and everything that is wrong with it."""
    async with open_scratch(settings) as house:
        document = await for_scene(house, settings, document, scene)
        plan, problems = check_document(document, house.catalog)
        if not problems and plan.scene is not None:
            plan = await _prepared(house, settings, plan)
            problems = await problems_of(house, plan)
        return plan, problems


async def preview_document(settings: Settings, document: Any, scene: str | None = None) -> dict[str, Any]:
    """What the plan in a document would do; BadInputError with every problem when it is not valid."""
    async with open_scratch(settings) as house:
        document = await for_scene(house, settings, document, scene)
        plan, problems = check_document(document, house.catalog)
        if problems:
            raise invalid_plan(problems)
        if plan.scene is not None:
            plan = await _prepared(house, settings, plan)
        return await preview(house, plan)


async def for_scene(house: House, settings: Settings, document: Any, scene: str | None) -> Any:
    """The document as a plan for that scene; a list of atomic steps becomes one."""
    if scene is None:
        return document
    from beforehand.app.cells import plan_document

    name = await know_scene(house, settings, scene)
    document = plan_document(document, name)
    return {**document, "scene": name} if isinstance(document, Mapping) else document


async def _prepared(house: House, settings: Settings, plan: Plan) -> Plan:
    name = await know_scene(house, settings, str(plan.scene))
    return await (await craft_of(house, name)).prepare(plan)


async def know_scene(house: House, settings: Settings, scene: str) -> str:
    """Make sure that a scratch house knows a scene: as the home does, else as an example or a file has it; its name."""
    from beforehand.app.crafts import register_crafts

    if not house.crafts:
        register_crafts(house)
    if await house.store.row("scene", scene) is not None:
        return scene
    document, state = await _from_home(settings, scene)
    saved = await save_scene(house, None, find_document(scene) if document is None else document)
    name = str(saved["name"])
    if state is not None:
        await house.log("cellStateChanged", state, owner=f"cell:{name}", scene=name, sceneId=name)
    return name


async def _from_home(settings: Settings, scene: str) -> tuple[Any, dict[str, Any] | None]:
    try:
        async with open_house(settings, lead=False, with_servers=False) as home:
            row = await home.store.row("scene", scene)
            return (None if row is None else row["document"]), await home.store.row("cellState", scene)
    except UnavailableError:
        return None, None


async def check_scene_document(settings: Settings, document: Any) -> dict[str, Any]:
    """A scene's document in its normal form; BadInputError with every problem."""
    from beforehand.app.crafts import register_crafts

    async with open_scratch(settings, with_servers=False) as house:
        register_crafts(house)
        return check_scene(house.crafts, document)
