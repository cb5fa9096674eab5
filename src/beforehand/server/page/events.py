"""The last events, a sentence each, newest first."""

from beforehand.app.sentences import Sentences
from beforehand.model.event import Event, iso
from beforehand.server.page.html import Html, el
from beforehand.server.page.parts import card, moment

SHOWN = 40


def events_list(events: list[Event], sentences: Sentences) -> list[Html]:
    if not events:
        return [card("no-events", "empty", el("p", {"class": "lead"}, "Nothing has happened yet."))]
    return [_line(event, sentences) for event in reversed(events)]


def _line(event: Event, sentences: Sentences) -> Html:
    return card(
        f"event-{event.seq}",
        "event",
        el("span", {"class": "seq"}, event.seq),
        el("span", {"class": "told"}, sentences.of(event.kind, event.about, event.data)),
        moment(iso(event.ts)),
    )
