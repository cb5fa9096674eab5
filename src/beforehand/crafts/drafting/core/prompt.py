"""What a model is asked: rules and tools first, which do not change from draft to draft; the person's words last.

The person's words are the only instructions. Tools, files, a scene and an earlier plan stand in fences.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beforehand.crafts.drafting.core.fence import TOLD, fenced
from beforehand.crafts.drafting.core.snapshot import Snapshot
from beforehand.crafts.drafting.core.wire import plan_schema, tidied_plan
from beforehand.ports.model import Ask, Message
from beforehand.ports.tool import ToolSpec

TIMEOUT_S = 180.0
LONGEST_ANSWER = 16_000
"""Tokens."""
RULES = f"""You draft plans. A plan is a graph of steps; each calls one tool. A person reviews it before anything runs.

{TOLD}

Rules for a plan:
- Use only the tools listed, each with all the arguments its schema requires and no others.
- Give each step a description of what that very call does.
- Break the work into small steps. A step depends only on steps whose effect or value it needs; all others run at once.
- The argument "$step_id" becomes that step's value, "$step_id.part[0]" a part of it; "${{step_id.part}}" is put into a
  longer text. "$$" is a dollar sign.
- After a step that changes something comes one that looks at what became of it: read a file after writing it.
- Consider what may go wrong: a file that is missing, an empty answer, something that exists already. Say so in
  edge_cases, and use when and on_failure where they help.
- Set requires_approval where a person should look first. What deletes or overwrites asks in any case.
- If the tools cannot do what is wanted, leave steps empty and say why in cannot. Do not guess."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a draft is made from."""

    text: str
    tools: Sequence[ToolSpec]
    snapshot: Snapshot = field(default_factory=Snapshot)
    scene: Mapping[str, Any] | None = None
    """The document of the scene it is for."""
    earlier: Sequence[Mapping[str, Any]] = ()
    """The steps of the version that is to be made anew."""
    notes: Sequence[str] = ()
    """What a person said about earlier versions, oldest first."""


def draft_ask(request: Request, talk: Sequence[Message] = ()) -> Ask:
    """What the model is asked; `talk` is what was said since: its answers, and what is wrong with them."""
    return Ask(
        (Message("user", _told(request)), *talk),
        system=f"{RULES}\n\nThe tools:\n{tool_lines(request.tools)}",
        schema=plan_schema([spec.name for spec in request.tools]),
        tidy=tidied_plan,
        repairs=0,
        timeout_s=TIMEOUT_S,
        max_output_tokens=LONGEST_ANSWER,
    )


def tool_lines(specs: Iterable[ToolSpec]) -> str:
    """The tools as data: what each is, what it takes, what a crash or a call of it means."""
    return fenced("tools", [_tool(spec) for spec in specs])


def _tool(spec: ToolSpec) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": spec.name, "description": spec.description, "arguments": spec.input_schema}
    shown |= {"effect": spec.effect}
    if spec.destructive != "never":
        shown["destructive"] = "always" if spec.destructive == "always" else "where it overwrites"
    if spec.output:
        shown["value"] = spec.output
    if spec.asks_person:
        shown["asksPerson"] = True
    return shown


def _told(request: Request) -> str:
    parts = [f"The workspace, as it is now:\n{fenced('workspace', request.snapshot.items())}"]
    if request.scene is not None:
        parts.append(f"The scene it is for:\n{fenced('scene', [request.scene])}")
    if request.earlier:
        parts.append(f"The plan as it was drafted before:\n{fenced('plan', request.earlier)}")
    parts.append(f"What the person wants:\n{request.text}")
    if request.notes:
        said = "\n".join(f"- {note}" for note in request.notes)
        parts.append(f"What the person said about the earlier drafts, the newest last. Draft it anew:\n{said}")
    return "\n\n".join(parts)


def corrected(answer: str, problems: Sequence[str], what: str = "plan") -> tuple[Message, Message]:
    """An answer that cannot be used, and what the model is told about it."""
    listed = "\n".join(f"- {problem}" for problem in problems)
    told = f"That {what} cannot be used:\n{listed}\nGive the whole {what} again, corrected."
    return Message("assistant", answer), Message("user", told)
