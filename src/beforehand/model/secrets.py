"""Secrets by reference: `secret:NAME` as a whole value, or `${secret:NAME}` inside a longer one.

What a reference stands for is noted, so that it can be taken out of every sentence before somebody reads it.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

HIDDEN = "(hidden)"
SHORTEST_HIDDEN = 4
"""Shorter secrets are not looked for in sentences: they would be found in every other word."""
_WHOLE = re.compile(r"secret:([A-Za-z0-9_-]{1,100})")
_INSIDE = re.compile(r"\$\{secret:([A-Za-z0-9_-]{1,100})\}")
_noted: set[str] = set()


def filled_in(value: Any, look_up: Callable[[str], str]) -> Any:
    """The value with every reference to a secret, however deep, replaced by the secret."""
    if isinstance(value, str):
        whole = _WHOLE.fullmatch(value)
        return hide(look_up(whole[1])) if whole else _INSIDE.sub(lambda found: hide(look_up(found[1])), value)
    if isinstance(value, Mapping):
        return {key: filled_in(item, look_up) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [filled_in(item, look_up) for item in value]
    return value


def hide(secret: str) -> str:
    """The secret, from now on taken out of every sentence."""
    if len(secret) >= SHORTEST_HIDDEN:
        _noted.add(secret)
    return secret


def without_secrets(text: str) -> str:
    """The text with every secret that was looked up taken out of it."""
    for secret in _noted:
        if secret in text:
            text = text.replace(secret, HIDDEN)
    return text


class Veil:
    """Text that comes in pieces, without secrets: what may be the beginning of one waits for what follows it."""

    def __init__(self) -> None:
        self._kept = ""

    def take(self, piece: str) -> str:
        """What may be seen now."""
        text = without_secrets(self._kept + piece)
        shown = len(text) - max((_overlap(text, secret) for secret in _noted), default=0)
        self._kept = text[shown:]
        return text[:shown]

    def rest(self) -> str:
        """What was kept back, now that nothing follows; the beginning of a secret is still one."""
        kept, self._kept = self._kept, ""
        return HIDDEN if len(kept) >= SHORTEST_HIDDEN else kept


def _overlap(text: str, secret: str) -> int:
    """How many characters at the end of the text the secret begins with."""
    longest = min(len(text), len(secret) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(secret[:size])), 0)
