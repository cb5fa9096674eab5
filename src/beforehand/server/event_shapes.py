"""What the streams send, for the schema: events of the log, live frames, and the server's time."""

from typing import Any

from pydantic import Field

from beforehand.server.shapes import ErrorShape, RoleShape, Shape, gives_content


class EventShape(Shape):
    """One event of the log; the `data:` of each server-sent event."""

    seq: int
    ts: str
    kind: str
    scene: str | None = None
    correlation_id: str
    about: dict[str, Any]
    data: dict[str, Any]
    says: str = Field(description="The event in words.")


class LiveNowShape(Shape):
    """The server's time and the end of its log, once a second while nothing else is sent."""

    now: int = Field(description="Milliseconds since 1970 by the server's clock.")
    seq: int = Field(description="The number of the log's newest event.")
    role: RoleShape
    leader: str | None = Field(description="Where the server is that leads, unless it is this one or none does.")
    log_away_since: int | None = Field(
        default=None, description="Since when the log cannot be written, in ms since 1970; left out while it can."
    )


class LiveHelloShape(LiveNowShape):
    """What a live connection begins with."""

    boot: str = Field(description="Drawn anew whenever the server starts.")
    version: str = Field(description="The version of Beforehand.")
    log: str = Field(description="Tells this log from others; empty while the log is.")


def one_event(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema's words for one server-sent event whose `data` is JSON of this schema."""
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}
    text = {"type": "string"}
    return {"type": "object", "properties": {"id": text, "event": text, "data": data}, "required": ["data"]}


_EVENT = {"$ref": "#/components/schemas/EventShape"}
_HELLO = {"$ref": "#/components/schemas/LiveHelloShape"}
_NOW = {"$ref": "#/components/schemas/LiveNowShape"}
_FRAME = {"type": "object", "additionalProperties": True}
LOG = gives_content(
    "Server-sent events, the `data` of each an event; with `before` or `limit` a list of events.",
    {
        "text/event-stream": {"schema": one_event(_EVENT)},
        "application/json": {"schema": {"type": "array", "items": _EVENT}},
    },
)
FRAMES = gives_content(
    "Server-sent events without ids; the `data` of each is a live frame.",
    {"text/event-stream": {"schema": one_event(_FRAME)}},
)
LIVE = gives_content(
    "Server-sent events: `hello` first, events of the log without a name, `frame`, and `now`.",
    {"text/event-stream": {"schema": one_event({"anyOf": [_HELLO, _EVENT, _NOW, _FRAME]})}},
)
ALWAYS_NAMED: tuple[type[Shape], ...] = (ErrorShape, EventShape, LiveHelloShape, LiveNowShape)
"""Shapes the schema names although no call answers with them as plain JSON."""
