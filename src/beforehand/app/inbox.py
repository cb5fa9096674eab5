"""The inbox: whatever waits for a person, listed and answered in one way.

An answer goes to the decision's owner, whatever its kind: a run, a plan, or whoever a craft registered.
"""

from collections.abc import Mapping
from typing import Any

from beforehand.app.craft import Answering
from beforehand.app.plans import get_plan, stale_version
from beforehand.app.runtime import Runtime
from beforehand.engine.verb_values import fitting
from beforehand.model.decision import Decision
from beforehand.model.errors import BadInputError, ConflictError, NotFoundError


async def list_decisions(runtime: Runtime) -> list[dict[str, Any]]:
    """Every open decision, oldest first."""
    return await runtime.store.rows("decision", open=True)


async def closed_decisions(runtime: Runtime, limit: int) -> list[dict[str, Any]]:
    """The decisions that were answered or withdrawn, newest first."""
    return await runtime.store.rows("decision", open=False, limit=limit, newest_first=True)


async def show_decision(runtime: Runtime, decision_id: str) -> dict[str, Any]:
    """One decision, open or not; NotFoundError with the open ones where there is none."""
    row = await runtime.store.row("decision", decision_id)
    if row is None:
        raise NotFoundError.unknown("decision", decision_id, [item["id"] for item in await list_decisions(runtime)])
    return row


async def answer_decision(
    runtime: Runtime,
    decision_id: str,
    verb: str,
    *,
    value: Any = None,
    note: str = "",
    by: str = "",
    carry_on: bool = True,
) -> dict[str, Any]:
    """Answer a decision with one of its verbs, and give the decision.

    `carry_on` false only writes it down; whoever drives its owner goes on. Raises ConflictError when it was answered
    before or nobody is there to take the answer, BadInputError for a verb or value it does not take.
    """
    row = await show_decision(runtime, decision_id)
    await _refuse_closed(runtime, row)
    decision = Decision.model_validate(row)
    if verb not in decision.verbs:
        raise BadInputError.unknown("verb", verb, decision.verbs, code="decision.verb")
    value = fitting(verb, decision.values.get(verb), value)
    owner = runtime.owners.get(decision.owner.partition(":")[0])
    if owner is None:
        raise ConflictError(
            "No running process can take this answer.",
            code="decision.no_owner",
            hint="Start the server: `beforehand up`",
        )
    await owner.answer(decision, Answering(verb, value, note, by, carry_on))
    return await show_decision(runtime, decision_id)


async def _refuse_closed(runtime: Runtime, row: Mapping[str, Any]) -> None:
    """Answering twice is a conflict; so is answering the review of a version that another has replaced."""
    if row["status"] == "open":
        return
    given = row.get("answer", {})
    changes: Mapping[str, Any] = {}
    if given:
        says = f"This decision was answered with {given['verb']!r} already."
    else:
        says = f"This decision was withdrawn. {row.get('why', '')}".strip()
        changes = await _changes_since(runtime, row)
    raise ConflictError(
        says,
        code="decision.closed",
        hint="The inbox lists what still waits.",
        extra={"status": row["status"], "answer": given or None, **changes},
    )


async def _changes_since(runtime: Runtime, row: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a newer version changed, when a review of an older one, or a question about a step of it, is answered."""
    about = row["about"]
    if "planId" not in about or "version" not in about:
        return {}
    latest = await get_plan(runtime, str(about["planId"]))
    changed = (await stale_version(runtime, latest, int(about["version"]))).extra
    if row["kind"] == "review":
        return changed
    own = [change for change in changed["changes"] if change["id"] == str(about.get("stepId")).partition("[")[0]]
    return {**changed, "changes": own} if own else {}
