"""Scenes: what the house works in. Saved, checked and made live by name; the examples come with the package."""

import hashlib
import re
from pathlib import Path
from typing import Any

import structlog

from beforehand.app.documents import read_file
from beforehand.app.runtime import Runtime
from beforehand.model.errors import BadInputError, BeforehandError, ConflictError, NotFoundError
from beforehand.model.event import iso
from beforehand.model.reason import name_list, nearest_names

log = structlog.get_logger("beforehand.scenes")
_HERE = Path(__file__).resolve()
_PLACES = (_HERE.parents[1] / "scenes", _HERE.parents[3] / "scenes")
"""Inside an installed package, and beside the source."""


def example_files() -> dict[str, Path]:
    """The example scenes that come with the package, by name."""
    found: dict[str, Path] = {}
    for folder in _PLACES:
        for path in sorted(folder.glob("*.yaml")):
            found.setdefault(path.stem, path)
    return found


def find_document(name_or_file: str) -> Any:
    """The document of an example scene by name, or of a file."""
    examples = example_files()
    if name_or_file in examples:
        return read_file(str(examples[name_or_file]))
    if name_or_file == "-" or "/" in name_or_file or "." in name_or_file or Path(name_or_file).exists():
        return read_file(name_or_file, odd_numbers=True)
    nearest = nearest_names(name_or_file, examples)
    raise NotFoundError(
        f"There is no scene {name_or_file!r}, and no such file; scenes: {name_list(nearest)}.",
        code="scene.unknown",
        nearest=nearest,
    )


def home_file(home: Path, folder: str, scene: str) -> Path:
    """The file in the home that a scene's simulator keeps; whatever a scene is called, it stays in its folder."""
    plain = re.fullmatch(r"\w[\w-]{0,99}", scene, re.ASCII) is not None
    return home / folder / f"{scene if plain else hashlib.sha256(scene.encode()).hexdigest()[:32]}.json"


def check_scene(house_crafts: Any, document: Any) -> dict[str, Any]:
    """A scene's document in its normal form; BadInputError with every problem."""
    kinds = sorted(house_crafts)
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        raise BadInputError(f"A scene is an object with `kind`, one of {name_list(kinds)}.", code="scene.shape")
    craft = house_crafts.get(document["kind"])
    if craft is None:
        raise BadInputError(
            f"There is no kind of scene {document['kind']!r}; there is {name_list(kinds)}.",
            code="scene.kind",
            nearest=kinds,
        )
    checked: dict[str, Any] = craft.check_scene(document)
    return checked


async def save_scene(runtime: Runtime, name: str | None, document: Any, *, activate: bool = False) -> dict[str, Any]:
    """Keep a scene under its name; an active one goes on with the new document only when activated again."""
    checked = check_scene(runtime.crafts, document)
    if name is not None and checked.get("name") != name:
        raise BadInputError(f"The scene calls itself {checked.get('name')!r}, not {name!r}.", code="scene.name")
    name = str(checked["name"])
    old = await runtime.store.row("scene", name)
    if old is not None and old["kind"] != checked["kind"]:
        raise ConflictError(
            f"{name} is a scene of kind {old['kind']} already and stays one.",
            code="scene.kind_changed",
            hint="Give the new scene another name.",
        )
    data = {
        "name": name,
        "kind": checked["kind"],
        "active": bool(old and old.get("active")),
        "document": checked,
        "savedAt": iso(runtime.now()),
    }
    if old is None or old["document"] != checked:
        await runtime.log("sceneSaved", data, owner=f"scene:{name}", scene=name, sceneId=name)
    if activate:
        return await activate_scene(runtime, name)
    return data


async def activate_scene(runtime: Runtime, name: str) -> dict[str, Any]:
    """Make a scene live."""
    row = await get_scene(runtime, name)
    craft = runtime.crafts[row["kind"]]
    await craft.activate(name, row["document"])
    if not row.get("active"):
        row = {**row, "active": True}
        await runtime.log("sceneActivated", row, owner=f"scene:{name}", scene=name, sceneId=name)
    return row


async def recover_scenes(runtime: Runtime) -> None:
    """After a start: make everything live that was."""
    for row in await runtime.store.rows("scene", open=True):
        if row["kind"] in runtime.crafts:
            try:
                await runtime.crafts[row["kind"]].activate(row["name"], row["document"])
            except BeforehandError as error:  # a graph that does not answer: this scene stands still, the rest goes on
                log.error("a scene could not be made live", scene=row["name"], says=error.says)


async def get_scene(runtime: Runtime, name: str) -> dict[str, Any]:
    row = await runtime.store.row("scene", name)
    if row is None:
        nearest = nearest_names(name, [found["name"] for found in await runtime.store.rows("scene")])
        raise NotFoundError(
            f"There is no scene {name!r}; known: {name_list(nearest)}.", code="scene.unknown", nearest=nearest
        )
    return row


async def list_scenes(runtime: Runtime) -> list[dict[str, Any]]:
    """The scenes the house knows, without their documents."""
    rows = await runtime.store.rows("scene")
    return [{key: row[key] for key in ("name", "kind", "active", "savedAt")} for row in rows]
