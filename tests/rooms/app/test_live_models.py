"""What a model writes goes out as frames, each with its place, without secrets."""

import json
from typing import Any

import pytest

from beforehand.app.live_models import LiveModel
from beforehand.loop.telemetry import Telemetry
from beforehand.model.errors import ModelUnreachableError
from beforehand.model.secrets import hide
from beforehand.ports.model import Answer, Ask, Message, Piece

ASK = Ask((Message("user", "hello"),))


class Writer:
    """A model that is heard as it is told to, and answers or fails at the end."""

    name = "a writer"

    def __init__(self, *pieces: Piece, error: Exception | None = None) -> None:
        self.pieces = pieces
        self.error = error

    async def answer(self, ask: Ask) -> Answer:
        assert ask.hear is not None
        for piece in self.pieces:
            ask.hear(piece)
        if self.error is not None:
            raise self.error
        return Answer(text="")

    async def close(self) -> None: ...


async def frames_of(model: Writer, ask: Ask = ASK) -> list[Any]:
    telemetry = Telemetry()
    live = LiveModel(model, telemetry, {"draftId": "d1"}, "hall")
    everything, elsewhere = telemetry.follow(idle_s=0.01), telemetry.follow("other", idle_s=0.01)
    assert (await anext(everything), await anext(elsewhere)) == (None, None)
    try:
        await live.answer(ask)
    finally:
        telemetry.close()
        assert [line async for line in elsewhere] == []
        frames = [json.loads(line[6:]) async for line in everything if line is not None]
    return frames


async def test_each_piece_is_a_frame_with_its_place() -> None:
    heard: list[Piece] = []
    pieces = (Piece(1, "one "), Piece(1, "two"), Piece(2, "again"))
    frames = await frames_of(Writer(*pieces), Ask(ASK.messages, hear=heard.append))
    told = {"kind": "modelWriting", "model": "a writer", "draftId": "d1"}
    assert frames == [
        {**told, "request": 1, "at": 0, "text": "one "},
        {**told, "request": 1, "at": 4, "text": "two"},
        {**told, "request": 2, "at": 0, "text": "again"},
    ]
    assert heard == list(pieces)


async def test_a_secret_in_two_pieces_is_in_no_frame() -> None:
    hide("sk-in-two-pieces")
    frames = await frames_of(Writer(Piece(1, "It is sk-in-"), Piece(1, "two-pieces now")))
    assert "".join(frame["text"] for frame in frames) == "It is (hidden) now"


async def test_a_failure_is_the_model_s() -> None:
    with pytest.raises(ModelUnreachableError):
        await frames_of(Writer(Piece(1, "half"), error=ModelUnreachableError("It broke off.")))
