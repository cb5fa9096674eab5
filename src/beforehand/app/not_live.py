"""Scenes that should be live and are not: which, why, and the one open decision that says so.

The decision is the record, so that whoever reads the log knows the same: a server that stands by, doctor, a command
without a server. It is the scene's own, of kind `not_live`, or that of a bug that stopped what drives the scene.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beforehand.app.craft import Answering
from beforehand.app.decisions import answered, opened, withdrawn
from beforehand.loop.nursery import BUG
from beforehand.model.decision import Decision, content_hash
from beforehand.model.errors import BadInputError, BeforehandError, ConflictError
from beforehand.model.event import Event, iso
from beforehand.model.reason import Reason
from beforehand.ports.foreign import why
from beforehand.ports.log import Log
from beforehand.ports.store import Store

if TYPE_CHECKING:
    from beforehand.app.runtime import Runtime

log = Log("beforehand.scenes")
NOT_LIVE = "not_live"
SCENE = "scene"
CODE = "scene.not_live"
MISSING = 3
"""How many of the plug-ins that could not be loaded are told with a scene that may lack them."""
EFFECTS = {
    "try-again": "It is made live, if nothing is in the way any more; what was under way goes on.",
    "deactivate": "It rests: nothing in it moves until somebody activates it. It stays saved.",
}


async def reasons(store: Store) -> dict[str, Reason]:
    """Why scenes that are active are not live, by their names."""
    found = [(_scene_of(row), row) for row in await store.rows("decision", open=True)]
    return {scene: _reason_of(scene, row) for scene, row in found if scene}


async def reason_for(store: Store, scene: str) -> Reason | None:
    """The same for one scene; None where it is live, or not active."""
    found = await _asked_about(store, scene)
    return _reason_of(scene, found[0]) if found else None


async def _asked_about(store: Store, scene: str) -> list[dict[str, Any]]:
    """The open decisions that say that a scene is not live; at most one, as long as nothing was cut off."""
    rows = await store.rows("decision", parent=scene, open=True)
    return [row for row in rows if _scene_of(row) == scene]


async def with_live(store: Store, row: Mapping[str, Any]) -> dict[str, Any]:
    """A scene, or its head, with `live`, and with `reason` where it is active and not live."""
    return _told(row, await reason_for(store, str(row["name"])))


async def all_with_live(store: Store, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [_told(row, await reason_for(store, str(row["name"])) if row.get("active") else None) for row in rows]


def _told(row: Mapping[str, Any], reason: Reason | None) -> dict[str, Any]:
    active = bool(row.get("active"))
    return {**row, "live": active and reason is None, **({"reason": reason.wire()} if active and reason else {})}


async def refuse_not_live(store: Store, scene: object) -> None:
    """ConflictError with the reason where a scene is active and not live."""
    reason = await reason_for(store, scene) if isinstance(scene, str) else None
    if reason is not None:
        raise ConflictError(reason.says, code=reason.code, hint=reason.try_next, extra={"reasons": [reason.wire()]})


async def reason_of_run(store: Store, head: Mapping[str, Any]) -> Reason | None:
    """Why a run cannot go on: a scene that it works in should be live and is not."""
    for scene in scenes_of_run(head):
        if (reason := await reason_for(store, scene)) is not None:
            return reason
    return None


def scenes_of_run(head: Mapping[str, Any]) -> list[str]:
    """The scenes a run works in, as far as its head says: its own, and those of the machines it holds."""
    machines = (str(machine).partition(":")[2] for machine in head.get("machines") or ())
    return [name for name in dict.fromkeys([head.get("scene"), *machines]) if name]


def _scene_of(row: Mapping[str, Any]) -> str:
    """The scene that an open decision says is not live; empty for any other decision."""
    owner, scene = str(row.get("owner", "")), str(row["about"].get("scene") or "")
    if row["kind"] == NOT_LIVE:
        return scene
    stopped = owner.removeprefix(f"{BUG}:") if row["kind"] == BUG else ""
    return scene if scene and stopped.partition(":")[2] == scene else ""


def _reason_of(scene: str, row: Mapping[str, Any]) -> Reason:
    told = row["evidence"].get("reason")
    if isinstance(told, Mapping):
        return Reason.model_validate(told)
    error = str(row["evidence"].get("error", "")).rstrip(".")
    says = f"{scene} is active and not live: what drives it stopped on an error: {error}."
    return Reason(code=CODE, about=scene, says=says, try_next=f"Answer {row['id']} in the inbox.")


# -- telling ---------------------------------------------------------------------------------------------------------


def reason_from(runtime: "Runtime", scene: str, error: Exception) -> Reason:
    """Why a scene could not be made live, from what was raised."""
    lack = "".join(f" {reason.says}" for reason in _may_lack(runtime, error)[:MISSING])
    problems = error.problems if isinstance(error, BeforehandError) else ()
    own = error.hint if isinstance(error, BeforehandError) else ""
    hint = next((problem.try_next for problem in problems if problem.try_next), own)
    says = f"{scene} is active and not live: {why(error)}{lack}"
    try_next = f"{hint or 'Correct that.'} Try again in the inbox, or deactivate the scene."
    return Reason(code=CODE, about=scene, says=says, try_next=try_next)


def _may_lack(runtime: "Runtime", error: Exception) -> list[Reason]:
    """What is missing here, where that may be why: a craft, or anything that the scene's check does not know."""
    found = runtime.extensions.reasons
    if isinstance(error, ConflictError) and error.code == "scene.no_craft":
        return [reason for reason in found if reason.code == "craft.unavailable"]
    return found if isinstance(error, BadInputError) else []


async def tell(runtime: "Runtime", scene: str, error: Exception) -> Reason:
    """A scene that is active could not be made live: a person is asked, once for each reason."""
    reason = reason_from(runtime, scene, error)
    log.error("a scene is active and not live", scene=scene, says=reason.says)
    runtime.not_live.add(scene)
    if events := await asking(runtime, reason):
        await runtime.store.append(events)
    return reason


async def asking(runtime: "Runtime", reason: Reason) -> list[Event]:
    """The events that ask about a scene; none where that is asked already."""
    covers = content_hash(reason.wire())
    before = await _open(runtime.store, reason.about)
    if any(decision.covers == covers for decision in before):
        return []
    old = "There is another reason now why it is not live."
    return [
        *(withdrawn(runtime, decision, old) for decision in before),
        opened(runtime, await _decision(runtime, reason, covers)),
    ]


async def _decision(runtime: "Runtime", reason: Reason, covers: str) -> Decision:
    scene = reason.about
    return Decision(
        id=f"{scene}-not-live-{await runtime.store.last_seq()}",
        kind=NOT_LIVE,
        owner=f"{SCENE}:{scene}",
        title=f"{scene} is active and not live",
        about={"scene": scene},
        evidence={"reason": reason.wire()},
        verbs=tuple(EFFECTS),
        effects=EFFECTS,
        if_unanswered="It stays so, and nothing new is ordered in it. It is tried again at the next start.",
        asked_by="beforehand",
        covers=covers,
        opened_at=iso(runtime.now()),
    )


def scene_stopped(decision: Decision) -> str:
    """The scene whose driver stopped on the bug that a decision is about; empty where it is about something else."""
    return _scene_of(decision.wire())


async def asking_after(runtime: "Runtime", decision: Decision) -> list[Event]:
    """The events that ask about a scene whose driver stays stopped, when the decision about that bug is answered."""
    scene = scene_stopped(decision)
    row = await runtime.store.row("scene", scene) if scene else None
    if row is None or not row.get("active"):
        return []
    reason = _reason_of(scene, decision.wire())
    reason = reason.model_copy(update={"try_next": "Try again, or deactivate the scene."})
    runtime.not_live.add(scene)
    return [opened(runtime, await _decision(runtime, reason, content_hash(reason.wire())))]


async def closing(
    runtime: "Runtime", scene: str, says: str, answer: tuple[Decision, Answering] | None = None
) -> list[Event]:
    """The events that close what is asked about a scene; `answer` is a person's, where that is what settled it."""
    runtime.not_live.discard(scene)
    given = [] if answer is None else [answered(runtime, *answer)]
    still = [
        decision for decision in await _open(runtime.store, scene) if answer is None or decision.id != answer[0].id
    ]
    return [*given, *(withdrawn(runtime, decision, says) for decision in still)]


async def _open(store: Store, scene: str) -> list[Decision]:
    return [Decision.model_validate(row) for row in await _asked_about(store, scene)]
