"""Scenes: what plans work in. Saved, checked and made live by name; the examples come with the package."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beforehand.app.documents import parse
from beforehand.app.examples import example_files, find_document, no_scene
from beforehand.app.holds import standing_still
from beforehand.app.runtime import Runtime
from beforehand.loop.asked import preparing
from beforehand.model.errors import BadInputError, BeforehandError, ConflictError, NotFoundError
from beforehand.model.event import iso
from beforehand.model.reason import Problem, UnknownName, name_list, unknown
from beforehand.ports.log import Log

log = Log("beforehand.scenes")
TURN = "scenes"
"""The name of the one turn in which scenes become live or rest."""


async def find_anywhere(runtime: Runtime, name_or_file: str, *, files: bool = True) -> Any:
    """A scene's document: an example's or a file's, else from where a craft keeps them.

    `files` false opens no file. Raises NotFoundError with the names there are.
    """
    try:
        return find_document(name_or_file, files=files)
    except NotFoundError as error:
        if error.code != "scene.unknown":
            raise
    names = set(example_files())
    for parts in runtime.crafts.values():
        if parts.scenes is not None and parts.scenes.kept_elsewhere is not None:
            found = await parts.scenes.find(name_or_file)
            if found is not None:
                return found
            names |= {*await parts.scenes.kept_elsewhere()}
    raise no_scene(name_or_file, names, files=files)


def home_file(home: Path, folder: str, scene: str) -> Path:
    """The file in the home that a scene's simulator keeps; whatever a scene is called, it stays in its folder."""
    plain = re.fullmatch(r"\w[\w-]{0,99}", scene, re.ASCII) is not None
    return home / folder / f"{scene if plain else hashlib.sha256(scene.encode()).hexdigest()[:32]}.json"


def check_scene(runtime: Runtime, document: Any) -> dict[str, Any]:
    """A scene's document in its normal form; BadInputError with every problem."""
    kinds = runtime.scene_kinds
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        raise BadInputError(f"A scene is an object with `kind`, one of {name_list(kinds)}.", code="scene.shape")
    scenes = runtime.scenes_of(document["kind"])
    if scenes is None:
        raise BadInputError.unknown(
            "kind of scene", document["kind"], kinds, code="scene.kind", plural="kinds of scenes"
        )
    return scenes.check(document)


def warnings(runtime: Runtime, checked: dict[str, Any]) -> list[Problem]:
    """What is legal in a checked scene and yet worth a look."""
    scenes = runtime.scenes_of(checked["kind"])
    return [] if scenes is None else scenes.warnings(checked)


def findings(runtime: Runtime, document: Any) -> dict[str, Any]:
    """Everything that is wrong with a scene's document and what is odd about it; nothing is kept.

    A text is read as YAML or JSON first.
    """
    try:
        document = parse(document, "The scene") if isinstance(document, str) else document
        checked = check_scene(runtime, document)
    except BadInputError as error:
        problems = error.problems or [Problem(code=error.code, about="", says=error.says, nearest=error.nearest)]
        return {"ok": False, **_named(document), "problems": [one.wire() for one in problems], "warnings": []}
    odd = [warning.wire() for warning in warnings(runtime, checked)]
    summary = {name: len(items) for name, items in checked.items() if isinstance(items, list)}
    return {"ok": True, **_named(checked), "summary": summary, "problems": [], "warnings": odd}


def _named(document: Any) -> dict[str, str]:
    """The kind and name a document says it has, as far as it says so."""
    said = document if isinstance(document, dict) else {}
    return {name: said[name][:200] for name in ("kind", "name") if isinstance(said.get(name), str)}


async def save_scene(runtime: Runtime, name: str | None, document: Any, *, activate: bool = False) -> dict[str, Any]:
    """Keep a scene under its name; an active one goes on with the new document only when activated again.

    A text is read as YAML or JSON first. Raises BadInputError for a wrong document or name, ConflictError where the
    name is a scene of another kind.
    """
    document = parse(document, "The scene") if isinstance(document, str) else document
    checked = check_scene(runtime, document)
    if name is not None and checked.get("name") != name:
        raise BadInputError(f"The scene calls itself {checked.get('name')!r}, not {name!r}.", code="scene.name")
    name = str(checked["name"])
    old = await runtime.store.row("scene", name)
    if old is not None and old["kind"] != checked["kind"]:
        raise ConflictError(
            f"{name} is a scene of kind {old['kind']} already, and its kind cannot change.",
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
    if old is not None and (old.get("changed") or (old.get("active") and old["document"] != checked)):
        data["changed"] = True
    if old is None or old["document"] != checked:
        await runtime.log("sceneSaved", data, owner=f"scene:{name}", scene=name, sceneId=name)
    if activate:
        return await activate_scene(runtime, name)
    return data


async def activate_scene(runtime: Runtime, name: str) -> dict[str, Any]:
    """Make a scene live; NotFoundError where there is none, ConflictError where its craft cannot."""
    async with runtime.turns[TURN]:
        row = await get_scene(runtime, name)
        scenes = runtime.scenes_of(row["kind"])
        if scenes is None:
            raise ConflictError(f"No craft for scenes of kind {row['kind']!r} is installed.", code="scene.no_craft")
        _refuse_shared(runtime, name, scenes.machines(row["document"]))
        with preparing():  # what its craft sees of the machines, and that they stand still while everything is held
            async with standing_still(runtime, name):
                await scenes.activate(name, row["document"])
        return await _made_live(runtime, row)


async def _made_live(runtime: Runtime, row: dict[str, Any]) -> dict[str, Any]:
    """Write down that what is saved is live now, where that was not so before."""
    if row.get("active") and not row.get("changed"):
        return row
    name = row["name"]
    row = {**{key: value for key, value in row.items() if key != "changed"}, "active": True}
    await runtime.log("sceneActivated", row, owner=f"scene:{name}", scene=name, sceneId=name)
    return row


async def refuse_shared(runtime: Runtime, name: str) -> None:
    """ConflictError where making a scene live would put a machine into two of them."""
    row = await get_scene(runtime, name)
    scenes = runtime.scenes_of(row["kind"])
    if scenes is not None:
        _refuse_shared(runtime, name, scenes.machines(row["document"]))


def _refuse_shared(runtime: Runtime, name: str, machines: Mapping[str, str]) -> None:
    """ConflictError where another live scene names one of these machines: two would send commands to one."""
    for parts in runtime.crafts.values():
        for other, theirs in parts.scenes.live_machines().items() if parts.scenes else ():
            shared = sorted(machines.keys() & theirs.keys())
            if other != name and shared:
                first = shared[0]
                raise ConflictError(
                    f"{machines[first]} of {name} is the machine that {other} knows as {theirs[first]} ({first}). "
                    "A machine is in one active scene at a time.",
                    code="machine.shared",
                    hint=f"Deactivate {other} first, or take the machine out of one of them.",
                    extra={"scene": other, "machines": shared},
                )


async def deactivate_scene(runtime: Runtime, name: str) -> dict[str, Any]:
    """Let a scene rest; it stays kept. ConflictError while a run or something else goes on in it."""
    async with runtime.turns[TURN]:
        row = await get_scene(runtime, name)
        scenes = runtime.scenes_of(row["kind"])
        await _refuse_running(runtime, name)
        if scenes is not None:
            with preparing():
                await scenes.deactivate(name)
        if row.get("active"):
            row = {**{key: value for key, value in row.items() if key != "changed"}, "active": False}
            await runtime.log("sceneDeactivated", row, owner=f"scene:{name}", scene=name, sceneId=name)
    return row


async def _refuse_running(runtime: Runtime, name: str) -> None:
    runs = [run["runId"] for run in await runtime.store.rows("run", open=True) if run.get("scene") == name]
    if runs:
        raise ConflictError(
            f"The run {runs[0]} works in {name} and has not ended.",
            code="scene.in_use",
            hint="Let it end, or cancel it, then deactivate the scene.",
            extra={"runs": runs},
        )


async def recover_scenes(runtime: Runtime) -> None:
    """After a start: make everything live that was."""
    for row in await runtime.store.rows("scene", open=True):
        scenes = runtime.scenes_of(row["kind"])
        if scenes is not None:
            try:
                _refuse_shared(runtime, row["name"], scenes.machines(row["document"]))
                async with standing_still(runtime, row["name"]):
                    await scenes.activate(row["name"], row["document"])
                await _made_live(runtime, row)
            except BeforehandError as error:  # something outside does not answer: this scene stands still
                log.error("a scene could not be made live", scene=row["name"], says=error.says)


async def get_scene(runtime: Runtime, name: str) -> dict[str, Any]:
    """A scene with its document; NotFoundError with the names there are."""
    row = await runtime.store.row("scene", name)
    if row is None:
        raise NotFoundError.unknown("scene", name, await _names(runtime))
    return row


async def scene_row(runtime: Runtime, name: str) -> dict[str, Any]:
    """The same for a name inside a document that was given: an unknown one is a BadInputError."""
    row = await runtime.store.row("scene", name)
    if row is None:
        raise BadInputError.unknown("scene", name, await _names(runtime))
    return row


async def _names(runtime: Runtime, kind: str | None = None) -> list[str]:
    return [row["name"] for row in await runtime.store.rows("scene") if kind in (None, row["kind"])]


async def scene_names(runtime: Runtime, kind: str) -> list[str]:
    """The names of all scenes of a kind."""
    return await _names(runtime, kind)


async def no_scene_of(runtime: Runtime, kind: str, name: object) -> UnknownName:
    """A name that is no scene of a kind, told: as unknown, or as what it is instead."""
    told = unknown(kind, name, await _names(runtime, kind))
    row = await runtime.store.row("scene", name) if isinstance(name, str) else None
    if row is None:
        return told
    choice = f"Scenes of kind {kind}: {name_list(told.nearest)}." if told.nearest else f"Name one of kind {kind}."
    return UnknownName(f"{name} is a scene of kind {row['kind']}, not {kind}. {choice}", told.nearest)


async def list_scenes(runtime: Runtime) -> list[dict[str, Any]]:
    """The scenes this home knows, without their documents."""
    return [scene_head(row) for row in await runtime.store.rows("scene")]


def scene_head(row: dict[str, Any]) -> dict[str, Any]:
    """A scene without its document."""
    return {key: row[key] for key in ("name", "kind", "active", "savedAt", "changed") if key in row}


# -- making sure that a scene is there ----------------------------------------------------------------------------


async def known_scene(runtime: Runtime, name: str) -> str:
    """The name of a scene that was saved before."""
    return str((await scene_row(runtime, name))["name"])


async def saved_scene(runtime: Runtime, name_or_file: str, *, files: bool = True) -> str:
    """The name of a scene, saved now from an example, a file or another place where nobody knew it."""
    if await runtime.store.row("scene", name_or_file) is not None:
        return name_or_file
    return str((await save_scene(runtime, None, await find_anywhere(runtime, name_or_file, files=files)))["name"])


async def named_scene(runtime: Runtime, name: str) -> str:
    """The same for callers who may not read this machine's files: no file is opened, whatever they name."""
    return await saved_scene(runtime, name, files=False)


async def live_scene(runtime: Runtime, name_or_file: str) -> str:
    """The same, made live."""
    return str((await activate_scene(runtime, await saved_scene(runtime, name_or_file)))["name"])
