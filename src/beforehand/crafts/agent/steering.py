"""Who steers a session that nobody types into: the scripted policy, or a model.

Each is asked for the next command from the present state alone. What a model cannot say in time, or at all, ends the
steering and not the session: everything is stopped, and a person decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from beforehand.app.live_models import watched_model
from beforehand.app.runtime import Runtime
from beforehand.crafts.agent.core.budget import limits_of
from beforehand.crafts.agent.core.home_body import HomeBody
from beforehand.crafts.agent.core.policy import FRESH, Memory, next_command
from beforehand.crafts.agent.core.prompt import Briefing, prompt_of
from beforehand.crafts.agent.core.session_state import SessionState
from beforehand.crafts.agent.core.words import HomeScene
from beforehand.crafts.agent.driver import Steering
from beforehand.crafts.agent.worlds import policy_of
from beforehand.model.errors import ConflictError, ModelAnswerError
from beforehand.model.usage import Usage
from beforehand.ports.agent_worlds import Policy
from beforehand.ports.model import Ask, Message, Model

if TYPE_CHECKING:
    from beforehand.adapters.models.budget import Budget

TIMEOUT_S = 60.0
LONGEST_ANSWER = 4_000
"""Tokens: a command is one line, but some models think aloud before it."""


def steering_for(runtime: Runtime, state: SessionState, scene: HomeScene) -> Steering | None:
    """Who says the next command; None where a person does. ModelNotConfiguredError where the model is not there."""
    if state.steered_by == "policy":
        policy = policy_of(scene)
        return HomeSteering() if policy is None else WorldSteering(policy)
    return _model_steering(runtime, state) if state.steered_by == "model" else None


def _model_steering(runtime: Runtime, state: SessionState) -> "ModelSteering":
    """A model that goes on with the budget as far as it was used, also by an earlier process."""
    from beforehand.adapters.models.budget import Budget, Limits
    from beforehand.app.models import open_model

    limits = Limits(**limits_of(state.options))  # type: ignore[arg-type]
    budget = Budget(open_model(runtime.settings, state.model), limits, state.used)
    about = {"sessionId": state.session_id}
    return ModelSteering(watched_model(runtime, budget, owner=state.owner, about=about, scene=state.scene), budget)


@dataclass(slots=True)
class HomeSteering:
    """The policy for homes, with what it remembers of this session."""

    memory: Memory = FRESH
    used: Usage | None = None

    async def next_command(self, state: SessionState) -> str:
        assert isinstance(state.body, HomeBody)
        command, self.memory = next_command(state.body, self.memory)
        if self.memory.gave_up:
            why, self.memory = self.memory.gave_up, FRESH
            raise ConflictError(why, code="policy.gave_up")
        return command

    async def close(self) -> None:
        """There is nothing to let go of."""


@dataclass(frozen=True, slots=True)
class WorldSteering:
    """The policy that a world of another kind brings."""

    policy: Policy
    used: Usage | None = None

    async def next_command(self, state: SessionState) -> str:
        return self.policy(state.body)

    async def close(self) -> None:
        """There is nothing to let go of."""


@dataclass(frozen=True, slots=True)
class ModelSteering:
    """A model that is told what there is, what to do and how things are, and answers with one command."""

    model: Model
    budget: "Budget"
    """The limits inside the model, which a person may raise meanwhile."""

    @property
    def used(self) -> Usage:
        return self.budget.used

    async def next_command(self, state: SessionState) -> str:
        from beforehand.adapters.models.budget import Limits

        self.budget.limits = Limits(**limits_of(state.options))  # type: ignore[arg-type]
        try:
            return (await self.model.answer(ask_of(state))).text
        except ModelAnswerError as error:
            if not error.problems:  # not even an answer
                raise
            return ""  # empty or cut off: refused like any words that are no command, and the reply says what is

    async def close(self) -> None:
        await self.model.close()


def ask_of(state: SessionState) -> Ask:
    """What the model is asked now; the newest picture goes with the newest state."""
    body = state.body
    rooms: tuple[str, ...] = ()
    if isinstance(body, HomeBody):
        rooms = tuple(room.name for room in body.world.scene.rooms)
    briefing = Briefing(
        state.goal or "",
        body.surroundings(),
        state.begins,
        rooms,
        state.instruction or "",
        state.session.clock,
    )
    picture = body.picture() if state.options.get("pictures", True) else None
    prompt = prompt_of(briefing, state.history, body.state_text(), picture)
    messages = tuple(Message(said.role, said.text, (said.picture,) if said.picture else ()) for said in prompt.messages)
    return Ask(messages, system=prompt.system, repairs=0, timeout_s=TIMEOUT_S, max_output_tokens=LONGEST_ANSWER)


def options_of(budget: Mapping[str, Any] | None, pictures: bool) -> dict[str, Any]:
    """What a model is given, as it is kept with the session; what is usual is left out."""
    return {**({"budget": dict(budget)} if budget else {}), **({} if pictures else {"pictures": False})}
