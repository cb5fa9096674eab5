"""Events in words: those of plans, runs, decisions, templates and scenes; crafts bring those of their own events.

A sentence is made from what the event says, whenever somebody reads it, so that the log holds facts and no prose.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic_core import from_json, to_json

from beforehand.app.clock import STEP_MS
from beforehand.model.words import counted, duration

Data = Mapping[str, Any]
_ENDS = {
    "completed": "is completed",
    "partial": "has ended, but for what was denied",
    "failed": "has failed",
    "cancelled": "was cancelled",
    "waiting": "waits for a person",
}
_STEPS = {
    "pending": "waits",
    "ready": "is ready to start",
    "running": "has started",
    "completed": "is completed",
    "failed": "has failed",
    "skipped": "was skipped",
    "blocked": "is blocked",
    "inDoubt": "is in doubt",
    "cancelled": "was cancelled",
    "denied": "was denied",
}


def _name(data: Data, otherwise: str) -> str:
    return str(data.get("name") or otherwise)


def _plan_created(data: Data) -> str:
    count = counted(len(data["steps"]), "step")
    return f"A plan came in: {_name(data, data['id'])}, {count}."


def _run(data: Data) -> str:
    return f"{_name(data, 'The run')} {_ENDS.get(data['status'], 'is ' + data['status'])}."


def _step(data: Data) -> str:
    if data["status"] == "running" and data.get("stopping"):
        return f"Step {data['stepId']} was told to stop; not confirmed yet."
    result = data.get("result") or {}
    why = f": {result['error']}" if result.get("error") else "."
    return _ended(f"Step {data['stepId']} {_STEPS.get(data['status'], data['status'])}{why}")


def _answered(data: Data) -> str:
    answer = data.get("answer") or {}
    by = f" by {answer['by']}" if answer.get("by") else ""
    return f"Answered with “{answer.get('verb', '')}”{by}: {_ended(data['title'])}"


def _by(data: Data) -> str:
    return f" by {data['by']}" if data.get("by") else ""


def _ended(title: str) -> str:
    return title if title.endswith((".", "?", "!")) else f"{title}."


def _model_answered(data: Data) -> str:
    error = data.get("error")
    if error is not None:
        return f"{data['model']} gave no answer: {_ended(error['says'])}"
    return f"{data['model']} answered: {_short(data['text'])}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:119]}…"


def clock_stepped(data: Data) -> str:
    by_ms, ahead_ms = int(data["byMs"]), int(data["aheadMs"])
    if data["atStart"]:
        told = f"The clock of this machine is {duration(-ahead_ms)} behind the newest event."
    else:
        told = f"The clock of this machine was set {'forward' if by_ms > 0 else 'back'} by {duration(abs(by_ms))}."
    if abs(ahead_ms) < STEP_MS:
        return f"{told} It agrees with the log's clock again."
    way = "faster" if ahead_ms > 0 else "slower"
    rest = f"{told} Waits and ages stay as they are; the log's clock goes a twentieth {way} until the two agree."
    return f"{rest} A restart of the server takes the new time at once." if ahead_ms > 0 else rest


SENTENCES: Mapping[str, Callable[[Data], str]] = {
    "planCreated": _plan_created,
    "planEdited": lambda data: f"Version {data['version']} of {_name(data, data['id'])} was made.",
    "runStarted": lambda data: f"{_name(data, 'A plan')} was started.",
    "runFinished": _run,
    "runUpdated": _run,
    "runAdopted": lambda data: f"{_name(data, 'The run')} goes on with version {data['version']}.",
    "stepUpdated": _step,
    "stepExpanded": lambda data: f"Step {data['stepId']} runs once for each of {counted(len(data['items']), 'item')}.",
    "decisionOpened": lambda data: f"A person is asked: {_ended(data['title'])}",
    "proposalMade": lambda data: f"There is a proposal for what to answer: {_ended(data['title'])}",
    "decisionAnswered": _answered,
    "decisionWithdrawn": lambda data: f"No longer asked: {_ended(data['title'])}",
    "everythingHeld": lambda data: f"Everything is held{_by(data)}.",
    "everythingCleared": lambda data: f"Everything goes on{_by(data)}.",
    "clockStepped": clock_stepped,
    "requestDone": lambda data: f"A request was done{_by(data)}: {data['what']}.",
    "requestMade": lambda data: f"{data['by'] or 'Somebody'} asked for it: {data['what']}.",
    "archivesDeleted": lambda data: f"{counted(data['events'], 'event')} of old archives were deleted{_by(data)}.",
    "fileTrusted": lambda data: f"The settings file {data['file']} was trusted{_by(data)}.",
    "tokenAdded": lambda data: f"A token was made for {data['name']} ({data['role']}).",
    "tokenRevoked": lambda data: f"The token of {data['name']} was revoked.",
    "templateSaved": lambda data: f"The template {data['name']} was kept.",
    "sceneFileSaved": lambda data: f"The {data['form']} {data['name']} was kept ({data['sha256'][:12]}).",
    "sceneSaved": lambda data: f"The scene {data['name']} was kept.",
    "sceneActivated": lambda data: f"The scene {data['name']} is live.",
    "modelAsked": lambda data: f"{data['model']} was asked.",
    "modelAnswered": _model_answered,
    "sceneDeactivated": lambda data: f"The scene {data['name']} rests.",
}


class Sentences:
    """What any event says; one that nobody has words for is told by its kind and ids."""

    def __init__(self, brought: Iterable[Mapping[str, Callable[[Data], str]]] = ()) -> None:
        self._by_kind = dict(SENTENCES)
        for sentences in brought:
            self._by_kind |= sentences

    def of(self, kind: str, about: Data, data: Data) -> str:
        """The event in words."""
        try:
            return self._by_kind[kind]({**about, **data})
        except (Exception, SystemExit):  # no words for it, an event that lacks what they need, or a craft's own trouble
            names = ", ".join(str(value) for value in about.values())
            words = re.sub(r"(?<!^)([A-Z])", lambda letter: f" {letter[1].lower()}", kind)
            return f"{words[:1].upper()}{words[1:]}{': ' + names if names else ''}."

    def added_to(self, line: bytes) -> bytes:
        """An event's line of JSON with `says`, the event in words, as its last field."""
        event = from_json(line)
        return b'%s,"says":%s}' % (line[:-1], to_json(self.of(event["kind"], event["about"], event["data"])))
