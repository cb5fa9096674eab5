"""What a craft brings to the house: planning, checking and previewing for scenes of its kind.

The house keeps one craft per kind of scene. A plan that belongs to no scene is checked by the engine alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from beforehand.model.decision import Decision
from beforehand.model.plan import Plan
from beforehand.model.reason import Problem


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What somebody wants of a scene: in words, or as an intent."""

    scene: str
    text: str | None = None
    intent: Mapping[str, Any] | None = None
    note: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


class Craft(Protocol):
    """One kind of scene. Scenes come as the documents they were saved as, already checked by `check_scene`."""

    kind: str

    def check_scene(self, document: Any) -> dict[str, Any]:
        """The scene's document in its normal form; BadInputError with every problem."""

    def warnings(self, document: Any) -> list[Problem]:
        """What is legal in a checked document and yet worth a look."""

    async def activate(self, name: str, document: Mapping[str, Any]) -> None:
        """The scene is live from now on."""

    async def deactivate(self, name: str) -> None: ...

    async def plan(self, request: PlanRequest, correlation_id: str = "") -> Plan:
        """A plan for the request; BadInputError when it cannot be made, NotUnderstoodError when it would be a guess."""

    async def draft(self, request: PlanRequest, correlation_id: str = "") -> Plan:
        """The same for somebody who only looks: it may have no steps, where everything is so already."""

    async def take_in(self, document: Any, name: str, *, only_look: bool = False) -> Any:
        """A document somebody wrote for a scene of this kind, as a plan's document; BadInputError if it is none.

        `only_look` takes in what is wrong too, as far as it can be read, so that a preview can show it.
        """

    async def prepare(self, plan: Plan) -> Plan:
        """A plan somebody wrote for a scene of this kind, bound to the state of the world it starts from."""

    async def problems(self, plan: Plan) -> list[Problem]:
        """Why the steps of this craft would not work out in the scenes they name, whatever the engine thinks."""

    async def repair(self, plan: Plan, documents: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str] | None:
        """An offer to mend edited steps the scene does not allow, and what it says; None when there is none."""

    async def make_ready(self, plan: Plan) -> None:
        """A run of this plan is about to start; ConflictError when its scene is not live and cannot be made so."""

    async def drift(self, plan: Plan) -> dict[str, Any] | None:
        """How the world differs from the one the plan was made for; None when it does not."""

    async def preview(self, plan: Plan) -> dict[str, Any]: ...

    async def state(self, name: str) -> dict[str, list[dict[str, Any]]]:
        """What is live in a scene, for `GET /state`: lists named as there (robots, worksites, …)."""

    async def answer(self, decision: Decision, verb: str, *, value: Any, note: str, by: str) -> bool:
        """Take the answer to a decision this craft opened; False when it is not its own."""

    async def close(self) -> None: ...
