"""The last events, a sentence each, newest first."""

from typing import Any

from beforehand.crafts.fleet.sentences import told
from beforehand.model.event import Event, iso
from beforehand.server.page.html import Html, el
from beforehand.server.page.icons import badge
from beforehand.server.page.parts import card, moment, words

SHOWN = 40


def events_list(events: list[Event]) -> list[Html]:
    if not events:
        return [card("no-events", "empty", el("p", {"class": "lead"}, "Nothing has happened yet."))]
    return [_line(event) for event in reversed(events)]


def _line(event: Event) -> Html:
    data = event.data
    state = data.get("status") if event.kind in ("stepUpdated", "runFinished", "runUpdated") else None
    return card(
        f"event-{event.seq}",
        "event",
        el("span", {"class": "seq"}, event.seq),
        el("span", {"class": "told"}, sentence(event), [" ", badge(state)] if state else None),
        moment(iso(event.ts)),
    )


def sentence(event: Event) -> str:
    """What an event says, short."""
    data: Any = event.data
    about = event.about
    if says := told(event.kind, {**about, **data}):
        return says
    match event.kind:
        case "planCreated":
            count = "1 step" if len(data["steps"]) == 1 else f"{len(data['steps'])} steps"
            return f"A plan came in: {data.get('name') or data['id']}, {count}."
        case "planEdited":
            return f"Version {data['version']} of {data.get('name') or data['id']} was made."
        case "runStarted":
            return f"{data.get('name') or 'A plan'} was started."
        case "runFinished" | "runUpdated":
            return f"{data.get('name') or 'The run'}:"
        case "stepUpdated":
            return f"{data.get('stepId')}:"
        case "decisionOpened":
            return f"A person is asked: {_ended(data['title'])}"
        case "decisionAnswered":
            answer = data.get("answer") or {}
            by = f" by {answer['by']}" if answer.get("by") else ""
            return f"Answered with “{answer.get('verb', '')}”{by}: {_ended(data['title'])}"
        case "decisionWithdrawn":
            return f"No longer asked: {_ended(data['title'])}"
    names = ", ".join(str(value) for value in about.values())
    kind = words(event.kind)
    return f"{kind[:1].upper()}{kind[1:]}{': ' + names if names else ''}."


def _ended(title: str) -> str:
    return title if title.endswith((".", "?", "!")) else f"{title}."
