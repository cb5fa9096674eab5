"""What calls take, checked. What they answer stands in `shapes`; crafts bring the bodies of their own calls."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from beforehand.app.intake import NO_DOCUMENT, PlanInput
from beforehand.model.base import WireModel

Version = Annotated[int, Field(strict=True, ge=1)]
Text = Annotated[str, Field(strict=True, max_length=10_000)]


class NewPlan(WireModel):
    """A plan's document, or what somebody wants of a scene: in words, or as an intent."""

    plan: Any = Field(default=None, description="The plan's document: `steps`, each with `id` and `tool`.")
    scene: str | None = None
    text: Text | None = None
    intent: dict[str, Any] | None = None
    order: Literal["given", "free"] | None = None
    position: str | None = None
    tool: str | None = None
    model: str | None = Field(
        default=None,
        description="May read words that the scene's planner refuses: a name, or `configured` for the one that is set.",
    )
    workspace: Text | None = Field(default=None, description="The folder file tools stay inside; for admins.")

    @property
    def given(self) -> PlanInput:
        """What the call hands in."""
        named = {"order": self.order, "position": self.position, "tool": self.tool, "model": self.model}
        options = {name: value for name, value in named.items() if value is not None}
        document = NO_DOCUMENT if self.plan is None else self.plan
        return PlanInput(document, self.scene, self.text, self.intent, options)

    @model_validator(mode="before")
    @classmethod
    def _bare_plan(cls, body: Any) -> Any:
        """A plan may also be sent as it is, without `plan` around it."""
        return {"plan": body} if isinstance(body, dict) and "steps" in body and "plan" not in body else body


class NewIntent(WireModel):
    """What somebody wants of a scene: in words, or as an intent that was corrected."""

    scene: str
    text: Text | None = None
    intent: dict[str, Any] | None = None
    model: str | None = Field(
        default=None,
        description="May read words that the scene's planner refuses: a name, or `configured` for the one that is set.",
    )

    @property
    def given(self) -> PlanInput:
        """What the call hands in."""
        options = {} if self.model is None else {"model": self.model}
        return PlanInput(NO_DOCUMENT, self.scene, self.text, self.intent, options)


class Edits(WireModel):
    """Edits, applied all or none: edit, move, skip, unskip, remove, add."""

    edits: list[dict[str, Any]]
    repair: bool = Field(default=False, description="Take the repair a scene's planner offers for a broken sequence.")


class Regenerate(WireModel):
    note: Text = ""


class PreviewOf(WireModel):
    version: Version | None = Field(default=None, description="The latest when left out.")


class Start(WireModel):
    version: Version


class Retry(WireModel):
    args: dict[str, Any] | None = Field(default=None, description="Other arguments; the step's own when left out.")


class Nothing(WireModel):
    """A call that needs no body."""


class Reply(WireModel):
    """An answer to a decision: one of its verbs, and what goes with it."""

    verb: Text
    note: Text = ""
    value: Any = None


class Parameters(WireModel):
    parameters: dict[str, Any] = Field(default_factory=dict)
    workspace: Text | None = Field(default=None, description="The folder file tools stay inside; for admins.")


class Login(WireModel):
    token: Annotated[str, Field(strict=True, min_length=1, max_length=1_000)]


class ArchiveBefore(WireModel):
    """What moves into the archive: events of what has ended, older than `before`."""

    before: Annotated[str, Field(strict=True, max_length=100, description="A date, a time, or an age such as `90d`.")]
    dry_run: bool = Field(default=False, description="Only say what would move.")
    after: Annotated[int, Field(ge=0)] = Field(default=0, description="Go on behind this event: `next` of the answer.")


class NewToken(WireModel):
    """A token's name, and what it may do."""

    name: Annotated[str, Field(strict=True, max_length=100)]
    role: Annotated[str, Field(strict=True, max_length=100)] = "operator"


REQUESTS: tuple[type[WireModel], ...] = (
    NewToken,
    NewPlan,
    NewIntent,
    Edits,
    Regenerate,
    PreviewOf,
    Start,
    Retry,
    Nothing,
    Reply,
    Parameters,
    Login,
    ArchiveBefore,
)


def takes(model: type[WireModel], *, required: bool = True) -> dict[str, Any]:
    """The schema's words for a request body."""
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}}
    return {"requestBody": {"required": required, "content": content}}
