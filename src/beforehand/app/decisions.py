"""Opening and closing decisions as events, for owners that keep no state of their own beside the log."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from beforehand.app.craft import Answering, Owner
from beforehand.loop.nursery import BUG
from beforehand.model.decision import Answer, Decision
from beforehand.model.errors import ConflictError, NotLeadingError
from beforehand.model.event import Event, iso
from beforehand.ports.tasks import TaskOwner

if TYPE_CHECKING:
    from beforehand.app.runtime import Runtime


def opened(runtime: "Runtime", decision: Decision, **where: Any) -> Event:
    """The event that opens a decision; `where` adds `scene` and `correlation_id`, and further ids."""
    return _event(runtime, "decisionOpened", decision, decision.wire(), **where)


def withdrawn(runtime: "Runtime", decision: Decision, why: str, **where: Any) -> Event:
    """The event that takes a decision back because what it asked about is settled."""
    data = {**decision.wire(), "status": "withdrawn", "why": why}
    return _event(runtime, "decisionWithdrawn", decision, data, **where)


def answered(runtime: "Runtime", decision: Decision, given: Answering, **where: Any) -> Event:
    """The event that closes a decision with a person's answer."""
    answer = Answer(verb=given.verb, value=given.value, note=given.note, by=given.by, at=iso(runtime.now()))
    more = {name: value for name, value in where.items() if name == "runId"}
    data = decision.wire() | {"status": "answered", "answer": answer.wire()} | more
    return _event(runtime, "decisionAnswered", decision, data, **where)


async def open_decision(runtime: "Runtime", decision: Decision, **where: Any) -> Decision:
    """Ask a person; whoever is registered as the decision's owner gets the answer."""
    await runtime.store.append([opened(runtime, decision, **where)])
    return decision


async def close_decision(runtime: "Runtime", decision: Decision, given: Answering, **where: Any) -> None:
    """Write an answer down."""
    await runtime.store.append([answered(runtime, decision, given, **where)])


def _event(runtime: "Runtime", kind: str, decision: Decision, data: dict[str, Any], **where: Any) -> Event:
    ids = {name: value for name, value in decision.about.items() if name.endswith("Id")}
    scene = where.pop("scene", decision.about.get("scene"))
    correlation_id = where.pop("correlation_id", "")
    about = {**ids, **where, "decisionId": decision.id}
    return runtime.event(kind, data, owner=decision.owner, correlation_id=correlation_id, scene=scene, **about)


async def _stays_not_live(runtime: "Runtime", decision: Decision) -> list[Event]:
    """What drives a scene stays stopped: that the scene is active and not live is asked from now on."""
    from beforehand.app.not_live import asking_after

    return await asking_after(runtime, decision)


async def _restart(
    runtime: "Runtime", decision: Decision, restart: Callable[[str], Awaitable[None]], name: str
) -> None:
    from beforehand.app.not_live import scene_stopped, tell

    try:
        await restart(name)
    except NotLeadingError:
        raise
    except Exception as error:
        if scene := scene_stopped(decision):
            await tell(runtime, scene, error)
        else:  # it is still so: the answer is used up, and a person is asked anew
            await runtime.nursery.ask(_stopped(decision), error)
        raise


def _stopped(decision: Decision) -> TaskOwner:
    """What a decision says has stopped."""
    stopped = decision.owner.removeprefix(f"{BUG}:")
    about = {name: value for name, value in decision.about.items() if name.endswith("Id")}
    title = f"The {stopped.partition(':')[0]} {stopped.partition(':')[2]}"
    return TaskOwner(stopped, title, about, decision.about.get("scene"))


def owner_of_bugs(runtime: "Runtime") -> Owner:
    """Takes the answer to a bug: what stopped is started again from the log, or left.

    ConflictError where nothing can restart it.
    """

    async def answer(decision: Decision, given: Answering) -> None:
        prefix, _, name = decision.owner.removeprefix(f"{BUG}:").partition(":")
        owner = runtime.owners.get(prefix)
        if given.verb == "restart" and (owner is None or owner.restart is None):
            raise ConflictError(f"Nothing here can restart {prefix}:{name}.", code="decision.no_owner")
        stays = [] if given.verb == "restart" else await _stays_not_live(runtime, decision)
        await runtime.store.append([answered(runtime, decision, given), *stays])
        if given.verb == "restart" and given.carry_on and owner is not None and owner.restart is not None:
            await _restart(runtime, decision, owner.restart, name)

    return Owner(answer)
