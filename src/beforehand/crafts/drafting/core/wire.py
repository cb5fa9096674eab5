"""A plan as a model writes it: lists only, since models that keep strictly to a schema return objects with free names
empty. Each argument is a name and a JSON text. Models that keep to no schema write plans as plans are written
everywhere else; that is brought into the schema's form first.

What it becomes is an ordinary plan document, checked like anybody's. What a step may destroy is read from the tools.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.ports.tool import ToolSpec

Document = dict[str, Any]
MOST_STEPS = 200
MOST_REMARKS = 10
LONGEST_REMARK = 300
MOST_PROPOSALS = 3


def _object(**fields: Any) -> Document:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _text(says: str) -> Document:
    return {"type": "string", "description": says}


def _list(of: Any, says: str) -> Document:
    return {"type": "array", "items": of, "description": says}


ARGUMENTS = _list(
    _object(
        name=_text("The argument's name, as the tool's schema has it."),
        json_value=_text(
            'Its value as JSON: "a text" in quotes, 3, true, ["a"], or "$other_step" for a step\'s value.'
        ),
    ),
    "The arguments of the call, each once.",
)


def step_schema(tools: Sequence[str]) -> Document:
    """One step as the model writes it; it may call these tools."""
    return _object(
        id=_text("A short name of letters, digits and _, used once."),
        description=_text("What this very call does, in one sentence."),
        tool={"type": "string", "enum": list(tools)},
        args=ARGUMENTS,
        depends_on=_list({"type": "string"}, "Ids of the steps that must be done before it; as few as are needed."),
        requires_approval={"type": "boolean", "description": "True where a person should look before it starts."},
        when=_text("A condition such as $check.ok == true, or empty."),
        on_failure={"type": "string", "enum": ["continue", "stop", "ask"]},
    )


def plan_schema(tools: Sequence[str]) -> Document:
    """The answer to a request: a plan, or why there is none."""
    return _object(
        name=_text("What the plan does, in a few words."),
        steps={"type": "array", "items": step_schema(tools), "maxItems": MOST_STEPS},
        edge_cases=_list({"type": "string"}, "What may go wrong and how the plan deals with it, a sentence each."),
        cannot=_text("Why it cannot be done with these tools, a sentence; empty where there is a plan."),
    )


_SPELLINGS = {
    "dependsOn": "depends_on",
    "requiresApproval": "requires_approval",
    "onFailure": "on_failure",
    "edgeCases": "edge_cases",
}
_NOT_ITS_TO_SAY = ("estimatedDuration", "estimated_duration", "order", "status")
"""Fields of plans that are worked out here, whatever a model thinks of them."""


def tidied_plan(answer: Any) -> Any:
    """An answer in the form that plans have everywhere else, in the schema's; what fits neither stays, and is told."""
    plan = _tidied({"steps": answer} if isinstance(answer, list) else answer, name="", edge_cases=[], cannot="")
    if isinstance(plan, dict) and plan["cannot"]:
        plan.setdefault("steps", [])
    return _with_steps(plan)


def tidied_step(step: Any) -> Any:
    """The same for a step: arguments as an object, names in camelCase, what has a default left out."""
    defaults: Document = {"description": "", "depends_on": [], "requires_approval": False, "when": ""}
    made = _tidied(step, **defaults, args=[], on_failure="continue")
    if isinstance(made, dict):
        made["args"] = listed_arguments(made["args"])
        if isinstance(made.get("id"), int):
            made["id"] = str(made["id"])
        if isinstance(made["depends_on"], list):
            made["depends_on"] = [str(name) if isinstance(name, int) else name for name in made["depends_on"]]
    return made


def listed_arguments(args: Any) -> Any:
    """Arguments written as an object, as the schema's list."""
    if not isinstance(args, Mapping):
        return args
    return [{"name": name, "json_value": json.dumps(value, ensure_ascii=False)} for name, value in args.items()]


def _tidied(written: Any, **defaults: Any) -> Any:
    if not isinstance(written, Mapping):
        return written
    named = {_SPELLINGS.get(key, key): value for key, value in written.items() if key not in _NOT_ITS_TO_SAY}
    return defaults | {key: value for key, value in named.items() if value is not None or key not in defaults}


def _with_steps(made: Any) -> Any:
    if isinstance(made, dict) and isinstance(made.get("steps"), list):
        made["steps"] = [tidied_step(step) for step in made["steps"]]
    return made


def tidied_proposals(answer: Any) -> Any:
    """The same for proposals: one alone, a bare list of them, or the object that holds the list; the first few."""
    if isinstance(answer, Mapping) and "proposals" not in answer:
        answer = [answer]
    listed = answer.get("proposals") if isinstance(answer, Mapping) else answer
    if not isinstance(listed, list):
        return answer
    return {"proposals": [_tidied_proposal(one) for one in listed[:MOST_PROPOSALS]]}


def _tidied_proposal(written: Any) -> Any:
    made = _with_steps(_tidied(written, why="", args=[], steps=[]))
    return made | {"args": listed_arguments(made["args"])} if isinstance(made, dict) else made


def plan_document(answer: Mapping[str, Any], catalog: ToolCatalog) -> tuple[Document, list[str]]:
    """The plan's document, and what is wrong with the arguments as they were written."""
    problems: list[str] = []
    steps = [step_document(step, catalog, problems) for step in answer["steps"]]
    return {"name": str(answer["name"])[:200], "steps": steps}, problems


def step_document(step: Mapping[str, Any], catalog: ToolCatalog, problems: list[str]) -> Document:
    """One step as plans write it; whether it may destroy something is the tool's word, not the model's."""
    spec = catalog.get(step["tool"])
    document: Document = {
        "id": step["id"],
        "description": step["description"][:1_000],
        "tool": step["tool"],
        "args": arguments_of(step["args"], spec, step["id"], problems),
        "dependsOn": list(dict.fromkeys(step["depends_on"])),
    }
    if step["requires_approval"] or (spec is not None and spec.destructive == "always"):
        document["requiresApproval"] = True
    if step["when"].strip():
        document["when"] = step["when"]
    if step["on_failure"] != "continue":
        document["onFailure"] = step["on_failure"]
    return document


def arguments_of(
    written: Sequence[Mapping[str, Any]], spec: ToolSpec | None, step: str, problems: list[str]
) -> Document:
    """The arguments as an object. A text without quotes is taken as it is where the tool wants a text."""
    args: Document = {}
    for argument in written:
        name, text = argument["name"], argument["json_value"]
        if name in args:
            problems.append(f"{step}: the argument {name!r} is given twice.")
        try:
            args[name] = json.loads(text)
        except ValueError:
            args[name] = text
            if not _wants_text(spec, name) and not text.startswith("$"):
                problems.append(f"{step}: the json_value of {name!r} is not JSON: {text[:80]!r}.")
    return args


def _wants_text(spec: ToolSpec | None, name: str) -> bool:
    properties = {} if spec is None else spec.input_schema.get("properties", {})
    rule = properties.get(name)
    return isinstance(rule, Mapping) and rule.get("type") == "string"


def remarks_of(answer: Mapping[str, Any]) -> list[str]:
    """What the author thought of, as its own words."""
    said = [" ".join(str(case).split())[:LONGEST_REMARK] for case in answer["edge_cases"]]
    return [f"The author says: {case}" for case in said if case][:MOST_REMARKS]
