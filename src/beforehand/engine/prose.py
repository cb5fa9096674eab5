"""Whether an author's words about a step can be about its call: prose is a claim, and the call is the truth."""

import re
from collections.abc import Mapping
from typing import Any

from beforehand.ports.tool import ToolSpec

LOOKING = frozenset(
    ("read", "reads", "list", "lists", "look", "looks", "show", "shows", "get", "gets", "check", "checks", "view")
)
"""Words that promise that nothing is changed."""


def prose_fits(description: str, spec: ToolSpec, args: Mapping[str, Any]) -> bool:
    """Whether a description can be about its call: it names something of it, and does not call a change a look."""
    said = _words(description)
    if not said:
        return True
    if spec.effect != "pure" and said[0] in LOOKING and not set(_words(spec.name)) & LOOKING:
        return False
    return bool(_stems(said) & _stems([*_words(spec.name), *_words(spec.description), *_in(args)]))


def _in(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [word for key, item in value.items() for word in (*_words(str(key)), *_in(item))]
    if isinstance(value, list | tuple):
        return [word for item in value for word in _in(item)]
    return _words(str(value)[:2_000])


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())


def _stems(words: list[str]) -> set[str]:
    """Words cut to what their forms share; the small ones that every sentence has say nothing."""
    return {word[:4] for word in words if len(word) > 3 or word.isdigit()}
