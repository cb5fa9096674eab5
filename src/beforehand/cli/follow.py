"""Following a run to its end, or to where only a person can help.

Events move a small picture of the run on. Approvals are given when that was allowed beforehand, asked inline when
somebody sits at the terminal, and left in the inbox otherwise. Whatever the picture says is confirmed with the run's
own document before the command ends on it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from beforehand.cli.backend import Backend, Document
from beforehand.cli.live_view import View
from beforehand.cli.prompt import Asked, ask
from beforehand.cli.screen import print_err
from beforehand.model.errors import BeforehandError, ConflictError
from beforehand.ports.tasks import part, stop

FINAL = ("completed", "partial", "failed", "cancelled")
_ANSWERED = ("decisionAnswered", "decisionWithdrawn")
_HEADS = ("runStarted", "runUpdated", "runFinished", "runAdopted")


class Following:
    def __init__(self, backend: Backend, run_id: str, view: View, *, yes: bool, asks: bool) -> None:
        self._backend = backend
        self._run_id = run_id
        self._view = view
        self._yes = yes
        self._asks = asks
        self._status = ""
        self._open: dict[str, Document] = {}
        self._asking: asyncio.Task[Asked | None] | None = None
        self._about = ""

    async def to_the_end(self) -> Document:
        """The run's document once it has ended, or waits for somebody who is not here."""
        frames = part(self._show_frames())
        batches = self._backend.events(self._run_id)
        coming = _next_of(batches)
        try:
            self._view.begin(await self._backend.run(self._run_id))
            while True:
                waits = {coming} if self._asking is None else {coming, self._asking}
                done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                if coming in done:
                    batch = coming.result()
                    if batch is None:
                        return await self._backend.run(self._run_id)
                    self._take(batch)
                    coming = _next_of(batches)
                if self._asking is not None:
                    await self._hear()
                if (ended := await self._act()) is not None:
                    return ended
        finally:
            await stop(task for task in (frames, coming, self._asking) if task is not None)
            self._view.end()

    async def _show_frames(self) -> None:
        with suppress(BeforehandError):
            async for frame in self._backend.frames():
                if frame.get("kind") == "progress" and frame.get("runId") == self._run_id:
                    self._view.progress(str(frame["stepId"]), float(frame["progress"]))

    def _take(self, batch: list[Document]) -> None:
        for event in batch:
            data = event["data"]
            if event["kind"] == "decisionOpened":
                self._open[data["id"]] = data
            elif event["kind"] in _ANSWERED:
                self._open.pop(data["id"], None)
            elif event["kind"] in _HEADS:
                self._status = data["status"]
            self._view.take(event)

    # -- what follows ----------------------------------------------------------------------------------------------

    async def _act(self) -> Document | None:
        """The run's document when there is nothing more to follow; else see to what waits for a person."""
        if self._status in FINAL:
            return await self._confirmed(*FINAL)
        await self._approve_all()
        if any(decision["kind"] == "bug" for decision in self._open.values()):
            return await self._backend.run(self._run_id)
        if self._asking is None and self._asks:
            await self._ask_next()
        if self._status == "waiting" and self._asking is None:
            return await self._waiting_for_others()
        return None

    async def _waiting_for_others(self) -> Document | None:
        """The run's document if it waits for what nobody here answers; what it asked meanwhile is seen to."""
        run = await self._confirmed("waiting")
        if run is None:
            return None
        here = {item["id"]: item for item in run["decisions"] if self._asks or self._answers_itself(item)}
        if not here:
            return run
        self._open.update(here)
        await self._approve_all()
        if self._asks:
            await self._ask_next()
        return None

    def _answers_itself(self, decision: Document) -> bool:
        return self._yes and decision["kind"] == "approval"

    async def _confirmed(self, *statuses: str) -> Document | None:
        run = await self._backend.run(self._run_id)
        return run if run["status"] in statuses else None

    async def _approve_all(self) -> None:
        for decision in list(self._open.values()):
            if self._answers_itself(decision):
                await self._answer(decision["id"], Asked("approve"))

    async def _answer(self, decision_id: str, asked: Asked) -> None:
        with suppress(ConflictError):  # somebody else was quicker, or the past is being replayed
            await self._backend.answer(decision_id, asked.verb, value=asked.value, note=asked.note)
        self._open.pop(decision_id, None)

    # -- asking inline ---------------------------------------------------------------------------------------------

    async def _ask_next(self) -> None:
        for decision_id in list(self._open):
            decision = await self._backend.decision(decision_id)
            if decision["status"] != "open":
                self._open.pop(decision_id, None)
                continue
            self._view.pause()
            self._about = decision_id
            self._asking = part(ask(decision))
            return

    async def _hear(self) -> None:
        """Take the person's answer, or stop asking when somebody answered elsewhere."""
        task = self._asking
        if task is None:
            return
        if task.done():
            self._asking = None
            asked = task.result()
            if asked is None:
                self._asks = False
                print_err("It stays in the inbox.")
            else:
                await self._give(self._about, asked)
            self._view.go_on()
        elif self._about not in self._open:
            task.cancel()
            self._asking = None
            print_err("", "That has been answered elsewhere.")
            self._view.go_on()

    async def _give(self, decision_id: str, asked: Asked) -> None:
        try:
            await self._answer(decision_id, asked)
        except BeforehandError as error:
            print_err(error.says, error.hint)  # and it is asked again


def _next_of(batches: AsyncIterator[list[Document]]) -> "asyncio.Task[list[Document] | None]":
    async def next_batch() -> list[Document] | None:
        return await anext(batches, None)

    return part(next_batch())
