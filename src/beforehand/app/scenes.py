"""Scenes: what plans work in. Saved, checked and made live by name; the examples come with the package."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from beforehand.app.craft import Answering, Scenes
from beforehand.app.documents import parse
from beforehand.app.examples import example_files, find_document, no_scene
from beforehand.app.holds import standing_still
from beforehand.app.not_live import all_with_live, closing, reason_for, tell, with_live
from beforehand.app.runtime import Runtime
from beforehand.loop.asked import preparing
from beforehand.model.decision import Decision
from beforehand.model.errors import BadInputError, ConflictError, ForeignError, NotFoundError, NotLeadingError
from beforehand.model.event import Event, iso
from beforehand.model.reason import Problem, UnknownName, name_list, unknown
from beforehand.ports.foreign import contained, guarded, is_ours, started, why
from beforehand.ports.log import Log

log = Log("beforehand.scenes")
TURN = "scenes"
"""The name of the one turn in which scenes become live or rest."""
Answer = tuple[Decision, Answering]


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
    for craft, parts in runtime.crafts.items():
        if parts.scenes is not None and parts.scenes.kept_elsewhere is not None:
            found, others = await _looked_for(craft, parts.scenes, name_or_file)
            if found is not None:
                return found
            names |= {*others}
    raise no_scene(name_or_file, names, files=files)


async def _looked_for(craft: str, scenes: Scenes, name: str) -> tuple[Any, Sequence[str]]:
    """A scene where a craft keeps its own, else the names there; somebody else's craft that fails has none."""
    ours = is_ours(scenes.find)
    try:
        found = await started(scenes.find(name), ours=ours)
        others = scenes.kept_elsewhere() if found is None and scenes.kept_elsewhere is not None else None
        return found, () if others is None else await started(others, ours=ours)
    except Exception as error:
        if ours:
            raise
        log.error("a craft could not say which scenes it keeps", craft=craft, says=why(error))
        return None, ()


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
    with guarded(f"The check of scenes of kind {document['kind']}"):
        return scenes.check(document)


def lacks_something(runtime: Runtime, row: dict[str, Any]) -> bool:
    """Whether a scene as it was saved does not pass its check here: a plug-in or a craft is gone."""
    try:
        check_scene(runtime, row["document"])
    except (BadInputError, ForeignError):
        return True
    return False


def warnings(runtime: Runtime, checked: dict[str, Any]) -> list[Problem]:
    """What is legal in a checked scene and yet worth a look."""
    scenes = runtime.scenes_of(checked["kind"])
    if scenes is None:
        return []
    with guarded(f"Looking for what is odd in scenes of kind {checked['kind']}"):
        return scenes.warnings(checked)


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


async def activate_scene(runtime: Runtime, name: str, answer: Answer | None = None) -> dict[str, Any]:
    """Make a scene live; NotFoundError where there is none, ConflictError where its craft cannot.

    `answer` is what a person said to the decision that it is not live, where that is why it is tried again.
    """
    async with runtime.turns[TURN]:
        row = await get_scene(runtime, name)
        before = await reason_for(runtime.store, name)
        drove = name in _all_live_machines(runtime)
        try:
            with preparing():  # what its craft sees of the machines, and that they stand still while all is held
                await _enliven(runtime, row)
        except Exception as error:
            lost = drove and name not in _all_live_machines(runtime)
            if row.get("active") and (before is not None or lost) and not isinstance(error, NotLeadingError):
                with preparing():
                    await tell(runtime, name, error)
            raise
        row = await _made_live(runtime, row, answer)
    if before is not None:
        await _take_up_runs(runtime, name)
    return row


async def _enliven(runtime: Runtime, row: dict[str, Any]) -> None:
    """Have a scene's craft make it live; whatever goes wrong is told as an error of ours."""
    name, document = row["name"], row["document"]
    runtime.nursery.stopped.pop(f"{row['kind']}:{name}", None)  # what is asked about its driver is settled with it
    scenes = runtime.scenes_of(row["kind"])
    if scenes is None:
        raise ConflictError(
            f"No craft for scenes of kind {row['kind']!r} is installed.",
            code="scene.no_craft",
            hint="Install the package that brings it, then start again.",
        )
    with guarded(f"Making {name} live"):
        ours = is_ours(scenes.activate)
        _refuse_shared(runtime, name, scenes.machines(document))
        async with standing_still(runtime, name):
            await started(scenes.activate(name, document), ours=ours)


async def _made_live(runtime: Runtime, row: dict[str, Any], answer: Answer | None = None) -> dict[str, Any]:
    """Write down that what is saved is live now, where that was not so before."""
    name = row["name"]
    events = await closing(runtime, name, "It is live.", answer)
    if not row.get("active") or row.get("changed"):
        row = {**{key: value for key, value in row.items() if key != "changed"}, "active": True}
        events.insert(len(events) if answer else 0, _event(runtime, "sceneActivated", row))
    if events:
        await runtime.store.append(events)
    return row


def _event(runtime: Runtime, kind: str, row: dict[str, Any]) -> Event:
    name = row["name"]
    return runtime.event(kind, row, owner=f"scene:{name}", scene=name, sceneId=name)


async def _take_up_runs(runtime: Runtime, name: str) -> None:
    """The runs that waited for a scene go on, where this process drives runs."""
    from beforehand.app.runs import take_up_runs

    if runtime.serves and runtime.run_host is not None:
        await take_up_runs(runtime, scene=name)


async def refuse_shared(runtime: Runtime, name: str) -> None:
    """ConflictError where making a scene live would put a machine into two of them."""
    row = await get_scene(runtime, name)
    scenes = runtime.scenes_of(row["kind"])
    if scenes is not None:
        with guarded(f"Naming the machines of {name}"):
            machines = scenes.machines(row["document"])
        _refuse_shared(runtime, name, machines)


def _refuse_shared(runtime: Runtime, name: str, machines: Mapping[str, str]) -> None:
    """ConflictError where another live scene names one of these machines: two would send commands to one."""
    for other, theirs in _all_live_machines(runtime).items():
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


def _all_live_machines(runtime: Runtime) -> dict[str, Mapping[str, str]]:
    """The machines of every live scene, as far as their crafts say."""
    found: dict[str, Mapping[str, str]] = {}
    for craft, parts in runtime.crafts.items():
        try:
            with contained():
                found |= parts.scenes.live_machines() if parts.scenes else {}
        except Exception as error:  # somebody else's code: it must not keep the scenes of others from being made live
            log.error("a craft could not say what is live", craft=craft, says=why(error))
    return found


async def deactivate_scene(runtime: Runtime, name: str, answer: Answer | None = None) -> dict[str, Any]:
    """Let a scene rest; it stays kept. ConflictError while a run or something else goes on in it.

    One that is not live rests whatever its craft says, and where its craft is gone.
    """
    async with runtime.turns[TURN]:
        row = await get_scene(runtime, name)
        await _refuse_running(runtime, name)
        with preparing():
            await _let_rest(runtime, row)
        events = await closing(runtime, name, "The scene rests.", answer)
        if row.get("active"):
            row = {**{key: value for key, value in row.items() if key != "changed"}, "active": False}
            events.append(_event(runtime, "sceneDeactivated", row))
        if events:
            await runtime.store.append(events)
    return row


async def _let_rest(runtime: Runtime, row: dict[str, Any]) -> None:
    name, scenes = row["name"], runtime.scenes_of(row["kind"])
    if scenes is None:
        return
    try:
        with guarded(f"Letting {name} rest"):
            await started(scenes.deactivate(name), ours=is_ours(scenes.deactivate))
    except ForeignError as error:
        if await reason_for(runtime.store, name) is None:
            raise
        log.error("the craft of a scene that is not live could not let it rest", scene=name, says=error.says)


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
    """After a start: make everything live that was. What cannot be stays active, and a person hears why."""
    for row in await runtime.store.rows("scene", open=True):
        async with runtime.turns[TURN]:
            try:
                await _enliven(runtime, row)
                await _made_live(runtime, row)
            except NotLeadingError:
                raise
            except Exception as error:  # a craft, a plug-in, something outside: the others are made live all the same
                await tell(runtime, row["name"], error)


async def should_be_live(runtime: Runtime, name: str) -> None:
    """Make a scene live that somebody wants live whatever happens: where a plug-in keeps it from that, it is active."""
    try:
        await activate_scene(runtime, name)
    except ForeignError as error:
        row = await get_scene(runtime, name)
        if not row.get("active"):
            await runtime.store.append([_event(runtime, "sceneActivated", {**row, "active": True})])
        await tell(runtime, name, error)


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
    """The scenes this home knows, without their documents, each with whether it is live."""
    return await all_with_live(runtime.store, [scene_head(row) for row in await runtime.store.rows("scene")])


async def shown_scene(runtime: Runtime, row: dict[str, Any]) -> dict[str, Any]:
    """A scene with its document and whether it is live."""
    return await with_live(runtime.store, row)


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
