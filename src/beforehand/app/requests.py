"""Writes with a key: what was answered to each, for a day, so that asking twice does it once.

That a write was done is in the log, in the events it caused. What was answered lies beside the log: it would only be
there twice.
"""

from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.loop.asked import Asked
from beforehand.model.errors import BadInputError, ConflictError

KEPT_MS = 24 * 3_600_000
SWEEP_MS = 3_600_000
Answer = dict[str, Any]


class Requests:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._under_way: dict[str, str] = {}
        self._swept_at = 0

    async def answered(self, asked: Asked) -> Answer | None:
        """What was answered to this write before; None when it is new.

        Raises BadInputError when its key was used for something else, ConflictError while it is being done, and when
        it was done and its answer was never given.
        """
        under_way = self._under_way.get(asked.request_id)
        row = await self._runtime.store.row("request", asked.request_id)
        if row is not None and row["at"] < self._runtime.now() - KEPT_MS:
            row = None
        before = under_way if under_way is not None else row and row["content"]
        if before is None:
            return None
        kept = None if under_way is not None else await self._runtime.store.snapshot(_owner(asked))
        if kept is not None and kept[1].get("refused"):
            return None
        if before != asked.content:
            raise BadInputError(
                "This Idempotency-Key was used for another request already.",
                code="request.key_used",
                hint="Draw a new key for every new request.",
            )
        if under_way is not None:
            raise ConflictError("This request is being done now.", code="request.under_way", hint="Ask again soon.")
        if kept is None:
            raise ConflictError(
                "This request was done just before the server stopped, and its answer is lost. It is not done again.",
                code="request.answer_lost",
                hint="Look at what it was about.",
            )
        return kept[1]

    def begin(self, asked: Asked) -> None:
        self._under_way[asked.request_id] = asked.content

    def end(self, asked: Asked) -> None:
        self._under_way.pop(asked.request_id, None)

    async def keep(self, asked: Asked, answer: Answer, what: str, by: str) -> None:
        """Keep what is answered to a write that was done; one that left no events gets one of its own."""
        if not asked.kept:
            await self._runtime.log("requestDone", {"what": what, "by": by}, owner="requests")
        await self._save(asked, answer)
        await self._sweep()

    async def refuse(self, asked: Asked) -> None:
        """A write that was refused may be asked for again, even if something of it is in the log."""
        if asked.kept:
            await self._save(asked, {"refused": True})

    async def _save(self, asked: Asked, answer: Answer) -> None:
        store = self._runtime.store
        await store.save_snapshot(_owner(asked), await store.last_seq(), answer)

    async def _sweep(self) -> None:
        now = self._runtime.now()
        if now - self._swept_at < SWEEP_MS:
            return
        self._swept_at = now
        rows = await self._runtime.store.rows("request", open=True, limit=1000)
        old = [row["id"] for row in rows if row["at"] < now - KEPT_MS]
        for request_id in old:
            await self._runtime.store.save_snapshot(f"request:{request_id}", 0, {})
        if old:
            await self._runtime.log("requestsForgotten", {"ids": old}, owner="requests")


def _owner(asked: Asked) -> str:
    return f"request:{asked.request_id}"
