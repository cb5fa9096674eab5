"""A model reads words as an intent: what it is asked, the names it may use, and what the builder says about its answer.

The names of the scene stand in the schema, so that no other can come back; a big scene's stand in the question. Only
what the person could have said otherwise is told to the model; a map without a way is not its fault.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from beforehand.crafts.cell.core.builder import build
from beforehand.crafts.cell.core.intent import ACTIONS
from beforehand.model.cell import CellScene, CellState
from beforehand.model.errors import BadInputError
from beforehand.ports.model import Ask, Message

REPAIRS = 2
TIMEOUT_S = 60.0
MOST_NAMES = 500
"""Longer lists do not fit into every provider's schema."""
RULES = """You read what a person wants of a robot cell as a list of goals, in the order they are to be done.
A goal is one of: move to a position; routine, at a position; attach_tool; release_tool. Moves and tool changes that
only lie on the way are put in by others: name only what the person asks for. Use null for what a goal does not name.
If the words ask for something that these goals cannot say, such as a condition, or could mean several things, leave
goals empty and say why in unclear. Never guess."""


def intent_ask(text: str, scene: CellScene, state: CellState) -> Ask:
    """What the model is asked; it is told about mistakes at most twice."""

    def check(answer: Mapping[str, Any]) -> Sequence[str]:
        return [] if answer["unclear"].strip() else builder_errors(scene, intent_of(answer), state)

    positions = [place.name for place in scene.positions]
    tools = [tool.name for tool in scene.tools]
    routines = [routine.name for routine in scene.routines]
    told = [
        f"Positions: {', '.join(positions)}",
        f"Tools: {', '.join(tools)}",
        "Routines: " + "; ".join(_routine(routine) for routine in scene.routines),
        f"The robot stands at {state.current_position} and holds {state.current_tool}.",
        f"What the person wants:\n{text}",
    ]
    return Ask(
        (Message("user", "\n".join(told)),),
        system=RULES,
        schema=_schema(positions, tools, routines),
        check=check,
        tidy=tidied,
        repairs=REPAIRS,
        timeout_s=TIMEOUT_S,
    )


def _routine(routine: Any) -> str:
    words = f" ({', '.join(routine.words)})" if routine.words else ""
    return f"{routine.name}{words} at {', '.join(support.position for support in routine.supported_at)}"


def _schema(positions: Sequence[str], tools: Sequence[str], routines: Sequence[str]) -> dict[str, Any]:
    goal = {
        "action": {"type": "string", "enum": list(ACTIONS)},
        "position": _name(positions),
        "routine": _name(routines),
        "tool": _name(tools),
    }
    item = {"type": "object", "properties": goal, "required": list(goal), "additionalProperties": False}
    whole = {"goals": {"type": "array", "items": item}, "unclear": {"type": "string"}}
    return {"type": "object", "properties": whole, "required": list(whole), "additionalProperties": False}


def _name(names: Sequence[str]) -> dict[str, Any]:
    if not names:
        return {"type": "null"}
    if len(names) > MOST_NAMES:
        return {"type": ["string", "null"]}
    return {"anyOf": [{"type": "string", "enum": list(names)}, {"type": "null"}]}


def tidied(answer: Any) -> Any:
    """An intent as it is written everywhere else, in the schema's form; whatever else it holds stays, and is told."""
    if isinstance(answer, list):
        answer = {"steps": answer}
    if not isinstance(answer, Mapping):
        return answer
    named = {"goals" if key == "steps" else key: value for key, value in answer.items() if key != "goal"}
    if isinstance(named.get("goals"), list):
        empty = dict.fromkeys(("position", "routine", "tool"))
        named["goals"] = [empty | goal if isinstance(goal, dict) else goal for goal in named["goals"]]
    return {"unclear": ""} | named


def intent_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The answer as an intent's document."""
    steps = [{name: value for name, value in goal.items() if value is not None} for goal in answer["goals"]]
    return {"goal": "sequence", "steps": steps}


def builder_errors(scene: CellScene, intent: Mapping[str, Any], state: CellState) -> list[str]:
    """What the builder says is the words' fault, a sentence each."""
    try:
        build(scene, intent, state)
    except BadInputError as error:
        return [problem.says for problem in error.problems if problem.fixable_by == "user"]
    return []
