"""What a workflow has to know of its run, in one piece: plans, events, tools. Who leads writes it, the workflow reads.

It goes through Temporal's history, so that a replay sees what was seen. A history takes 2 MB at a time, so it is
compressed and handed over in parts.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json, to_json

from beforehand.adapters.temporal.wire import document_of, spec_document, spec_from
from beforehand.engine.state import RunState, replay
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.event import Event
from beforehand.model.log_identity import UNNAMED, LogIdentity
from beforehand.model.plan import Plan
from beforehand.ports.tool import ToolSpec

PART_BYTES = 1_500_000


@dataclass(frozen=True, slots=True)
class Known:
    plans: Mapping[int, Plan]
    """By version."""
    events: Sequence[Event]
    catalog: ToolCatalog
    queues: Mapping[str, str]
    """For each tool the queue of those who have it."""
    log: LogIdentity = UNNAMED
    """The log whose keys the calls are sent with."""

    def state(self, run_id: str) -> RunState:
        """The run's state, from these events alone."""
        return replay(run_id, dict(self.plans).__getitem__, list(self.events), self.log)


def write_known(
    plans: Iterable[Mapping[str, Any]],
    events: Iterable[Event],
    tools: Iterable[tuple[ToolSpec, str]],
    log: LogIdentity,
) -> bytes:
    """`tools` are the declarations of those that the plans name, each with its queue."""
    told = {
        "plans": list(plans),
        "events": [document_of(event) for event in events],
        "tools": [{**spec_document(spec), "queue": queue} for spec, queue in tools],
        "log": list(log),
    }
    return zlib.compress(to_json(told), 1)


def read_known(written: bytes) -> Known:
    told = from_json(zlib.decompress(written))
    plans = [Plan.model_validate(plan) for plan in told["plans"]]
    queues = {tool["name"]: tool.pop("queue") for tool in told["tools"]}
    return Known(
        {plan.version: plan for plan in plans},
        [Event(**event) for event in told["events"]],
        ToolCatalog(spec_from(tool) for tool in told["tools"]),
        queues,
        LogIdentity(*told["log"]) if "log" in told else UNNAMED,
    )


def part_of(written: bytes, number: int, upto: int) -> bytes:
    """One part, behind a line that says whether another follows and up to which event the whole reaches."""
    start = number * PART_BYTES
    more = start + PART_BYTES < len(written)
    return b"%s%d\n" % (b"+" if more else b".", upto) + written[start : start + PART_BYTES]
