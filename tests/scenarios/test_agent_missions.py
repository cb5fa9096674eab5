"""BabyAI missions finished by commands alone, as MiniGrid's own verifier judges them."""

import pytest

from beforehand.adapters.minigrid.body import minigrid_body
from beforehand.adapters.minigrid.policy import next_command
from beforehand.crafts.agent.core.session import Session, commanded

pytestmark = pytest.mark.needs("minigrid")

KINDS = {
    "GoToLocal": 15,
    "PickupLoc": 15,
    "PutNextLocal": 15,
    "GoTo": 15,
    "Open": 10,
    "OpenTwoDoors": 10,
    "UnlockPickupDist": 10,
    "BlockedUnlockPickup": 5,
    "KeyInBox": 5,
    "BossLevel": 10,
}
SOAK = ("GoToSeq", "Pickup", "PutNextS7N4", "SynthSeq", "UnblockPickup", "UnlockToUnlock", "KeyCorridor", "BossLevel")


def finished(kind: str, seed: int) -> list[str]:
    """The commands that finish a mission; the body is moved by nothing else."""
    body = minigrid_body({"mission": f"BabyAI-{kind}-v0", "seed": seed})
    session, given = Session(body, max_steps=300), []
    while session.status == "open":
        given.append(next_command(body))
        session, step = commanded(session, given[-1])
        assert not step.refused, f"{kind} {seed}: {given[-1]}: {step.reply}"
    assert session.status == "ended", f"{kind} {seed}: {body.goal}: {session.reason}"
    assert session.goal_reached is True, f"{kind} {seed}: {body.goal}"
    return given


def test_there_are_a_hundred_missions_of_ten_kinds() -> None:
    assert sum(KINDS.values()) >= 100
    assert len(KINDS) >= 5


@pytest.mark.parametrize("kind", KINDS)
def test_missions_are_finished_through_start_stop_skip_and_end(kind: str) -> None:
    for seed in range(KINDS[kind]):
        given = finished(kind, seed)
        assert {command.partition("(")[0] for command in given} <= {"start", "stop", "skip", "end"}
        assert given[-1] == "end()"


def test_a_mission_that_nobody_worked_on_is_not_reached() -> None:
    body = minigrid_body({"mission": "BabyAI-PickupLoc-v0", "seed": 1})
    session, _ = commanded(Session(body), "skip(60)")
    session, _ = commanded(session, "end()")
    assert session.goal_reached is False


def test_the_same_mission_takes_the_same_commands_every_time() -> None:
    assert finished("BossLevel", 2) == finished("BossLevel", 2)


@pytest.mark.soak
@pytest.mark.parametrize("kind", SOAK)
def test_many_more_missions_are_finished(kind: str) -> None:
    for seed in range(100, 150):
        finished(kind, seed)
