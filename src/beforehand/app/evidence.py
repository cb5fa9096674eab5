"""What a reviewer is shown of a plan: the calls themselves, beside what the author says about them, never instead.

Prose is a claim. Where it names nothing of its call, or says that something is only read where something is changed,
it is marked; the call is the truth.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from beforehand.engine.prose import prose_fits
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.plan import Plan, Step, StepStatus
from beforehand.model.words import in_words
from beforehand.ports.tool import ToolSpec

SHOWN_STEPS = 200
_ODD = re.compile(r"[,:()\"]|^\s|\s$|^$")


def review_evidence(plan: Plan, catalog: ToolCatalog) -> dict[str, Any]:
    """The evidence of a review: every call with what it is, the model that wrote it if one did, the plan's notes."""
    evidence: dict[str, Any] = {"steps": [_call(step, catalog.get(step.tool)) for step in plan.steps[:SHOWN_STEPS]]}
    if len(plan.steps) > SHOWN_STEPS:
        evidence["moreSteps"] = len(plan.steps) - SHOWN_STEPS
    if plan.origin.model is not None:
        evidence["origin"] = {
            "planner": plan.origin.planner,
            "model": plan.origin.model,
            "text": plan.origin.text or "",
        }
    if plan.notes:
        evidence["notes"] = list(plan.notes)
    if plan.comparison:
        evidence["comparison"] = plan.comparison
    return evidence


def _call(step: Step, spec: ToolSpec | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": step.id, "order": step.order, "tool": step.tool, "args": step.args}
    shown |= {"effect": spec.effect, "destructive": spec.destructive} if spec is not None else {}
    if step.description:
        shown["description"] = step.description
        if spec is not None and not prose_fits(step.description, spec, step.args):
            shown["mismatch"] = True
    if step.status is StepStatus.SKIPPED:
        shown["skipped"] = True
    return shown


def call_shown(tool: object, args: Mapping[str, Any], longest: int = 60) -> str:
    """A call as a person reads it: the tool and its arguments, each cut where it is long."""
    return f"{tool}({', '.join(f'{name}: {_short(value, longest)}' for name, value in args.items())})"


def call_text(call: Mapping[str, Any]) -> str:
    """One call of a review as a line of text: the call first, then what its author says."""
    what = [str(call["effect"])] if call.get("effect") not in (None, "pure") else []
    what += ["may destroy"] if call.get("destructive") in ("always", "judged") else []
    text = f"{call['order']}. {call_shown(call['tool'], call.get('args', {}))}" + (
        f" [{', '.join(what)}]" if what else ""
    )
    if call.get("description"):
        text += f" “{call['description']}”" + (" (the words do not match the call)" if call.get("mismatch") else "")
    return text + (" (skipped)" if call.get("skipped") else "")


def _short(value: Any, longest: int) -> str:
    """A text that could be read as several arguments is shown in quotes."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) and _ODD.search(value) else in_words(value)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
