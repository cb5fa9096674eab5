"""What a model writes is seen while it is written: each piece is a live frame, beside the log and not in it.

A frame is `{kind: "modelWriting", model, request, at, text}` with the ids of whatever asked. `at` is how many
characters of that request's answer came before, so that who missed a frame knows it. Secrets are taken out first.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from beforehand.app.model_log import LoggedModel
from beforehand.app.runtime import Runtime
from beforehand.loop.telemetry import Telemetry
from beforehand.model.secrets import Veil
from beforehand.ports.model import Answer, Ask, Hear, Model, Piece

WRITING = "modelWriting"


def watched_model(
    runtime: Runtime, model: Model, *, owner: str, about: Mapping[str, Any], scene: str | None = None
) -> LoggedModel:
    """The model as crafts ask it: its answers are seen while it writes them, and all of it is in the log."""
    live = LiveModel(model, runtime.telemetry, about, scene)
    return LoggedModel(live, runtime.store, runtime.clock, owner=owner, about=about, scene=scene)


class LiveModel:
    """A model whose answers go out as frames, piece by piece."""

    def __init__(self, model: Model, telemetry: Telemetry, about: Mapping[str, Any], scene: str | None) -> None:
        self.name = model.name
        self._model = model
        self._telemetry = telemetry
        self._frame = {"kind": WRITING, "model": model.name, **about}
        self._scene = scene

    async def answer(self, ask: Ask) -> Answer:
        writing = _Writing(self._show)
        try:
            return await self._model.answer(replace(ask, hear=_both(ask.hear, writing.hear)))
        finally:
            writing.end()

    async def close(self) -> None:
        await self._model.close()

    def _show(self, piece: Piece, at: int) -> None:
        frame = {**self._frame, "request": piece.request, "at": at, "text": piece.text}
        self._telemetry.publish(frame, self._scene)


class _Writing:
    """One answer as it grows; with the next request it begins anew."""

    def __init__(self, show: Callable[[Piece, int], None]) -> None:
        self._show = show
        self._request = 0
        self._at = 0
        self._veil = Veil()

    def hear(self, piece: Piece) -> None:
        if piece.request != self._request:
            self.end()
            self._request, self._at = piece.request, 0
        self._tell(self._veil.take(piece.text))

    def end(self) -> None:
        self._tell(self._veil.rest())

    def _tell(self, text: str) -> None:
        if text:
            self._show(Piece(self._request, text), self._at)
            self._at += len(text)


def _both(first: Hear | None, second: Hear) -> Hear:
    def hear(piece: Piece) -> None:
        if first is not None:
            first(piece)
        second(piece)

    return hear
