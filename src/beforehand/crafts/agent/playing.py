"""A session played from commands alone, in virtual time and without a log: the same bytes every time."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.core.session import Session, Step, commanded
from beforehand.crafts.agent.plug_ins import load_verbs
from beforehand.crafts.agent.worlds import open_world
from beforehand.model.errors import BadInputError


def refuse_other_kinds(document: Any) -> None:
    """BadInputError for a scene in which nobody lives."""
    if isinstance(document, Mapping) and document.get("kind", "home") != "home":
        raise BadInputError(
            f"Only scenes of kind home have a body to steer, and this one is of kind {document['kind']!r}.",
            code="scene.kind",
            hint="`beforehand scene list` shows the scenes with their kinds.",
        )


def play(
    document: Any,
    lines: Iterable[str],
    *,
    goal: str | None = None,
    max_steps: int | None = None,
    watch: Callable[[dict[str, Any]], None] = lambda step: None,
) -> dict[str, Any]:
    """Run commands until they run out or the session is over, and give the whole of it."""
    refuse_other_kinds(document)
    session = Session(open_world(read_home(document), verbs=load_verbs(), goal=goal), max_steps=max_steps)
    steps: list[Step] = []
    for line in lines:
        session, step = commanded(session, line)
        steps.append(step)
        watch(step.wire())
        if session.status != "open":
            break
    return result_of(session, steps)


def result_of(session: Session, steps: Iterable[Step]) -> dict[str, Any]:
    reason = {"reason": session.reason} if session.reason else {}
    shown = [step.wire() for step in steps]
    return {"steps": shown, "status": session.status, **reason, "goalReached": session.goal_reached}
