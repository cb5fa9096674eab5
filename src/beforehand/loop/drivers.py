"""The drivers at work, one per owner: started, found, stopped; and a bug in one becomes a decision.

A bug stops that driver only. It is logged, and a person decides whether the thing is taken up again from the log.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from beforehand.model.decision import Decision
from beforehand.model.errors import NotLeadingError
from beforehand.model.event import Event, iso
from beforehand.ports.clock import Clock
from beforehand.ports.log import Log
from beforehand.ports.store import Store
from beforehand.ports.tasks import stop
from beforehand.ports.tracing import following

log = Log("beforehand.loop")
BUG = "bug"
"""The owner of a bug's decision is this and the owner of what stopped, such as `bug:run:r1`."""


@dataclass(frozen=True, slots=True)
class Driven:
    """What a driver drives, in words: for the decision that a bug opens."""

    owner: str
    title: str
    """Such as `The run r1`."""
    about: Mapping[str, Any]
    scene: str | None = None
    correlation_id: str = ""


@dataclass(slots=True)
class Drivers:
    store: Store
    clock: Clock
    work: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def start(
        self, driven: Driven, driving: Coroutine[Any, Any, None], *, ended: Callable[[], None] = lambda: None
    ) -> "asyncio.Task[None]":
        """Have a driver work until it ends, is stopped, or meets a bug; `ended` is called in each case."""
        task = asyncio.create_task(self._watched(driven, driving, ended), name=driven.owner)
        task.add_done_callback(lambda _: driving.close())  # stopped before it began, nobody else would
        self.work[driven.owner] = task
        return task

    async def _watched(self, driven: Driven, driving: Coroutine[Any, Any, None], ended: Callable[[], None]) -> None:
        try:
            with following(driven.correlation_id):
                await driving
        except asyncio.CancelledError:
            raise
        except NotLeadingError as error:  # another process goes on with it
            log.warning("a driver stopped: this process does not lead any more", owner=driven.owner, says=error.says)
        except Exception as error:  # a bug stops this driver only, and a person hears of it
            log.exception("a driver stopped on a bug", owner=driven.owner)
            await self._report(driven, error)
        finally:
            if self.work.get(driven.owner) is asyncio.current_task():
                del self.work[driven.owner]
            ended()

    async def _report(self, driven: Driven, error: Exception) -> None:
        try:
            decision = await self._decision(driven, error)
            event = Event(
                "decisionOpened",
                {**driven.about, "decisionId": decision.id},
                decision.wire(),
                self.clock.now_ms(),
                scene=driven.scene,
                correlation_id=driven.correlation_id,
                owner=decision.owner,
            )
            await self.store.append([event])
        except Exception:
            log.exception("the bug could not be written to the log", owner=driven.owner)

    async def _decision(self, driven: Driven, error: Exception) -> Decision:
        seq = await self.store.last_seq()
        return Decision(
            id=f"{driven.owner.partition(':')[2]}-bug-{seq}",
            kind="bug",
            owner=f"{BUG}:{driven.owner}",
            title=f"{driven.title} stopped on an error in Beforehand itself",
            about={**driven.about, **({"scene": driven.scene} if driven.scene else {})},
            evidence={"error": f"{type(error).__name__}: {error}", "afterSeq": seq},
            verbs=("restart", "leave"),
            effects={"restart": "It is started again from the log.", "leave": "It stays as it is."},
            if_unanswered="It stays stopped.",
            asked_by="beforehand",
            opened_at=iso(self.clock.now_ms()),
        )

    async def wait(self, owner: str, timeout_s: float | None = None) -> None:
        """Return when that owner's driver has ended, or after the time-out; at once where there is none."""
        if owner in self.work:
            await asyncio.wait([self.work[owner]], timeout=timeout_s)

    async def stop(self, prefix: str = "") -> None:
        """Stop every driver whose owner begins like this."""
        await stop([task for owner, task in self.work.items() if owner.startswith(prefix)])
