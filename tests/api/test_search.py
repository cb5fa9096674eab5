"""Searching over HTTP: the official clients of Elasticsearch and OpenSearch, roles, and refusals in their form."""

import asyncio
import json
from typing import Any

import pytest
from tests.api.conftest import Server

from beforehand.app.tokens import Tokens
from beforehand.model.event import Event


async def filled(server: Server) -> None:
    data = [{"runId": f"r{number}", "planId": "p1", "status": "running"} for number in range(5)]
    await server.runtime.store.append(
        [Event("runStarted", {"runId": one["runId"]}, one, 1_000_000 + at * 1000) for at, one in enumerate(data)]
    )


async def test_a_search_answers_as_elasticsearch_does(server: Server) -> None:
    await filled(server)
    body = {"query": {"term": {"planId": "p1"}}, "size": 2, "sort": [{"startedAt": "desc"}]}
    answer = await server.http.post("/search/runs/_search", json=body)
    assert answer.status_code == 200
    assert answer.headers["x-elastic-product"] == "Elasticsearch"
    told = answer.json()
    assert told["hits"]["total"] == {"value": 5, "relation": "eq"}
    assert [hit["_id"] for hit in told["hits"]["hits"]] == ["r4", "r3"]
    assert told["hits"]["hits"][0]["sort"] == [1_004_000]


@pytest.mark.parametrize(
    ("index", "body", "status", "kind", "says"),
    [
        ("runs", {"query": {"term": {"planID": "p1"}}}, 400, "parsing_exception", "planId"),
        ("runs", {"query": {"fuzzy": {"planId": "p"}}}, 400, "parsing_exception", "Unknown clause 'fuzzy'"),
        ("runz", {}, 404, "index_not_found_exception", "runs"),
        ("runs", {"size": 20_000}, 400, "parsing_exception", "10000"),
        ("runs", [], 400, "parsing_exception", "object"),
        ("runs", {"query": {"range": {"startedAt": {"gte": 1e308}}}}, 400, "parsing_exception", "A date is"),
        ("runs", {"query": {"term": {"status": "\ud800"}}}, 400, "parsing_exception", "half a character"),
        (
            "runs",
            {
                "aggs": {
                    "a": {
                        "date_histogram": {
                            "field": "startedAt",
                            "calendar_interval": "hour",
                            "extended_bounds": {"min": 0, "max": 10**15},
                        }
                    }
                }
            },
            400,
            "parsing_exception",
            "A date is",
        ),
    ],
)
async def test_refusals_are_in_the_clients_form(
    server: Server, index: str, body: Any, status: int, kind: str, says: str
) -> None:
    sent: dict[str, Any] = {"content": json.dumps(body), "headers": {"Content-Type": "application/json"}}
    answer = await server.http.post(f"/search/{index}/_search", **sent)
    told = answer.json()
    assert (answer.status_code, told["status"], told["error"]["type"]) == (status, status, kind)
    assert says in told["error"]["reason"]


@pytest.mark.parametrize(("method", "path"), [("GET", "_cat/indices"), ("PUT", "runs"), ("GET", "runs/_search")])
async def test_what_a_whole_search_server_would_do_is_refused_in_their_form(
    server: Server, method: str, path: str
) -> None:
    answer = await server.http.request(method, f"/search/{path}")
    told = answer.json()
    assert (answer.status_code, told["status"]) == (404, 404)
    assert answer.headers["content-type"] == "application/json"
    assert "is not among the calls that are known" in told["error"]["reason"]


async def test_the_mapping_says_what_fields_mean(server: Server) -> None:
    told = await server.call("GET", "/search/events/_mapping")
    properties = told["events"]["mappings"]["properties"]
    assert properties["ts"] == {"type": "date", "meta": {"says": "When it happened."}}
    assert properties["about"]["properties"]["runId"]["type"] == "keyword"
    assert "tasks" in await server.call("GET", "/search/_mapping")


async def test_a_count(server: Server) -> None:
    await filled(server)
    assert (await server.call("POST", "/search/runs/_count", {"query": {"match_all": {}}}))["count"] == 5
    assert (await server.call("POST", "/search/runs/_count"))["count"] == 5
    answer = await server.http.post("/search/runs/_count", json={"size": 1})
    assert answer.status_code == 400


async def test_pages_may_stand_in_the_address_and_nothing_else(server: Server) -> None:
    await filled(server)
    told = await server.call("POST", "/search/runs/_search?size=1&from=1", {"sort": ["startedAt"]})
    assert [hit["_id"] for hit in told["hits"]["hits"]] == ["r1"]
    answer = await server.http.post("/search/runs/_search?q=status:failed")
    assert answer.status_code == 400
    assert "q=status:failed" in answer.json()["error"]["reason"]


async def test_a_viewer_may_search_and_nobody_without_a_token(server: Server) -> None:
    await filled(server)
    tokens = Tokens(server.runtime.settings)
    tokens.add("first", "admin", 0)
    token = tokens.add("looks", "viewer", 0)
    bearer = {"Authorization": f"Bearer {token}"}
    answer = await server.http.post("/search/runs/_search", json={}, headers=bearer)
    assert answer.status_code == 200
    answer = await server.http.post("/search/runs/_search", json={})
    assert answer.status_code == 401


@pytest.mark.needs("elasticsearch")
async def test_the_official_elasticsearch_client(server: Server) -> None:
    import elasticsearch

    await filled(server)

    def ask() -> tuple[Any, ...]:
        with elasticsearch.Elasticsearch(f"{server.url}/api/v1/search") as client:
            found = client.search(
                index="runs",
                query={"bool": {"filter": [{"term": {"planId": "p1"}}]}},
                aggs={"by": {"terms": {"field": "status"}}},
                size=1,
                sort=[{"startedAt": "asc"}],
            )
            count = client.count(index="runs", query={"match_all": {}})["count"]
            fields = client.indices.get_mapping(index="runs")["runs"]["mappings"]["properties"]
            with pytest.raises(elasticsearch.BadRequestError, match="Unknown field"):
                client.search(index="runs", query={"term": {"planned": "p1"}})
            with pytest.raises(elasticsearch.NotFoundError):
                client.search(index="nowhere")
            with pytest.raises(elasticsearch.NotFoundError, match="not among the calls"):
                client.get(index="runs", id="r1")
            assert client.indices.exists(index="runs")
            assert not client.indices.exists(index="nowhere")
            return client.ping(), client.info()["cluster_name"], found, count, fields

    alive, name, found, count, fields = await asyncio.to_thread(ask)
    assert (alive, name, count) == (True, "beforehand", 5)
    assert found["hits"]["hits"][0]["_source"]["runId"] == "r0"
    assert found["aggregations"]["by"]["buckets"] == [{"key": "running", "doc_count": 5}]
    assert fields["durationS"]["type"] == "double"


@pytest.mark.needs("opensearchpy")
async def test_the_official_opensearch_client(server: Server) -> None:
    import opensearchpy

    await filled(server)

    def ask() -> tuple[Any, ...]:
        host = server.url.removeprefix("http://")
        name, _, port = host.partition(":")
        client = opensearchpy.OpenSearch([{"host": name, "port": int(port), "url_prefix": "api/v1/search"}])
        found = client.search(index="runs", body={"query": {"exists": {"field": "startedAt"}}}, size=2)
        with pytest.raises(opensearchpy.RequestError, match="Unknown clause"):
            client.search(index="runs", body={"query": {"script": {}}})
        return client.ping(), found, client.count(index="runs")["count"]

    alive, found, count = await asyncio.to_thread(ask)
    assert (alive, count) == (True, 5)
    assert found["hits"]["total"]["value"] == 5
    assert len(found["hits"]["hits"]) == 2
