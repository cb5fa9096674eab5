"""What a package brings as a worker: how the planner knows it, and what it does."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.crafts.rounds.core.inputs import RunWorker
from beforehand.crafts.rounds.core.state import QuestionState
from beforehand.crafts.rounds.core.words import Worker

Outputs = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WorkerKind:
    """`run` gives a value for every slot that `worker` declares; a BeforehandError says why it cannot."""

    worker: Worker
    run: Callable[[Runtime, RunWorker, QuestionState], Awaitable[Outputs]]
