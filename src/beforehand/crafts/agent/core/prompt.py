"""What a model is asked before each command: what there is, what to do, how commands read, and what is so now.

The newest state is the last message, and the only picture goes with it; earlier commands and replies stand before it,
the last few of them. The same session gives the same prompt, byte for byte, and its first part changes only when things
do, so that whoever serves the model may keep it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from beforehand.crafts.agent.core.session import Clock, Step
from beforehand.crafts.agent.core.verbs import VERBS

LAST_EXCHANGES = 12
LONGEST_COMMAND = 200
LONGEST_REPLY = 800
CLOCKS: dict[Clock, str] = {
    "virtual": "The world stands still while you think: only skip lets time pass.",
    "charged": "Thinking takes time: what is under way goes on meanwhile.",
    "realtime": "Time does not wait for you: what is under way goes on while you think.",
}
NOTHING_SAID = "(nothing)"
SIGHT = (
    "The picture shows the map from above as it is now: you are the red disc, its point is where you face, the pale "
    "cone where you look, the dotted line where you walk."
)


@dataclass(frozen=True, slots=True)
class Said:
    """One message, with a PNG where there is one."""

    role: Literal["user", "assistant"]
    text: str
    picture: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Prompt:
    system: str
    messages: tuple[Said, ...]
    """The oldest first; the last one is the user's, with the newest state."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """What a session tells whoever steers it, besides its states."""

    goal: str
    surroundings: str
    """Every object in a line of its own, as it is now."""
    begins: str
    """The state before the first command."""
    rooms: tuple[str, ...] = ()
    instruction: str = ""
    """The goal in more words; the goal itself where there are none."""
    clock: Clock = "virtual"
    verbs: tuple[str, ...] = VERBS.shown
    sight: str = SIGHT
    """How to read the pictures, where there are any."""


EXAMPLE = (
    Said(
        "user",
        "Position: origin (0, 0)\n"
        "Actions: [Standing on origin (done, 0.0s)]\n"
        "Left Hand Holding: None\n"
        "Right Hand Holding: None",
    ),
    Said("assistant", 'stop("Standing on origin")'),
)

_SYSTEM = """\
You steer a robot with a body, two hands and a gaze of its own through the place described below. It \
carries out what you start while you watch, and you decide what comes next. {clock}

# What there is
{surroundings}
{rooms}
Positions are metres: x grows to the right of the map, y upwards.

# What to achieve
Goal: {goal}
Instruction: {instruction}

# How you steer
Before every decision you get the state: where the body is, each action that was started and not stopped yet with its \
stage and its seconds since the start, and what each hand holds. You answer with exactly one of four commands.
start("action")  begins an action. If it happens elsewhere, the body walks there by itself.
stop("action")  ends an action at once, whatever its stage: one that is done, one that failed or is stuck, one that \
goes on for ever and has lasted long enough.
skip(seconds)  lets time pass, one second if you name none, while everything goes well. \
skip(30, wake_on=change) comes back early, as soon as an action changes its stage.
end()  closes the session. Give it once the goal is reached, or cannot be.

# Stages
moving  on the way to where it happens, or turning there
acting  happening now
done  achieved; stop it, because until then it keeps the legs, hand or gaze it uses
failed  it could not be done, and the reason stands behind it; stop it, and mend what was wrong before you try again
An action without an end of its own, such as dancing, stays in acting until you stop it. "stuck" behind the seconds \
says for how long nothing has moved although it should.

# Actions
An action is one verb and, where it needs something, the name of an object as listed above.
Verbs: {verbs}.
Some actions, with the names of another place:
dancing happily
sitting on sofa1
lying on bed2
leaning against counter1 on the left
standing in front of window1 two meters away
walking to hallway
looking at clock1
opening cupboard1
taking spoon1 from drawer1
placing spoon1 on tray1

# Rules
One command in each answer, on one line, and nothing else: no explanation, no quotation of the state.
One verb in each action; two things to do are two actions, and they may run at the same time if they do not need the \
same part of the body.
Name the object that an action is about by its full name.
A hand holds one thing; some things need both hands. Open what is closed before you reach into it or walk through it.
A refused command changes nothing; the reply says why.
{picture}The first exchange below is an example of the form, and not a part of this session."""


def prompt_of(
    briefing: Briefing,
    steps: Sequence[Step],
    state: str,
    picture: bytes | None = None,
    last: int = LAST_EXCHANGES,
) -> Prompt:
    """The prompt for the next command: `steps` are the session's so far, `state` is how things are now."""
    told = tuple(_told(briefing.begins, steps))[-2 * last :] if last > 0 else ()
    reply = steps[-1].reply if steps else ""
    newest = Said("user", _after(reply, state), picture)
    return Prompt(_system(briefing, picture is not None), (*EXAMPLE, *told, newest))


def _system(briefing: Briefing, with_picture: bool) -> str:
    rooms = f"Rooms: {', '.join(briefing.rooms)}." if briefing.rooms else "There are no named rooms."
    return _SYSTEM.format(
        surroundings=briefing.surroundings or "There are no objects.",
        clock=CLOCKS[briefing.clock],
        rooms=rooms,
        goal=briefing.goal or briefing.instruction or "none is given",
        instruction=briefing.instruction or briefing.goal or "none is given",
        verbs=", ".join(briefing.verbs),
        picture=f"{briefing.sight}\n" if with_picture else "",
    )


def _told(begins: str, steps: Iterable[Step]) -> Iterator[Said]:
    """Each exchange so far: what was so, and the command that was given then."""
    before = begins
    for step in steps:
        yield Said("user", before)
        yield Said("assistant", step.command.strip()[:LONGEST_COMMAND] or NOTHING_SAID)
        before = _after(step.reply, step.state)


def _after(reply: str, state: str) -> str:
    """A reply and the state that follows it; the state always comes last."""
    return f"{reply[:LONGEST_REPLY]}\n{state}" if reply else state
