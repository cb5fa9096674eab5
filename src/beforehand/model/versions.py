"""What was written by older versions, read as the present one would write it.

An event stays in the log as it was written, together with the version of its kind. An *upcaster* makes the next
version out of one; a kind's upcasters stand in a row, oldest first, so the present version of a kind is one more than
it has upcasters. Stores run them on every way out. Rows and snapshots are made anew from the log instead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from beforehand.model.event import Event

DATA_VERSION = 2
"""Raised whenever events, rows or snapshots are written in another form than before. Version 1 had no owner in
decisions."""

BEFOREHAND = "beforehand"
"""The name that `DATA_VERSION` is noted under, beside the kinds of events."""


class Upcaster(Protocol):
    """Pure: the event as the next version would have written it. It may rename the kind and change the scene, `about`
    and `data`; the owner, the time and the number stay."""

    def __call__(self, event: Event, /) -> Event: ...


Upcasters = Mapping[str, Sequence[Upcaster]]
"""For each kind, as it was written, the way to the present, oldest first."""


def kind_version(kind: str, upcasters: Upcasters) -> int:
    """The version in which events of a kind are written now."""
    return 1 + len(upcasters.get(kind, ()))


def up_to_date(event: Event, version: int, upcasters: Upcasters) -> Event:
    """The event in its present form; the very same one when it was written so."""
    for upcaster in upcasters.get(event.kind, ())[version - 1 :]:
        event = upcaster(event)
    return event


def present_versions(upcasters: Upcasters) -> dict[str, int]:
    """What a store notes of the code that writes it: the version of the data and of every kind that has changed."""
    return {BEFOREHAND: DATA_VERSION, **{kind: kind_version(kind, upcasters) for kind in upcasters}}


def is_behind(noted: Mapping[str, int], present: Mapping[str, int]) -> bool:
    """Whether a store was last written by older code than the present."""
    return any(noted.get(name, 1) < version for name, version in present.items())


def newer_names(noted: Mapping[str, int], present: Mapping[str, int]) -> list[str]:
    """What a store has in a newer version than the present code knows. Kinds of crafts that are not installed are not
    looked at: nobody reads them."""
    return sorted(name for name, version in present.items() if noted.get(name, 1) > version)


def _own_decision(event: Event) -> Event:
    """Version 2: a decision names the driver that takes its answer, and a bug's verb is called restart."""
    decision = {**event.data, "owner": event.owner}
    if decision.get("kind") == "bug":
        decision |= _restartable(decision, event)
    return replace(event, data=decision)


def _restartable(decision: Mapping[str, Any], event: Event) -> dict[str, Any]:
    about = decision["about"]
    stopped = f"run:{about['runId']}" if "runId" in about else f"fleet:{about.get('scene', event.scene)}"
    changed: dict[str, Any] = {
        "owner": f"bug:{stopped}",
        "verbs": [_new_verb(verb) for verb in decision["verbs"]],
        "effects": {_new_verb(verb): effect for verb, effect in decision.get("effects", {}).items()},
    }
    if "answer" in decision:
        changed["answer"] = {**decision["answer"], "verb": _new_verb(decision["answer"]["verb"])}
    return changed


def _new_verb(verb: str) -> str:
    return "restart" if verb == "take-up" else verb


def _denied_step(event: Event) -> Event:
    """Version 2: denied is a status of its own, where it was a mark on a skipped step."""
    if not event.data.get("denied"):
        return event
    return replace(event, data={**{k: v for k, v in event.data.items() if k != "denied"}, "status": "denied"})


UPCASTERS: Upcasters = {
    "stepUpdated": (_denied_step,),
    "decisionOpened": (_own_decision,),
    "decisionAnswered": (_own_decision,),
    "decisionWithdrawn": (_own_decision,),
}
"""Those of Beforehand itself; crafts bring their own for their own kinds."""
