"""Reading bodies: JSON (or YAML) of bounded size and depth, hostile or not, into the words of a call.

The size is counted while the body comes in, so that it holds without a Content-Length too; and it must come in within
half a minute.
"""

import asyncio
import json
from typing import Any, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from beforehand.app.documents import from_json, parse, plain
from beforehand.model.errors import BadInputError, TooLargeError, TooSlowError
from beforehand.server.errors import ContentTypeError, MalformedError, fields_of, invalid

ModelT = TypeVar("ModelT", bound=BaseModel)
MAX_BYTES = 8 * 1024 * 1024
"""How large a body may be."""
BODY_S = 30.0
"""How long a body may take to come in."""
BIG = 64 * 1024
"""Bodies above this are parsed beside the event loop, so that others are not held up."""
SWALLOWED = 8 * MAX_BYTES
"""How much of a body that is too large is read and thrown away, so that the caller gets to see the answer."""
_YAML = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml")


def body(model: type[ModelT], *, optional: bool = False) -> Any:
    """A dependency that reads the request's body as `model`; an optional one may be left out."""

    async def read(request: Request) -> ModelT:
        document = await read_document(request, optional=optional)
        return read_as(model, {} if document is None else document)

    return Depends(read)


def document_body() -> Any:
    """A dependency that reads the request's body as a plain document."""
    return Depends(read_document)


def read_as(model: type[ModelT], document: Any) -> ModelT:
    names = fields_of(model)
    if not isinstance(document, dict):
        fields = f"an object with {', '.join(names)}" if names else "left out, or an empty object"
        raise BadInputError(f"The body is {fields}.", nearest=names)
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise invalid(error.errors(include_url=False, include_input=False), model) from None


async def read_document(request: Request, *, optional: bool = False) -> Any:
    """The body as plain JSON data; None when it is empty and may be."""
    raw = await read_bytes(request)
    if not raw.strip():
        if optional:
            return None
        raise MalformedError("The body is empty; send a JSON object.", code="input.empty")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise ContentTypeError("The body must be sent as it is, not compressed.", code="input.content_encoding")
    read = _reader(request.headers.get("content-type", ""))
    if len(raw) > BIG:
        return await asyncio.to_thread(read, raw)
    return read(raw)


def _reader(content_type: str) -> Any:
    kind = content_type.split(";")[0].strip().lower()
    if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
        return _read_json
    if kind in _YAML:
        return lambda raw: parse(raw, "The body")
    said = f"not {kind[:100]}" if kind else "and the request does not say what it is"
    raise ContentTypeError(f"The body must be JSON, {said}.", hint="Send the header `Content-Type: application/json`.")


def _read_json(raw: bytes) -> Any:
    try:
        value = from_json(raw.decode("utf-8-sig"), "The body")
    except UnicodeDecodeError as error:
        raise MalformedError(f"The body is not UTF-8 text (byte {error.start}).") from None
    except RecursionError:
        raise BadInputError("The body is nested too deep.", code="document.depth") from None
    except json.JSONDecodeError as error:
        raise MalformedError(f"The body is not JSON: {error}.") from None
    except ValueError:
        raise MalformedError("The body holds a number with thousands of digits.") from None
    return plain(value, "The body")


async def read_bytes(request: Request) -> bytes:
    """The whole body. Raises TooLargeError, TooSlowError, or MalformedError when the caller hangs up."""
    told = request.headers.get("content-length", "")
    try:
        async with asyncio.timeout(BODY_S):
            if told.isdigit() and int(told[:18]) > MAX_BYTES:
                if request.headers.get("expect", "").lower() != "100-continue":
                    await _take(request)
                raise _too_large()
            raw = await _take(request)
    except TimeoutError:
        raise TooSlowError(f"The body did not come in within {BODY_S:g} s, so nothing was done.") from None
    except ClientDisconnect:
        raise MalformedError("The connection closed before the whole body arrived.") from None
    if raw is None:
        raise _too_large()
    return raw


async def _take(request: Request) -> bytes | None:
    """The body, or None where it is too large: some of it is then read and thrown away."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size <= MAX_BYTES:
            parts.append(part)
        else:
            parts.clear()
            if size > SWALLOWED:
                break
    return b"".join(parts) if size <= MAX_BYTES else None


def _too_large() -> TooLargeError:
    return TooLargeError(f"The body is larger than {MAX_BYTES // 1024 // 1024} MiB.")
