"""What calls answer, for the schema and its clients. What they take stands in `request_shapes`.

An answer has no field that its shape does not name. Plans and their runs are in `plan_shapes`, what is live now in
`state_shapes`; crafts bring the shapes of their own calls.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Shape(BaseModel):
    """The shape of an answer: it has these fields and no others, which the tests hold every answer to."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", serialize_by_alias=True)


class ReasonShape(Shape):
    code: str
    about: str
    says: str
    try_next: str = ""


class ProblemShape(ReasonShape):
    path: str = ""
    nearest: list[str] = []
    fixable_by: Annotated[str | None, Field(alias="fixable_by")] = None


class ErrorShape(Shape):
    """What every refusal looks like; some carry further fields that say what differs."""

    model_config = ConfigDict(alias_generator=to_camel, extra="allow", serialize_by_alias=True)

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str | None = None
    problems: list[ProblemShape] | None = None
    nearest: list[str] | None = None


class SceneHeadShape(Shape):
    name: str
    kind: str
    active: bool
    live: bool = Field(description="Whether it is; an active scene that is not says why.")
    reason: ReasonShape | None = Field(default=None, description="Why it is active and not live.")
    saved_at: str
    changed: bool | None = Field(
        default=None, description="Saved since it was made live; what is live is what was saved before."
    )


class SceneShape(SceneHeadShape):
    document: dict[str, Any]


class SceneFileHeadShape(Shape):
    """A file that scenes name; `sha256` is of what is kept."""

    name: str
    sha256: str
    bytes: int
    form: str = Field(description="What it is, in two words.")
    saved_at: str


class SceneFileShape(SceneFileHeadShape):
    document: Any


class NamedFileShape(Shape):
    """A file that a scene names, and whether the home keeps it."""

    name: str
    kept: bool


class SceneFileUseShape(Shape):
    """A scene that names files; `problems` are what its check finds now."""

    scene: str
    files: list[NamedFileShape]
    problems: list[ProblemShape]


class ToolShape(Shape):
    name: str
    description: str
    input_schema: dict[str, Any]
    effect: Literal["pure", "idempotent", "physical"]
    destructive: Literal["never", "always", "judged"]
    asks_person: bool
    output: str
    output_schema: dict[str, Any] | None = None
    estimate_s: float
    can_probe: bool
    scene_kind: str | None = None
    source: str


class WhoShape(Shape):
    name: str
    role: Literal["viewer", "operator", "admin"]


class SceneCheckShape(Shape):
    """What is wrong with a scene's document and what is odd about it."""

    ok: bool
    kind: str | None = None
    name: str | None = None
    summary: dict[str, int] | None = Field(default=None, description="How many it has of each, such as positions.")
    problems: list[ProblemShape]
    warnings: list[ProblemShape]


class StatusShape(Shape):
    status: Literal["ok"]


RoleShape = Annotated[
    Literal["leads", "takesOver", "standsBy"],
    Field(description="Where this server stands among those on one database; one that is alone leads."),
]


class LogShape(Shape):
    identity: str = Field(description="Which log this is; a backup that was restored, and a copy, keep it.")
    generation: str = Field(description="Drawn anew where a log may stand beside another one that shares its past.")


class HealthShape(StatusShape):
    version: str
    seq: int
    log: LogShape | None = Field(description="What every key begins with that is sent to a machine, tool or workflow.")
    uptime_s: float
    now: int = Field(description="Milliseconds since 1970 by the server's clock, which deadlines are told in.")
    role: RoleShape


def gives(model: Any, status: int = 200, description: str = "Done.") -> dict[int | str, dict[str, Any]]:
    """The schema's words for an answer; refusals look the same everywhere."""
    return {status: {"model": model, "description": description}, "default": REFUSAL}


def gives_content(description: str, content: Mapping[str, Any]) -> dict[int | str, dict[str, Any]]:
    """The same for an answer that is not one JSON document: what it may be, by media type."""
    return {200: {"description": description, "content": content}, "default": REFUSAL}


REFUSAL: dict[str, Any] = {
    "description": "Refused; the problem says why and what to do.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ErrorShape"}}},
}
