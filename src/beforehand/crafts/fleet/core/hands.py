"""What people say they did with their hands is true in a simulated hall too: pallets brought, taken, loaded."""

from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

from beforehand.crafts.fleet.core.inputs import AnswerDecision, FleetInput, PatchWorksite, RobotVerb
from beforehand.model.event import Event, Verdict
from beforehand.model.fleet import Occupancy


@runtime_checkable
class Hall(Protocol):
    """Where the pallets of simulated robots really are."""

    def set_occupancy(self, worksite_id: str, occupancy: Occupancy) -> None: ...

    def set_load(self, robot_id: str, loaded: bool) -> None: ...


def follow_hands(hall: Hall, given: Iterable[FleetInput], verdict: Verdict[Any]) -> None:
    """Tells the hall what was said and not refused."""
    refused = {reason.about for reason in verdict.reasons}
    for event in verdict.events:
        if event.kind in ("palletPicked", "palletDropped") and event.data.get("byHand"):
            _moved(hall, event)
    for one in given:
        match one:
            case PatchWorksite() if one.worksite_id not in refused:
                hall.set_occupancy(one.worksite_id, one.occupancy)
            case RobotVerb(verb="set-load" | "unloaded") if one.robot_id not in refused:
                hall.set_load(one.robot_id, one.value == "loaded")
            case AnswerDecision(verb="unloaded"):
                _unloaded(hall, one.decision_id, verdict)
            case _:
                pass  # nobody's hands moved anything


def _moved(hall: Hall, event: Event) -> None:
    hall.set_occupancy(event.data["worksiteId"], event.data["occupancy"])
    hall.set_load(event.data["robotId"], event.data["loadState"] == "loaded")


def _unloaded(hall: Hall, decision_id: str, verdict: Verdict[Any]) -> None:
    for event in verdict.events:
        if event.kind == "decisionAnswered" and event.about.get("decisionId") == decision_id:
            hall.set_load(event.about["robotId"], False)
