"""What is counted from tallies is what is counted from the documents, whatever is asked."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.contract.test_search import CRAFTS, DAY, HOUR, NOW, T0

from beforehand.adapters.search.embedded import EmbeddedSearch
from beforehand.adapters.search.tallies import Countable, countable
from beforehand.app.search import searched
from beforehand.model.event import Event
from beforehand.testing import MemoryStore

KINDS = ("oneHappened", "anotherHappened", "fleetHeld")
ROBOTS = ("RB-01", "RB-02", None)
INTERVALS = ({"calendar_interval": each} for each in ("minute", "hour", "day", "week", "month", "quarter", "year"))
EVERY = (*INTERVALS, *({"fixed_interval": each} for each in ("90m", "30m", "1h", "2h", "3d")))


def happened(chance: random.Random) -> Event:
    robot = chance.choice(ROBOTS)
    at = T0 + chance.choice([chance.randint(-40 * DAY, 2 * DAY), chance.randint(0, 3) * HOUR, chance.randint(0, HOUR)])
    return Event(
        chance.choice(KINDS), {} if robot is None else {"robotId": robot}, {}, at, chance.choice(["hall", "yard", None])
    )


def limits(chance: random.Random) -> dict[str, Any]:
    """A range over the time: on the hour, next to it, or anywhere; perhaps upside down."""
    signs = chance.sample(["gte", "gt", "lte", "lt"], chance.randint(0, 3))
    moments = (T0, T0 + HOUR, T0 - 1, T0 + 1, T0 - 3 * DAY, T0 + chance.randint(-DAY, DAY), "now-1d/d", "2026-11-03")
    return {sign: chance.choice(moments) for sign in signs}


def query(chance: random.Random, depth: int = 0) -> dict[str, Any] | None:
    match chance.randint(0, 6 if depth < 2 else 3):
        case 0:
            return {"match_all": {}}
        case 1:
            return {"term": {"kind": chance.choice([*KINDS, "nothing"])}}
        case 2:
            return {"term": {"about.robotId": chance.choice(["RB-01", {"value": "RB-02"}])}}
        case 3:
            return {"range": {"ts": limits(chance)}}
        case _:
            parts = [query(chance, depth + 1) for _ in range(chance.randint(1, 3))]
            return {"bool": {chance.choice(["filter", "must", "must_not", "should"]): parts}}


def terms(chance: random.Random) -> dict[str, Any]:
    """The values of a field, of which some are tallied and one is not."""
    orders = [{"_count": way} for way in ("asc", "desc")] + [{"_key": way} for way in ("asc", "desc")]
    return {
        "field": chance.choice(["kind", "scene", "about.robotId", "seq"]),
        "size": chance.choice([1, 2, 10]),
        "min_doc_count": chance.choice([1, 1, 40]),
        "order": chance.choice([*orders, [orders[0], orders[3]]]),
    }


async def test_tallies_count_what_the_documents_do(tmp_path: Path) -> None:
    chance = random.Random(5)
    store = MemoryStore(CRAFTS.projection())
    indexes = searched(CRAFTS)
    plain = tuple(replace(index, grows=False) for index in indexes)
    tallied = EmbeddedSearch(store, indexes, now_ms=lambda: NOW, path=tmp_path / "tallied")
    counted = EmbeddedSearch(store, plain, now_ms=lambda: NOW, path=tmp_path / "counted")
    for _ in range(4):
        await store.append([happened(chance) for _ in range(300)])
        for _ in range(120):
            histogram = {"field": "ts", "min_doc_count": chance.randint(0, 2), **chance.choice(EVERY)}
            body: dict[str, Any] = {"size": 0, "query": query(chance), "aggs": {"a": {"date_histogram": histogram}}}
            if "minute" in str(histogram):
                histogram["min_doc_count"] = 1
            body["aggs"]["b"] = {"terms": terms(chance)}
            found, expected = await tallied.search("events", body), await counted.search("events", body)
            assert (found.total, found.aggregations) == (expected.total, expected.aggregations), body
    await tallied.close()
    await counted.close()
    await store.close()


def test_a_query_that_a_tally_cannot_answer_is_left_to_the_documents() -> None:
    events = next(index for index in searched(CRAFTS) if index.name == "events")

    def read(query: dict[str, Any]) -> Countable | None:
        return countable(events, query, lambda limits: (T0, T0 + 1))

    kind = {"term": {"kind": "fleetHeld"}}
    found = read({"bool": {"filter": [kind, {"range": {"ts": {"gte": T0}}}]}})
    assert found == Countable(events, "kind", "fleetHeld", T0, T0 + 1)
    for other in (
        {"term": {"kind": {"value": "fleetheld", "case_insensitive": True}}},
        {"term": {"owner": "fleet:hall"}},
        {"range": {"seq": {"gte": 3}}},
        {"bool": {"filter": [kind, {"term": {"about.robotId": "RB-01"}}]}},
        {"bool": {"must_not": [kind]}},
        {"exists": {"field": "kind"}},
    ):
        assert read(other) is None, other
