"""A house for looking only: the same tools and crafts, with a log in a temporary folder.

Checks and previews work in it, so that they never write to the home and do not even create it.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from beforehand.app.house import House, open_house
from beforehand.app.plans import preview, problems_of
from beforehand.app.scenes import find_document, save_scene
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
        document = await in_scene(house, settings, document, scene)
        plan, problems = check_document(document, house.catalog)
        if not problems and plan.scene is not None:
            await know_scene(house, settings, plan.scene)
            problems = await problems_of(house, plan)
        return plan, problems


async def preview_document(settings: Settings, document: Any, scene: str | None = None) -> dict[str, Any]:
    """What the plan in a document would do; BadInputError with every problem when it is not valid."""
    async with open_scratch(settings) as house:
        document = await in_scene(house, settings, document, scene)
        plan, problems = check_document(document, house.catalog)
        if problems:
            raise invalid_plan(problems)
        if plan.scene is not None:
            await know_scene(house, settings, plan.scene)
        return await preview(house, plan)


async def in_scene(house: House, settings: Settings, document: Any, scene: str | None) -> Any:
    """The document as one for that scene."""
    if scene is None or not isinstance(document, Mapping):
        return document
    return {**document, "scene": await know_scene(house, settings, scene)}


async def know_scene(house: House, settings: Settings, scene: str) -> str:
    """Make sure that the house knows a scene: from its own log, the home's, the examples or a file; its name."""
    if await house.store.row("scene", scene) is not None:
        return scene
    document = await _from_home(settings, scene) if house.settings.database != settings.database else None
    saved = await save_scene(house, None, find_document(scene) if document is None else document, activate=True)
    return str(saved["name"])


async def _from_home(settings: Settings, scene: str) -> Any:
    try:
        async with open_house(settings, lead=False, with_servers=False) as home:
            row = await home.store.row("scene", scene)
            return None if row is None else row["document"]
    except UnavailableError:
        return None
