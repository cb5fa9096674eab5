"""An errand: a goal carried out by the policy, tried first in virtual time on a copy of the world."""

from dataclasses import dataclass

from beforehand.crafts.agent.core.home_body import HomeBody
from beforehand.crafts.agent.core.policy import FRESH, next_command
from beforehand.crafts.agent.core.session import Session, commanded
from beforehand.ports.body import TICKS_PER_S

MOST_COMMANDS = 500


@dataclass(frozen=True, slots=True)
class Tried:
    """What an errand would come to: how long it takes, the body afterwards, and why it cannot be done if so."""

    seconds: float
    body: HomeBody
    commands: tuple[str, ...]
    why_not: str = ""


def tried(body: HomeBody) -> Tried:
    """Carry the body's goal out in virtual time."""
    session, memory, commands = Session(body), FRESH, list[str]()
    while session.status == "open" and len(commands) < MOST_COMMANDS:
        assert isinstance(session.body, HomeBody)
        command, memory = next_command(session.body, memory)
        session, _ = commanded(session, command)
        commands.append(command)
    after = session.body
    assert isinstance(after, HomeBody)
    why_not = "" if session.goal_reached else memory.gave_up or f"It is not done after {MOST_COMMANDS} commands."
    return Tried((after.tick - body.tick) / TICKS_PER_S, after, tuple(commands), why_not)
