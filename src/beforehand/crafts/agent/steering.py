"""Who steers a session that nobody types into: the scripted policy, or a model.

Each is asked for the next command from the present state alone. What a model cannot say in time, or at all, ends the
steering and not the session: everything is stopped, and a person decides.
"""

from beforehand.app.runtime import Runtime
from beforehand.app.settings import Settings
from beforehand.crafts.agent.core.deciding import SessionState
from beforehand.crafts.agent.driver import Steering
from beforehand.model.errors import UnavailableError


def steering_for(runtime: Runtime, state: SessionState) -> Steering | None:
    """Who says the next command; None where a person does."""
    return None


def model_name(settings: Settings) -> str:
    """The configured model; UnavailableError that says what to set where there is none."""
    raise UnavailableError("No model is configured.", code="model.none")
