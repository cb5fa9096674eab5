"""Search on a server that speaks the query DSL: the same body, checked against the server's own mapping, then sent.

A real server answers a misspelt field with zero hits; the check beforehand makes it the same error as everywhere.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import httpx2

from beforehand.adapters.search.clauses import Columns
from beforehand.adapters.search.requests import LONGEST_S, read_request
from beforehand.model.errors import NotFoundError, UnavailableError
from beforehand.ports.search import Field, FieldType, Found, Hit, SearchError, SearchTimeError

_TYPES: Mapping[str, FieldType] = {
    "keyword": "keyword",
    "text": "text",
    "long": "long",
    "integer": "long",
    "short": "long",
    "byte": "long",
    "double": "double",
    "float": "double",
    "boolean": "boolean",
    "date": "date",
}


class RemoteSearch:
    """`url` is what stands in front of the names of indexes; nothing is sent before a question."""

    def __init__(
        self,
        url: str,
        *,
        now_ms: Callable[[], int],
        headers: Mapping[str, str] | None = None,
        longest_s: float = LONGEST_S,
    ) -> None:
        self._url = url.rstrip("/")
        self._now_ms = now_ms
        sent = {"Accept": "application/json", **(headers or {})}
        self._http = httpx2.AsyncClient(headers=sent, timeout=longest_s + 1, trust_env=False)
        self._mappings: dict[str, tuple[Field, ...]] = {}

    async def names(self) -> Sequence[str]:
        found = await self._call("GET", "/_mapping")
        return sorted(name for name in found if not name.startswith("."))

    async def fields(self, index: str) -> Sequence[Field]:
        if index not in self._mappings:
            self._mappings[index] = await self._mapping(index)
        return self._mappings[index]

    async def check(self, index: str, body: Mapping[str, Any]) -> None:
        columns = Columns(index, await self.fields(index))
        try:
            read_request(columns, body, self._now_ms())
        except SearchError:
            # The server may have learnt new fields since it was asked.
            self._mappings.pop(index, None)
            read_request(Columns(index, await self.fields(index)), body, self._now_ms())

    async def search(self, index: str, body: Mapping[str, Any]) -> Found:
        await self.check(index, body)
        asked = {"track_total_hits": True, **body}
        told = await self._call("POST", f"/{index}/_search", asked)
        if told.get("timed_out"):
            raise SearchTimeError("The search server did not finish in time.", hint="Narrow the search.")
        return _found(told)

    async def values(self, index: str, fields: Sequence[str], most: int) -> Mapping[str, Sequence[str]]:
        aggs = {name: {"terms": {"field": name, "size": most}} for name in fields}
        found = (await self.search(index, {"size": 0, "aggs": aggs})).aggregations
        return {name: [str(bucket["key"]) for bucket in found[name]["buckets"]] for name in fields}

    async def keep_up(self) -> None:
        """Filling the server is not Beforehand's work."""

    async def close(self) -> None:
        await self._http.aclose()

    async def _mapping(self, index: str) -> tuple[Field, ...]:
        if not index or any(mark in index for mark in "/?#*,"):
            raise NotFoundError.unknown("index", index, await self.names(), code="search.index", plural="indexes")
        told = await self._call("GET", f"/{index}/_mapping")
        found: dict[str, Field] = {}
        for one in told.values():
            found |= {field.name: field for field in _fields(one.get("mappings", {}).get("properties", {}), "")}
        return tuple(found.values())

    async def _call(self, method: str, path: str, body: Any = None) -> Any:
        content = None if body is None else json.dumps(body)
        headers = None if body is None else {"Content-Type": "application/json"}
        try:
            answer = await self._http.request(method, f"{self._url}{path}", content=content, headers=headers)
            told = answer.json()
        except httpx2.TimeoutException:
            raise SearchTimeError("The search server did not answer in time.", hint="Narrow the search.") from None
        except (httpx2.HTTPError, ValueError) as error:
            raise UnavailableError(
                f"The search server at {self._url} does not answer: {type(error).__name__}.", code="search.unreachable"
            ) from None
        if answer.status_code >= 400:
            raise await self._refusal(answer.status_code, told, path)
        return told

    async def _refusal(self, status: int, told: Any, path: str) -> Exception:
        error = told.get("error", {}) if isinstance(told, dict) else {}
        kind, reason = (error.get("type"), error.get("reason")) if isinstance(error, dict) else (None, str(error))
        if status == 404 and kind == "index_not_found_exception":
            return NotFoundError.unknown(
                "index", path.split("/")[1], await self.names(), code="search.index", plural="indexes"
            )
        says = f"The search server refused: {reason or status}"
        if status == 400:
            return SearchError(f"{says.rstrip('.')}.")
        if status in (408, 504):
            return SearchTimeError(f"{says.rstrip('.')}.")
        return UnavailableError(f"{says.rstrip('.')}.", code="search.refused")


def _fields(properties: Mapping[str, Any], before: str) -> Iterator[Field]:
    for name, one in properties.items():
        path = f"{before}{name}"
        if "properties" in one:
            yield from _fields(one["properties"], f"{path}.")
        elif one.get("type") in _TYPES:
            meta = one.get("meta", {})
            yield Field(path, _TYPES[one["type"]], str(meta.get("says", "")), unit=str(meta.get("unit", "")))
            for part, inner in one.get("fields", {}).items():
                if inner.get("type") in _TYPES:
                    yield Field(f"{path}.{part}", _TYPES[inner["type"]], "")


def _found(told: Mapping[str, Any]) -> Found:
    hits = told["hits"]
    total = hits.get("total", {})
    return Found(
        total["value"] if isinstance(total, Mapping) else int(total),
        tuple(Hit(one["_id"], one.get("_source"), tuple(one.get("sort", ()))) for one in hits["hits"]),
        told.get("aggregations", {}),
        int(told.get("took", 0)),
    )
