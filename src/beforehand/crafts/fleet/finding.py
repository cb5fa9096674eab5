"""Finding things in fleets by name, and why they stand still: over states, whether live or read from the log."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from beforehand.app.not_live import reasons
from beforehand.crafts.fleet.core.state import FleetState
from beforehand.crafts.fleet.not_live import held_for
from beforehand.model.errors import ConflictError, ForeignError, NotFoundError
from beforehand.model.reason import Reason, name_list
from beforehand.ports.foreign import guarded
from beforehand.ports.store import Store

States = Mapping[str, FleetState]
"""The fleets somebody looks at, by the name of their scene."""
ASKED = ("robots", "tasks", "streams")
_COMMAND = re.compile(r"`(beforehand (?:robots|tasks|streams|worksites) [^`]+)`")


def refuse_inactive(states: States, scene: str) -> None:
    if scene not in states:
        raise NotFoundError.unknown("active fleet", scene, states, code="fleet.inactive")


def scene_of(states: States, kinds: tuple[str, ...], name: str, scene: str | None) -> str:
    """The scene that has this robot, worksite, stream or task; a name in several of them is a conflict."""
    if scene is not None:
        refuse_inactive(states, scene)
    asked = {where: state for where, state in states.items() if scene is None or where == scene}
    owners = [where for where, state in asked.items() if any(name in getattr(state, kind) for kind in kinds)]
    if len(owners) > 1:
        raise ConflictError(
            f"{name} is in several scenes: {name_list(owners)}. Say which one is meant (?scene= or --scene).",
            code="fleet.ambiguous",
            nearest=owners,
            extra={"scenes": owners},
        )
    if owners:
        return owners[0]
    known = [item for state in asked.values() for kind in kinds for item in _names(state, kind)]
    if len(kinds) == 1:
        raise NotFoundError.unknown(kinds[0][:-1], name, known)
    what = " or ".join(kind[:-1] for kind in kinds)
    raise NotFoundError.unknown(what, name, known, code="fleet.unknown", plural="names")


def _names(state: FleetState, kind: str) -> list[str]:
    """The names worth offering: of tasks only the open ones, unless there is none."""
    return list(state.open_tasks or state.tasks) if kind == "tasks" else list(getattr(state, kind))


def why_one(states: States, name: str, scene: str | None, now_ms: int, kinds: tuple[str, ...] = ASKED) -> list[Reason]:
    """Why a robot, task or stream does what it does."""
    from beforehand.crafts.fleet.core.why import why

    where = scene_of(states, kinds, name, scene)
    return [_with_scene(states, where, reason) for reason in why(states[where], name, now_ms, kinds)]


def why_all(states: States, scene: str | None, now_ms: int) -> list[Reason]:
    """Everything that stands still and why: robots without work, tasks that wait, streams with nothing to move."""
    if scene is not None:
        refuse_inactive(states, scene)
    found: dict[tuple[str, str, str], Reason] = {}
    for where in states if scene is None else (scene,):
        for told in _everything(states[where], now_ms):
            for reason in told:
                says = f"In {where}: {reason.says}" if scene is None and _is_shared(states, reason) else reason.says
                told_apart = reason.model_copy(update={"says": says})
                found[where, reason.code, reason.about] = _with_scene(states, where, told_apart)
    return list(found.values())


def _everything(state: FleetState, now_ms: int) -> Iterable[Sequence[Reason]]:
    """Why things stand still in one fleet; a stream kind of a plug-in that breaks when asked is told instead."""
    from beforehand.crafts.fleet.core.why import why_everything

    name = state.scene.name
    try:
        with guarded(f"Saying why things stand still in {name}"):
            return why_everything(state, now_ms).values()
    except ForeignError as error:
        return [[Reason(code=error.code, about=name, says=error.says, try_next=error.hint)]]


def why_shown(
    states: States,
    not_live: Mapping[str, Reason],
    name: str | None,
    scene: str | None,
    now_ms: int,
    kinds: tuple[str, ...],
) -> list[Reason]:
    """The same of what is live and of what should be: all of a fleet that is not live has that reason."""
    if name is not None:
        if name in not_live and scene in (None, name):
            return [not_live[name]]
        where = scene_of(states, kinds, name, scene)
        if where in not_live:
            return [not_live[where].model_copy(update={"about": name})]
        with guarded(f"Saying why {name} stands still"):
            return why_one(states, name, scene, now_ms, kinds)
    stopped = [reason for where, reason in not_live.items() if scene in (None, where)]
    if scene is not None and stopped:
        return stopped
    live = {where: state for where, state in states.items() if where not in not_live}
    return [*stopped, *why_all(live, scene, now_ms)]


def _is_shared(states: States, reason: Reason) -> bool:
    """Whether what it is about is in several scenes under that name."""
    kinds = (*ASKED, "worksites")
    return sum(any(reason.about in getattr(state, kind) for kind in kinds) for state in states.values()) > 1


def _with_scene(states: States, where: str, reason: Reason) -> Reason:
    """The reason with advice that can be followed as it stands, where a name alone would not say which is meant."""
    if not _is_shared(states, reason):
        return reason
    return reason.model_copy(update={"try_next": _COMMAND.sub(rf"`\1 --scene {where}`", reason.try_next)})


async def not_live(store: Store) -> dict[str, Reason]:
    """Why fleets that should be live are not, by their names."""
    found = await reasons(store)
    rows = {name: await store.row("scene", name) or {} for name in found}
    return {name: reason for name, reason in found.items() if rows[name].get("kind") == "fleet"}


async def states_in_log(store: Store) -> tuple[dict[str, FleetState], int]:
    """The active fleets as the log left them, and the time of its last word about any of them.

    In those that should be live and are not, what is under way is held.
    """
    from beforehand.crafts.fleet.history import left_in_log

    told = await not_live(store)
    states: dict[str, FleetState] = {}
    latest = 0
    for row in await store.rows("scene", open=True):
        found: Any = await left_in_log(store, row["name"]) if row["kind"] == "fleet" else None
        if found is not None:
            reason = told.get(row["name"])
            states[row["name"]] = found[0] if reason is None else held_for(found[0], reason)
            latest = max(latest, found[1])
    return states, latest
