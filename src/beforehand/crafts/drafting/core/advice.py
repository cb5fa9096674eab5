"""What a model is asked when a step has failed, and its proposals as answers to the decision that waits.

A proposal is one of the decision's own verbs with the value it takes. A person accepts it, or not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from beforehand.crafts.drafting.core.fence import TOLD, fenced
from beforehand.crafts.drafting.core.prompt import tool_lines
from beforehand.crafts.drafting.core.wire import (
    ARGUMENTS,
    MOST_PROPOSALS,
    arguments_of,
    step_document,
    step_schema,
    tidied_proposals,
)
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.ports.model import Ask, Message

VERBS = ("retry", "skip", "insert", "abort")
LONGEST_WHY = 500
TIMEOUT_S = 90.0
RULES = f"""A step of a running plan has failed, and a person decides what to do. You propose what they might answer.

{TOLD}

A proposal is one of:
- retry: try the step again, with other arguments in args where that helps; args empty keeps its own.
- insert: put the steps in `steps` in before it, then it is tried again. Their ids must be new.
- skip: leave the step out; what depends on it goes on.
- abort: start nothing new and end the run.
Give one to three, the best first, each with why in one sentence. Leave args and steps empty where they are not used."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What has failed, and in what plan."""

    wanted: str
    """The words the plan was made from, or its name."""
    steps: Sequence[Mapping[str, Any]]
    """Every step of the plan with its status."""
    step_id: str
    tool: str
    args: Mapping[str, Any]
    error: str


def advice_ask(failure: Failure, catalog: ToolCatalog, talk: Sequence[Message] = ()) -> Ask:
    """What the model is asked."""
    tools = catalog.specs()
    failed = {"step": failure.step_id, "tool": failure.tool, "args": failure.args, "error": failure.error}
    told = "\n\n".join(
        (
            f"The plan and where its steps stand:\n{fenced('plan', failure.steps)}",
            f"What has failed, and with what error:\n{fenced('failure', [failed])}",
            f"What the person wanted:\n{failure.wanted}",
        )
    )
    return Ask(
        (Message("user", told), *talk),
        system=f"{RULES}\n\nThe tools:\n{tool_lines(tools)}",
        schema=_schema([spec.name for spec in tools]),
        tidy=tidied_proposals,
        repairs=0,
        timeout_s=TIMEOUT_S,
    )


def _schema(tools: Sequence[str]) -> dict[str, Any]:
    proposal = {
        "verb": {"type": "string", "enum": list(VERBS)},
        "why": {"type": "string"},
        "args": ARGUMENTS,
        "steps": {"type": "array", "items": step_schema(tools), "maxItems": 20},
    }
    item = {"type": "object", "properties": proposal, "required": list(proposal), "additionalProperties": False}
    listed = {"type": "array", "items": item, "minItems": 1, "maxItems": MOST_PROPOSALS}
    return {
        "type": "object",
        "properties": {"proposals": listed},
        "required": ["proposals"],
        "additionalProperties": False,
    }


def proposal_of(written: Mapping[str, Any], failure: Failure, catalog: ToolCatalog) -> tuple[dict[str, Any], list[str]]:
    """A proposal as an answer to the decision, and what is wrong with how it was written."""
    problems: list[str] = []
    proposal: dict[str, Any] = {"verb": written["verb"], "why": " ".join(written["why"].split())[:LONGEST_WHY]}
    if written["verb"] == "retry" and written["args"]:
        args = arguments_of(written["args"], catalog.get(failure.tool), failure.step_id, problems)
        proposal["value"] = {"args": args}
    elif written["verb"] == "insert":
        proposal["value"] = {"steps": [step_document(step, catalog, problems) for step in written["steps"]]}
        if not written["steps"]:
            problems.append("insert needs at least one step.")
    return proposal, problems
