"""What the store in memory has for tests beside the Store port; the port's own promises are in tests/contract."""

import pytest

from beforehand.model.errors import UnavailableError
from beforehand.model.event import Event
from beforehand.testing import MemoryLog, MemoryStore


async def test_every_event_can_be_looked_at_and_appends_are_counted() -> None:
    store = MemoryStore()
    await store.append([Event("a", {}, {"x": (1, 2)}, 5), Event("b", {}, {}, 6)])
    await store.append([])
    await store.append([Event("c", {}, {}, 7)])
    assert [(event.seq, event.kind) for event in store.log] == [(1, "a"), (2, "b"), (3, "c")]
    assert store.log[0].data == {"x": [1, 2]}
    assert store.appends == 2


async def test_it_breaks_down_and_is_mended() -> None:
    store = MemoryStore()
    store.break_down()
    with pytest.raises(UnavailableError, match="no space left"):
        await store.append([Event("a", {}, {}, 5)])
    store.mend()
    await store.append([Event("b", {}, {}, 5)])
    assert [event.kind for event in store.log] == ["b"]


async def test_a_log_outlives_the_stores_that_are_opened_on_it() -> None:
    log = MemoryLog()
    first = MemoryStore(shared=log)
    await first.append([Event("a", {}, {}, 5)])
    await first.close()
    assert [event.kind for event in MemoryStore(shared=log).log] == ["a"]
    assert MemoryStore().log == []
