"""What a stream would do now, or if it were set otherwise: its candidates, the tasks it would start, or why none.

The very tick is asked, on a state that nobody keeps.
"""

from copy import copy
from dataclasses import dataclass
from itertools import islice
from typing import Any

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.decide import decide
from beforehand.crafts.fleet.core.inputs import PatchStream
from beforehand.crafts.fleet.core.patches import patched
from beforehand.crafts.fleet.core.state import FleetState
from beforehand.crafts.fleet.core.streams import KINDS, Candidate
from beforehand.crafts.fleet.core.why import why_stream
from beforehand.crafts.fleet.core.work_queue import Queue
from beforehand.model.fleet import Stream
from beforehand.model.reason import Reason

MOST_CANDIDATES = 50


@dataclass(frozen=True, slots=True)
class StreamTrial:
    stream: Stream
    candidates: tuple[Candidate, ...]
    """The pallets it could move, the best first, each as if it were the only one; 50 at most."""
    tasks: tuple[dict[str, Any], ...]
    """What it would start at the next tick, on the wire."""
    reasons: tuple[Reason, ...]
    """Why it would start none."""


def try_stream(state: FleetState, as_if: PatchStream, now_ms: int) -> StreamTrial:
    """One tick of a stream that is as the patch says; the state given stays as it is."""
    trial = _with(state, as_if)
    stream = trial.streams[as_if.stream_id]
    view = Queue(Board(trial, (), now_ms)).view(stream.stream_id)
    candidates = tuple(islice(KINDS[stream.kind].evaluate(view), MOST_CANDIDATES))
    events = decide(trial, (), now_ms).events
    tasks = tuple(
        dict(event.data)
        for event in events
        if event.kind == "taskCreated" and event.data.get("streamId") == stream.stream_id
    )
    reasons = () if tasks else tuple(why_stream(trial, stream.stream_id, now_ms))
    return StreamTrial(stream, candidates, tasks, reasons)


def _with(state: FleetState, as_if: PatchStream) -> FleetState:
    """A state beside the given one that differs in one stream; what was remembered of the streams is forgotten."""
    trial = copy(state)
    trial.streams = {**state.streams, as_if.stream_id: patched(state.streams[as_if.stream_id], as_if)}
    trial.firsts, trial.no_work = {}, False
    return trial
