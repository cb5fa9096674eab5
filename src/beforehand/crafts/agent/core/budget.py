"""What a session may use: commands, and requests, tokens, money and seconds of a model.

What was used follows from the log. A person who has a session go on may give it more.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from beforehand.crafts.agent.core.session_state import SessionState

USUAL: Mapping[str, float] = {"requests": 500, "seconds": 3600}
"""What a model may use in a session that was given no budget of its own."""
STEPS = "maxSteps"
_COUNTS: dict[str, Any] = {
    "requests": {"type": "integer", "minimum": 1},
    "tokens": {"type": "integer", "minimum": 1},
    "money": {"type": "number", "exclusiveMinimum": 0, "description": "US dollars."},
    "seconds": {"type": "number", "exclusiveMinimum": 0},
    STEPS: {"type": "integer", "minimum": 1, "description": "The most commands."},
}


def _value(says: str) -> dict[str, Any]:
    return {"type": ["object", "null"], "description": says, "properties": _COUNTS, "additionalProperties": False}


RESUME_VALUE = _value("What the session may use from now on, all it has used counted; as before where left out.")
AGAIN_VALUE = _value("What the new session may use; as this one where left out.")


def limits_of(options: Mapping[str, Any]) -> dict[str, float]:
    """The most of each that the model of a session may use."""
    return {**USUAL, **options.get("budget", {})}


def with_more(options: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """A session's options with the budget that a person has given."""
    given = {name: limit for name, limit in value.items() if name != STEPS}
    return {**options, "budget": {**options.get("budget", {}), **given}} if given else dict(options)


def raised(state: SessionState, value: Mapping[str, Any]) -> SessionState:
    """The session with the budget that a person has given it."""
    session = replace(state.session, max_steps=value.get(STEPS, state.session.max_steps))
    return replace(state, session=session, options=with_more(state.options, value))


def left(head: Mapping[str, Any]) -> dict[str, float]:
    """What a session may still use, from its document; only what is limited."""
    found: dict[str, float] = {}
    if head.get(STEPS) is not None:
        found["steps"] = max(0, head[STEPS] - head["steps"])
    if head["steeredBy"] == "model":
        used = head.get("used", {})
        tokens = used.get("inputTokens", 0) + used.get("outputTokens", 0)
        spent = {**used, "tokens": tokens, "money": used.get("money") or 0}
        for name, limit in limits_of(head).items():
            found[name] = round(max(0, limit - spent.get(name, 0)), 6)
    return found
