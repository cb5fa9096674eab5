"""What calls answer about now: everything that is live, and who holds it."""

from pydantic import Field

from beforehand.server.plan_shapes import DecisionShape, RunHeadShape
from beforehand.server.shapes import SceneHeadShape, Shape


class HeldThingShape(Shape):
    """One thing that is held with everything: what a craft moves, or a run."""

    scene: str | None = None
    kind: str
    what: str
    run_id: str | None = None


class NotToldShape(HeldThingShape):
    says: str = Field(description="Why it could not be held, or let go.")


class HoldShape(Shape):
    """Who holds everything, since when, and what was held for it."""

    by: str
    since: str
    what: list[HeldThingShape]
    not_recorded: bool | None = Field(default=None, description="True as long as this is not in the log yet.")


class HoldAnswerShape(Shape):
    held: bool
    already: bool = Field(description="It was so before the call.")
    by: str | None = None
    since: str | None = None
    what: list[HeldThingShape] = Field(description="What is held; for a clear, what was given back.")
    could_not: list[NotToldShape]


class StateShape(Shape):
    """Everything live; crafts add their own lists."""

    seq: int
    hold: HoldShape | None = Field(default=None, description="While everything is held: by whom, since when, and what.")
    scenes: list[SceneHeadShape]
    runs: list[RunHeadShape]
    decisions: list[DecisionShape]
