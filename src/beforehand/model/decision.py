"""Decisions: whatever waits for a person, as one kind of thing.

A decision says who asked, what it is about, the evidence, the verbs that answer it and what each does. It covers
content: `covers` is a hash of what was asked about, so that an answer to something that has changed since is stale.
"""

import hashlib
import json
from typing import Any, Literal

from pydantic import Field

from beforehand.model.base import WireModel

DecisionKind = Literal[
    "review", "approval", "failure", "inDoubt", "drift", "silent", "machineHeld", "question", "hold", "bug", "not_live"
]
"""The kinds Beforehand itself opens; a craft may name its own."""


class Answer(WireModel):
    verb: str
    value: Any = None
    note: str = ""
    by: str = ""
    at: str = ""


class Decision(WireModel):
    id: str
    kind: str
    owner: str = ""
    """Who takes the answer: `run:…`, `plan:…`, `fleet:…`, whatever the decision's kind."""
    title: str
    about: dict[str, Any]
    evidence: dict[str, Any] = Field(default_factory=dict)
    verbs: tuple[str, ...]
    effects: dict[str, str] = Field(default_factory=dict)
    """What each verb does, a sentence each."""
    values: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """The JSON schema of what goes with a verb, for those that take a value."""
    if_unanswered: str = ""
    asked_by: str = ""
    covers: str = ""
    opened_at: str
    status: Literal["open", "answered", "withdrawn"] = "open"
    answer: Answer | None = None

    @property
    def is_open(self) -> bool:
        return self.status == "open"


def content_hash(content: Any) -> str:
    """A stable hash of JSON-like content, for what a decision covers and what a version holds."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
