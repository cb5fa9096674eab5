"""The shapes of answers to searches, which are those of Elasticsearch and not of the rest of the API."""

from typing import Any

from pydantic import ConfigDict, Field

from beforehand.server.shapes import Shape


class SearchShape(Shape):
    """What a search found, as Elasticsearch answers it."""

    model_config = ConfigDict(alias_generator=None)

    took: int
    timed_out: bool
    shards: dict[str, Any] = Field(alias="_shards")
    hits: dict[str, Any]
    aggregations: dict[str, Any] | None = None


class SearchCountShape(Shape):
    count: int
    shards: dict[str, Any] = Field(alias="_shards")


class SearchRefusal(Shape):
    model_config = ConfigDict(alias_generator=None)

    type: str
    reason: str
    root_cause: list[dict[str, Any]]


class SearchErrorShape(Shape):
    """A refusal as Elasticsearch's clients read it."""

    error: SearchRefusal
    status: int
