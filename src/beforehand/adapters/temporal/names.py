"""The names that leaders and workers meet under on a Temporal server; one prefix for one installation.

Decisions are taken under the identity of the log, so that a workflow of another one, or of what this one was before it
was restored, never asks whoever leads now.
"""

from dataclasses import dataclass

from beforehand.model.log_identity import UNNAMED, LogIdentity

WORKFLOW = "beforehand.run"
HAND_IN, LOOK = "handIn", "look"
FETCH, APPEND, LEASE = "beforehand.fetch", "beforehand.append", "beforehand.lease"
CALL, JUDGE, PROBE, STOP = "beforehand.call", "beforehand.judge", "beforehand.probe", "beforehand.stop"

LOST, NOT_BEGUN = "lost", "notBegun"
"""The types of the errors with which a worker that shuts down gives a call back."""
NOT_LEADING = "notLeading"
"""The type of the error with which a process that has lost the lead gives a decision back."""


@dataclass(frozen=True, slots=True)
class Names:
    prefix: str
    log: LogIdentity = UNNAMED

    @property
    def runs(self) -> str:
        """The queue of whoever leads: decisions, and the tools that work only there."""
        return self.log.key(f"{self.prefix}.runs")

    def tool(self, name: str) -> str:
        """The queue of all workers that have a tool."""
        return f"{self.prefix}.tool.{name}"

    def run(self, run_id: str) -> str:
        """The id of the workflow of a run."""
        return self.log.key(f"{self.prefix}.{run_id}")
