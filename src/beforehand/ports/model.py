"""Language models: an ask goes in, an answer comes out, or an error of the tree (`ModelError` and below) is raised.

A model keeps nothing between asks: whatever it shall know stands in the ask, so that the same ask can be put to another
model, to a recording or to a script. Cancelling the task that waits ends the request at once. Whoever likes hears the
answer while it is written; only the whole of it counts.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from beforehand.model.base import WireModel
from beforehand.model.usage import NOTHING, Usage

Check = Callable[[Any], Sequence[str]]
"""Says what is wrong with an answer, a sentence each; it is given the data, or the text where no schema is set."""
Tidy = Callable[[Any], Any]
"""Brings the data of an answer into the schema's form where it was written in another that means the same."""
Permit = Callable[[Usage], None]
"""Called before every single request with what the ask has used so far; what it raises ends the ask."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some more of an answer that is being written; for structured answers, of their JSON."""

    request: int
    """Counts the requests of the ask: with the next one the answer begins anew, because something was wrong with it."""
    text: str


Hear = Callable[[Piece], None]
"""Given every piece as it comes; an answer that is not streamed is one piece."""


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["user", "assistant"]
    text: str
    images: tuple[bytes, ...] = field(default=(), repr=False)
    """PNG files. All of them are sent, so whoever wants only the newest looked at puts only that one in."""

    def wire(self) -> dict[str, Any]:
        """The message as data, pictures by their hash."""
        told: dict[str, Any] = {"role": self.role, "text": self.text}
        return told | {"images": [digest(image) for image in self.images]} if self.images else told


@dataclass(frozen=True, slots=True)
class Ask:
    messages: tuple[Message, ...]
    """Oldest first; the last one is the user's."""
    system: str = ""
    schema: Mapping[str, Any] | None = None
    """The JSON schema of an object that the answer must be; None for plain text."""
    check: Check | None = field(default=None, compare=False, repr=False)
    tidy: Tidy | None = field(default=None, compare=False, repr=False)
    repairs: int = 2
    """How often the model is told what is wrong with its answer, and asked again."""
    timeout_s: float = 60.0
    """For all of it: waiting to be let in and repairs included."""
    silence_s: float = 30.0
    """How long a streamed answer may stand still once it has begun."""
    max_output_tokens: int = 4096
    temperature: float | None = None
    permit: Permit | None = field(default=None, compare=False, repr=False)
    hear: Hear | None = field(default=None, compare=False, repr=False)

    def wire(self) -> dict[str, Any]:
        """What is asked, as data; not how long one would wait, nor what it may cost."""
        told = {"system": self.system, "messages": [message.wire() for message in self.messages]}
        return told if self.schema is None else told | {"schema": self.schema}

    @property
    def hash(self) -> str:
        """The same for the same question; recordings are looked up by it."""
        return digest(json.dumps(self.wire(), sort_keys=True, separators=(",", ":")).encode())


class Answer(WireModel):
    text: str
    """What the model said; for structured answers their JSON."""
    data: Any = None
    """What the schema asked for."""
    model: str = ""
    usage: Usage = NOTHING


class Model(Protocol):
    name: str

    async def answer(self, ask: Ask) -> Answer:
        """The answer, held to schema and check; a ModelError where there is none."""

    async def close(self) -> None:
        """Let go of connections; afterwards nothing is asked any more."""


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
