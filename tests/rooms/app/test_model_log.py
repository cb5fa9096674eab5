"""What a model was asked lies in the log by hash, each text once; pictures by hash only, keys nowhere."""

import asyncio
import json
from typing import Any

import pytest

from beforehand.app.model_log import LoggedModel, recorded_model
from beforehand.app.sentences import Sentences
from beforehand.model.errors import ModelRefusedError
from beforehand.model.event import Event
from beforehand.model.secrets import hide
from beforehand.ports.model import Ask, Message, digest
from beforehand.ports.store import EventFilter
from beforehand.testing import MemoryStore, ScriptedModel, VirtualClock

PNG = b"\x89PNG a picture"
FIRST = Message("user", "state 1", (PNG,))
SECOND = Message("user", "state 2", (PNG,))


def logged(store: MemoryStore, *script: Any, owner: str = "session:s1") -> LoggedModel:
    model = ScriptedModel(*script, name="openai:x")
    return LoggedModel(model, store, VirtualClock(), owner=owner, about={"sessionId": "s1"}, scene="flat")


async def events_of(store: MemoryStore, owner: str = "session:s1") -> list[Event]:
    return await store.events(only=EventFilter(owner=owner))


async def test_each_text_is_written_once_beside_its_hash() -> None:
    store = MemoryStore()
    model = logged(store, "skip(1)", "end()")
    first = Ask((FIRST,), system="Be short.")
    await model.answer(first)
    await model.answer(Ask((Message("user", "state 1"), Message("assistant", "skip(1)"), SECOND), system="Be short."))
    asked, answered, again, _ = await events_of(store)
    assert [asked.kind, answered.kind] == ["modelAsked", "modelAnswered"]
    assert (asked.scene, asked.about) == ("flat", {"sessionId": "s1"})
    assert asked.data["hash"] == answered.data["hash"] == first.hash
    assert set(asked.data["texts"].values()) == {"Be short.", "state 1"}
    assert set(again.data["texts"].values()) == {"skip(1)", "state 2"}
    texts = asked.data["texts"] | again.data["texts"]
    assert [texts[message["text"]] for message in again.data["messages"]] == ["state 1", "skip(1)", "state 2"]
    assert again.data["messages"][2]["images"] == [digest(PNG)]
    assert (answered.data["text"], answered.data["usage"]["requests"]) == ("skip(1)", 1)


async def test_no_key_and_no_picture_reaches_the_log() -> None:
    hide("sk-never-to-be-seen")
    store = MemoryStore()
    model = logged(store, "It is sk-never-to-be-seen.", ModelRefusedError("sk-never-to-be-seen is wrong."))
    ask = Ask((Message("user", "What is sk-never-to-be-seen?", (PNG,)),))
    await model.answer(ask)
    with pytest.raises(ModelRefusedError):
        await model.answer(ask)
    told = json.dumps([event.wire() for event in await events_of(store)])
    assert "sk-never" not in told
    assert "(hidden)" in told
    assert "a picture" not in told


async def test_the_question_is_in_the_log_before_it_is_sent() -> None:
    store = MemoryStore()
    begun = asyncio.Event()

    async def hangs(ask: Ask) -> str:
        begun.set()
        return await asyncio.get_running_loop().create_future()

    asking = asyncio.ensure_future(logged(store, hangs).answer(Ask((FIRST,))))
    await begun.wait()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert [event.kind for event in await events_of(store)] == ["modelAsked"]


async def test_each_owner_has_a_recording_of_its_own() -> None:
    store = MemoryStore()
    ask = Ask((FIRST,))
    await logged(store, "one").answer(ask)
    await logged(store, "two", owner="session:s2").answer(ask)
    assert (await (await recorded_model(store, "session:s2")).answer(ask)).text == "two"
    assert (await (await recorded_model(store, "session:s1")).answer(ask)).text == "one"


async def test_a_long_recording_is_read_to_its_end() -> None:
    store = MemoryStore()
    model = logged(store, lambda ask: ask.messages[0].text)
    asks = [Ask((Message("user", str(number)),)) for number in range(1100)]
    for ask in asks:
        await model.answer(ask)
    replay = await recorded_model(store, "session:s1")
    assert (await replay.answer(asks[-1])).text == "1099"


async def test_the_log_says_it_in_words() -> None:
    store = MemoryStore()
    model = logged(store, "skip(1)\nplease", ModelRefusedError("The key is wrong."))
    await model.answer(Ask((FIRST,)))
    with pytest.raises(ModelRefusedError):
        await model.answer(Ask((FIRST,)))
    told = [Sentences().of(event.kind, event.about, event.data) for event in await events_of(store)]
    assert told[0] == "openai:x was asked."
    assert told[1] == "openai:x answered: skip(1) please"
    assert told[3] == "openai:x gave no answer: The key is wrong."
