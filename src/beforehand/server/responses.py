"""How answers are written: JSON in UTF-8, where a number that is none (NaN, infinity) becomes null."""

from collections.abc import Mapping
from typing import Any

from fastapi import Response
from pydantic_core import PydanticSerializationError, to_json


class Json(Response):
    media_type = "application/json"

    def __init__(self, content: Any, status_code: int = 200, *, version: int | None = None) -> None:
        super().__init__(written(content), status_code)
        if version is not None:
            self.headers["etag"] = f'"{version}"'


def written(content: Any) -> bytes:
    """The content as JSON bytes, whatever text is in it."""
    try:
        return to_json(content, inf_nan_mode="null")
    except (PydanticSerializationError, UnicodeError):
        # Half of a surrogate pair has no UTF-8; spelled out it still reaches the caller.
        return to_json(_spelled_out(content), inf_nan_mode="null")


def _spelled_out(content: Any) -> Any:
    if isinstance(content, str):
        return content.encode("utf-8", "backslashreplace").decode()
    if isinstance(content, Mapping):
        return {_spelled_out(key): _spelled_out(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_spelled_out(item) for item in content]
    return content
