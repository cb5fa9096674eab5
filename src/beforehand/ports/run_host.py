"""What carries runs of plans out: in this process, or on machines somewhere else.

A run's events are in the log wherever it is carried out; a host only says who drives it and takes what people ask of
it. `StateT` is the engine's state of a run, `InputT` what may be handed to its decisions.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeVar

from beforehand.model.event import Verdict

StateT = TypeVar("StateT")
InputT = TypeVar("InputT", contravariant=True)


class RunHost(Protocol[StateT, InputT]):
    async def begin(self, run: StateT) -> None:
        """Drive a run whose start is in the log and that nobody drives yet."""

    async def recover(self, run_id: str) -> None:
        """Drive a run that nobody drives: what was in the air is decided anew. Nothing where it has ended."""

    async def recover_all(self, run_ids: Iterable[str]) -> int:
        """The same for each; one that cannot be is asked about, and spares the rest. Gives how many could."""

    async def send(self, run_id: str, given: InputT) -> Verdict[Any]:
        """Hand an input to the run and return the verdict once it is durable; an ended run is driven again for it."""

    async def brake(self, run_id: str, given: InputT) -> tuple[Verdict[Any], bool]:
        """The same for what stops a run: where the run is driven here it is done at once, also where it cannot be
        recorded. Whether it is in the log already."""

    def states(self) -> Sequence[StateT]:
        """The runs that are decided in this process, as they are."""

    async def state(self, run_id: str) -> StateT:
        """The run's state: of its driver, else from the log. Raises NotFoundError for a run nobody knows."""

    def drives(self, run_id: str) -> bool:
        """Whether the run is being driven now."""

    @property
    def driven(self) -> int:
        """How many runs are being driven."""

    async def wait(self, run_id: str, timeout_s: float | None = None) -> None:
        """Return when nobody drives the run any more, or after the time-out."""

    async def close(self) -> None:
        """Stop driving; the log says what was in the air."""
