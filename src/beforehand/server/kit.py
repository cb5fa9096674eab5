"""What crafts' calls are written with, and what a craft hands to the server.

A craft's module with its calls imports from here only, and ends in one `HttpPart`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import AfterValidator

from beforehand.model.base import WireModel
from beforehand.server.answers import DoneWrite, answered_from, changes_nothing
from beforehand.server.callers import CallerDep, RuntimeDep, admins_only
from beforehand.server.request_shapes import Nothing, takes
from beforehand.server.requests import body, document_body
from beforehand.server.responses import Json
from beforehand.server.shapes import ProblemShape, ReasonShape, Shape, gives, gives_content

SceneQuery = Annotated[
    str | None,
    Query(description="The scene, where a name is in several of them."),
    AfterValidator(lambda scene: scene or None),
]
NoBody = Annotated[Nothing, body(Nothing, optional=True)]


@dataclass(frozen=True, slots=True)
class HttpPart:
    """The HTTP side of a craft."""

    routers: tuple[APIRouter, ...] = ()
    requests: tuple[type[WireModel], ...] = ()
    """The bodies its calls take, for the schema."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """The shapes of the lists it adds to `GET /state`, by name."""
    brakes: tuple[str, ...] = ()
    """Patterns of its calls, below `/api/v1/`, that stop something and begin nothing: they work without the log."""


__all__ = [
    "APIRouter",
    "CallerDep",
    "DoneWrite",
    "HttpPart",
    "Json",
    "NoBody",
    "Nothing",
    "ProblemShape",
    "ReasonShape",
    "RuntimeDep",
    "SceneQuery",
    "Shape",
    "WireModel",
    "admins_only",
    "answered_from",
    "body",
    "changes_nothing",
    "document_body",
    "gives",
    "gives_content",
    "takes",
]
