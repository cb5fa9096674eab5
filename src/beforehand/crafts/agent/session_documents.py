"""A session as it is told: its document, with who holds its body, how long nobody spoke, and what budget is left."""

from collections.abc import Mapping
from typing import Any

from beforehand.crafts.agent.core.budget import left
from beforehand.crafts.agent.homes import machine_of
from beforehand.crafts.agent.sentences import session_says
from beforehand.model.event import from_iso
from beforehand.ports.store import Store

SESSION_ROW = "session"


async def session_told(
    store: Store, session: Mapping[str, Any], now: int | None = None, *, driven: bool = True
) -> dict[str, Any]:
    """A session with what it does in words; without `now`, as it was in the past."""
    found = {**session, "says": session_says(session)}
    if session["status"] != "open":
        return found
    found["heldBy"] = await _holder(store, session)
    found["budgetLeft"] = left(session)
    if now is not None:
        spoken = from_iso(session.get("lastSaidAt", session["startedAt"]))
        found["idleS"] = round(max(0, now - spoken) / 1000, 1)
        found["driven"] = driven
    return found


async def _holder(store: Store, session: Mapping[str, Any]) -> str:
    """Who has the body, in words."""
    who = session.get("steerer") or session.get("by") or "a person"
    if session.get("key"):
        runs = await store.rows("run", open=True)
        mine = [run["runId"] for run in runs if machine_of(session["scene"]) in (run.get("machines") or ())]
        run = f"the run {mine[0]}" if mine else "a step of a plan"
        return f"{run}, steered by {who}" if session["steeredBy"] == "person" else run
    if session.get("leaseS") is None:
        return str(who)
    return f"an open command ({who})"
