"""Who steers a session that nobody types into: the scripted policy, or a model.

Each is asked for the next command from the present state alone. What a model cannot say in time, or at all, ends the
steering and not the session: everything is stopped, and a person decides.
"""

from beforehand.app.runtime import Runtime
from beforehand.app.settings import Settings
from beforehand.crafts.agent.core.deciding import SessionState
from beforehand.crafts.agent.core.home_body import HomeBody
from beforehand.crafts.agent.core.policy import FRESH, next_command
from beforehand.crafts.agent.driver import Steering
from beforehand.model.errors import ConflictError, UnavailableError


def steering_for(runtime: Runtime, state: SessionState) -> Steering | None:
    """Who says the next command; None where a person does."""
    if state.steered_by == "policy":
        return policy_steering()
    return None


def policy_steering() -> Steering:
    """The policy, with what it remembers of this session."""
    memory = FRESH

    async def steer(state: SessionState) -> str:
        nonlocal memory
        if not isinstance(state.body, HomeBody):
            raise ConflictError("The policy knows homes only, and this is another world.", code="policy.other_world")
        command, memory = next_command(state.body, memory)
        if memory.gave_up:
            why, memory = memory.gave_up, FRESH
            raise ConflictError(why, code="policy.gave_up")
        return command

    return steer


def model_name(settings: Settings) -> str:
    """The configured model; UnavailableError that says what to set where there is none."""
    raise UnavailableError("No model is configured.", code="model.none")
