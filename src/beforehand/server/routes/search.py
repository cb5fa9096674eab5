"""Searching the past in the words of Elasticsearch, well enough for its official clients and OpenSearch's.

These calls answer, and refuse, in the forms those clients read; everything else about them is as with any other call.
"""

import json
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from beforehand import __version__
from beforehand.app.runtime import Runtime
from beforehand.model.errors import BeforehandError, NotFoundError
from beforehand.ports.search import SHARDS, Field, SearchError, SearchTimeError
from beforehand.server.answers import changes_nothing
from beforehand.server.callers import RuntimeDep
from beforehand.server.errors import MalformedError, status_of
from beforehand.server.requests import read_document
from beforehand.server.responses import Json
from beforehand.server.search_shapes import SearchCountShape, SearchErrorShape, SearchShape
from beforehand.server.shapes import REFUSAL

router = APIRouter(tags=["search"])
_PRODUCT = {"X-Elastic-Product": "Elasticsearch"}
"""Elasticsearch's own client speaks to nobody who does not say this."""
_NO_CALL = "search.call"
_NUMBERS = ("from", "size")
_PASSED_OVER = ("pretty", "human", "error_trace", "ignore_unavailable", "allow_no_indices", "track_total_hits")
"""What clients may put into the address and what changes nothing here."""


def _answers(model: Any) -> dict[int | str, dict[str, Any]]:
    problem = REFUSAL["content"]
    refused = {"description": "Refused; `error.reason` says why.", "model": SearchErrorShape, "content": problem}
    return {200: {"model": model, "description": "Done."}, "default": refused}


_ANY = {"type": "object", "additionalProperties": True}
_TAKES = {"requestBody": {"required": False, "content": {"application/json": {"schema": _ANY}}}}


@router.get("/search", operation_id="describeSearch", response_model=None, responses=_answers(dict[str, Any]))
@router.get("/search/", include_in_schema=False, response_model=None)
async def describe_search() -> Response:
    """What answers here, as clients ask a server for it."""
    told = {
        "name": "beforehand",
        "cluster_name": "beforehand",
        "cluster_uuid": "beforehand",
        "version": {
            "number": "9.0.0",
            "distribution": "beforehand",
            "build_flavor": "default",
            "build_type": __version__,
            "build_snapshot": False,
            "lucene_version": "10.0.0",
            "minimum_wire_compatibility_version": "8.0.0",
            "minimum_index_compatibility_version": "8.0.0",
        },
        "tagline": "You Know, for Search",
    }
    return _told(told)


@router.head("/search", include_in_schema=False, response_model=None)
@router.head("/search/", include_in_schema=False, response_model=None)
async def ping_search() -> Response:
    return Response(headers=_PRODUCT)


@router.get("/search/_mapping", operation_id="getMappings", response_model=None, responses=_answers(dict[str, Any]))
async def get_mappings(runtime: RuntimeDep) -> Response:
    """Every index with its fields, their types, and what each means."""
    try:
        return _told({name: await _mapping(runtime, name) for name in await runtime.search.names()})
    except BeforehandError as error:
        return _refused(error)


@router.get(
    "/search/{index}/_mapping", operation_id="getMapping", response_model=None, responses=_answers(dict[str, Any])
)
async def get_mapping(index: str, runtime: RuntimeDep) -> Response:
    """The fields of an index, their types, and what each means (`meta.says`)."""
    try:
        return _told({index: await _mapping(runtime, index)})
    except BeforehandError as error:
        return _refused(error)


@router.head("/search/{index}", include_in_schema=False, response_model=None)
async def has_index(index: str, runtime: RuntimeDep) -> Response:
    """How clients ask whether there is an index."""
    return Response(status_code=200 if index in await runtime.search.names() else 404, headers=_PRODUCT)


@router.post(
    "/search/{index}/_search",
    operation_id="search",
    response_model=None,
    responses=_answers(SearchShape),
    openapi_extra=_TAKES,
)
@changes_nothing
async def search(index: str, request: Request, runtime: RuntimeDep) -> Response:
    """Search an index with a body of the Elasticsearch query DSL, of which a part is known.

    An unknown field or clause is refused with the nearest names; it is never an answer of zero hits.
    """
    try:
        found = await runtime.search.search(index, await _body(request))
        return _told(found.wire(index))
    except BeforehandError as error:
        return _refused(error)


@router.post(
    "/search/{index}/_count",
    operation_id="countFound",
    response_model=None,
    responses=_answers(SearchCountShape),
    openapi_extra=_TAKES,
)
@changes_nothing
async def count_found(index: str, request: Request, runtime: RuntimeDep) -> Response:
    """How many documents a query finds."""
    try:
        body = await _body(request)
        if set(body) - {"query"}:
            raise SearchError("A count takes a query and nothing else.", code="search.shape")
        found = await runtime.search.search(index, {**body, "size": 0})
        return _told({"count": found.total, "_shards": SHARDS})
    except BeforehandError as error:
        return _refused(error)


@router.api_route(
    "/search/{rest:path}",
    methods=["GET", "HEAD", "POST", "PUT", "DELETE"],
    include_in_schema=False,
    response_model=None,
)
async def refuse_other_calls(rest: str, request: Request) -> Response:
    """What a whole search server would also do is refused in the form its clients read."""
    says = f"{request.method} /{rest[:100]} is not among the calls that are known here."
    hint = "Known are POST {index}/_search and {index}/_count, and GET _mapping and {index}/_mapping."
    return _refused(NotFoundError(says, code=_NO_CALL, hint=hint))


async def _body(request: Request) -> dict[str, Any]:
    """The body, with the page that some clients put into the address."""
    document = await read_document(request, optional=True)
    body = {} if document is None else document
    if not isinstance(body, dict):
        raise MalformedError("The body is an object.")
    _check_text(body)
    for name, value in request.query_params.items():
        if name in _NUMBERS and value.isascii() and value.isdigit():
            body = {name: int(value[:9]), **body}
        elif name not in _PASSED_OVER:
            raise SearchError(f"The address cannot say {name}={value[:50]}.", code="search.parameter")
    return body


def _check_text(body: Mapping[str, Any]) -> None:
    """Half a surrogate pair can be written in JSON and nowhere else."""
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise MalformedError("The body holds half a character, which is not text.") from None


async def _mapping(runtime: Runtime, index: str) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for field in await runtime.search.fields(index):
        *path, last = field.name.split(".")
        place = properties
        for part in path:
            place = place.setdefault(part, {"properties": {}})["properties"]
        place[last] = _shown(field)
    return {"mappings": {"dynamic": "strict", "properties": properties}}


def _shown(field: Field) -> Mapping[str, Any]:
    meta = {"says": field.says} | ({"unit": field.unit} if field.unit else {})
    return {"type": field.type, "meta": meta}


def _told(content: Any) -> Response:
    answer = Json(content)
    answer.headers.update(_PRODUCT)
    return answer


def _refused(error: BeforehandError) -> Response:
    kind, status = _kind_of(error)
    reason = f"{error.says} {error.hint}".strip()
    told = {"type": kind, "reason": reason}
    return Json({"error": {**told, "root_cause": [told]}, "status": status}, status)


def _kind_of(error: BeforehandError) -> tuple[str, int]:
    """What Elasticsearch calls such a refusal. A search that took too long is not one to be sent again at once."""
    if error.code == _NO_CALL:
        return "illegal_argument_exception", 404
    if isinstance(error, NotFoundError):
        return "index_not_found_exception", 404
    if isinstance(error, SearchTimeError):
        return "timeout_exception", 408
    if isinstance(error, SearchError | MalformedError):
        return "parsing_exception", 400
    return "illegal_argument_exception", status_of(error)[0]
