"""Which log this is, and which of its lives: what every key that leaves the house begins with.

A log has an identity from its first day on. Whenever it may stand beside another one that shares its past (it was
restored, copied, or lost its last events) a new generation is drawn at random. So no machine can answer for a command
of the other one, however alike the two number their tasks.
"""

import re
import secrets
from typing import NamedTuple

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_LENGTH = 8
_PREFIX = re.compile(rf"[{_LETTERS}]{{{_LENGTH}}}\.[{_LETTERS}]{{{_LENGTH}}}-")


class LogIdentity(NamedTuple):
    id: str
    generation: str
    legacy: bool = False
    """Whether keys that begin with no identity are its own: older versions sent such, and the log is still the same."""

    @classmethod
    def drawn(cls, *, legacy: bool = False) -> "LogIdentity":
        """The identity of a log that has none yet."""
        return cls(_random(), _random(), legacy)

    def next_generation(self) -> "LogIdentity":
        return LogIdentity(self.id, _random())

    def __str__(self) -> str:
        return f"{self.id}.{self.generation}"

    def key(self, name: str) -> str:
        """A key of this log: no other log, and no other generation of this one, sends the same."""
        return f"{self}-{name}" if self.id else name

    def owns(self, key: str) -> bool:
        """Whether a key was sent by this generation of this log."""
        begin = _PREFIX.match(key)
        return self.legacy if begin is None else begin[0] == f"{self}-"


def is_drawn(text: object) -> bool:
    """Whether an identity or a generation can be this."""
    return isinstance(text, str) and len(text) == _LENGTH and set(text) <= set(_LETTERS)


def _random() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


UNNAMED = LogIdentity("", "", legacy=True)
"""Of a log that is gone with its process, and of what older versions began: its keys are the same every time."""
