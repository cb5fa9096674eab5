"""What a body can do: one verb a line, with what it needs, what it does to the world and when it is done.

A verb with none of touch, take, place and long range has no natural end: it is `acting` until it is stopped. Others
bring verbs of their own by the entry point `beforehand.agent_verbs`; they stand in the same table.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from beforehand.model.errors import BadInputError

Aim = Literal["thing", "spot", "maybe", "none"]
Effect = Literal["", "posture", "take", "place", "push", "open", "close"]
HANDS = ("right hand", "left hand")
RESOURCES = ("base", *HANDS, "gaze", "posture", "voice")
HAND = "hand"
"""Any free hand, the right one first."""
BOTH = "both hands"
TOUCH_S = 2.0
REACH_S = 1.0
STILL_S = 1.0
"""How long a thing has to lie still before it counts as placed."""


@dataclass(frozen=True, slots=True)
class Verb:
    """`forms` are the words for it, the one shown in messages first; `links` the words before what it is about."""

    name: str
    forms: tuple[str, ...]
    needs: tuple[str, ...] = ()
    aim: Aim = "none"
    links: tuple[str, ...] = ()
    affords: str | None = None
    """What a thing must afford; None where any thing will do."""
    effect: Effect = ""
    touch: bool = False
    take: bool = False
    place: bool = False
    long_range: bool = False
    acts_s: float = 0.0
    """How long it acts until it is done, where it has an end."""
    free_text: bool = False
    """Whether anything may follow, such as what is said."""

    @property
    def can_complete(self) -> bool:
        return self.touch or self.take or self.place or self.long_range


def _touching(name: str, forms: tuple[str, ...], links: tuple[str, ...], affords: str, needs: tuple[str, ...]) -> Verb:
    effect: Effect = "posture" if "posture" in needs else ""
    return Verb(name, forms, needs, "thing", links, affords, effect, touch=True, acts_s=TOUCH_S)


def _in_place(name: str, *forms: str, needs: tuple[str, ...], aim: Aim = "none", free_text: bool = False) -> Verb:
    links = ("at", "to", "towards") if aim == "maybe" else ()
    return Verb(name, forms, needs, aim, links, free_text=free_text)


WHOLE_BODY = ("base", "posture")
BUILT_IN = (
    _touching("sit", ("sitting", "sit", "sits"), ("down on", "down in", "on", "in", "at"), "sit", WHOLE_BODY),
    _touching("lie", ("lying", "lie", "laying", "lay"), ("down on", "down in", "on", "in"), "lie", WHOLE_BODY),
    _touching("lean", ("leaning", "lean"), ("against", "on", "at"), "lean", WHOLE_BODY),
    _touching("touch", ("touching", "touch"), (), "touch", ("base", HAND)),
    Verb("stand", ("standing", "stand"), WHOLE_BODY, "spot", ("on", "at", "in"), long_range=True),
    Verb(
        "walk",
        ("walking", "walk", "going", "go", "moving", "move", "running", "run", "heading", "head"),
        ("base",),
        "spot",
        ("over to", "up to", "to", "towards", "toward", "into"),
        long_range=True,
    ),
    Verb(
        "look",
        ("looking", "look", "watching", "watch", "staring", "stare", "gazing", "gaze"),
        ("gaze",),
        "thing",
        ("at", "towards", "toward"),
        long_range=True,
    ),
    Verb(
        "take",
        ("taking", "take", "picking", "pick", "grabbing", "grab", "grasping", "grasp", "fetching", "fetch"),
        ("base", HAND),
        "thing",
        ("up",),
        "take",
        "take",
        take=True,
        acts_s=REACH_S,
    ),
    Verb(
        "place",
        ("placing", "place", "putting", "put", "setting", "set"),
        ("base",),
        "thing",
        ("down",),
        effect="place",
        place=True,
        acts_s=REACH_S + STILL_S,
    ),
    Verb("push", ("pushing", "push"), ("base", BOTH), "thing", (), "push", "push", touch=True, acts_s=TOUCH_S),
    Verb("open", ("opening", "open"), ("base", HAND), "thing", (), "open", "open", touch=True, acts_s=REACH_S),
    Verb(
        "close",
        ("closing", "close", "shutting", "shut"),
        ("base", HAND),
        "thing",
        (),
        "close",
        "close",
        touch=True,
        acts_s=REACH_S,
    ),
    _in_place("wave", "waving", "wave", needs=(HAND,), aim="maybe"),
    _in_place("point", "pointing", "point", needs=(HAND,), aim="maybe"),
    _in_place("clap", "clapping", "clap", needs=(BOTH,)),
    _in_place("dance", "dancing", "dance", needs=WHOLE_BODY),
    _in_place("jump", "jumping", "jump", "hopping", "hop", needs=WHOLE_BODY),
    _in_place("spin", "spinning", "spin", "twirling", "twirl", needs=WHOLE_BODY),
    _in_place("bow", "bowing", "bow", needs=WHOLE_BODY, aim="maybe"),
    _in_place("kneel", "kneeling", "kneel", "crouching", "crouch", "squatting", "squat", needs=WHOLE_BODY),
    _in_place("stretch", "stretching", "stretch", "exercising", "exercise", needs=(*WHOLE_BODY, BOTH)),
    _in_place("nod", "nodding", "nod", needs=("gaze",), aim="maybe"),
    _in_place("sing", "singing", "sing", "humming", "hum", "whistling", "whistle", needs=("voice",), free_text=True),
    _in_place("say", "saying", "say", "talking", "talk", "speaking", "speak", needs=("voice",), free_text=True),
    _in_place("laugh", "laughing", "laugh", "crying", "cry", "shouting", "shout", needs=("voice",), aim="maybe"),
    _in_place("think", "thinking", "think", "waiting", "wait", "resting", "rest", needs=()),
)


class Verbs:
    """The verbs at hand, by name and by every word for them."""

    def __init__(self, more: Iterable[Verb] = ()) -> None:
        self.by_name: dict[str, Verb] = {}
        self.by_form: dict[str, Verb] = {}
        for verb in (*BUILT_IN, *more):
            self._add(verb)

    def _add(self, verb: Verb) -> None:
        for problem in _problems(verb, self):
            raise BadInputError(f"The verb {verb.name} cannot be added: {problem}", code="agent.verb")
        self.by_name[verb.name] = verb
        self.by_form.update(dict.fromkeys(verb.forms, verb))

    @property
    def shown(self) -> tuple[str, ...]:
        return tuple(verb.forms[0] for verb in self.by_name.values())

    @property
    def affordances(self) -> frozenset[str]:
        """What a thing may afford: what verbs ask for, what they are called, and room for others."""
        asked = {verb.affords for verb in self.by_name.values() if verb.affords}
        return frozenset(asked | {verb.name for verb in self.by_name.values() if verb.aim != "none"} | {"contain"})


def _problems(verb: Verb, known: Verbs) -> Iterable[str]:
    if verb.name in known.by_name:
        yield "there is one of that name already."
    if verb.aim not in get_args(Aim) or verb.effect not in get_args(Effect):
        yield f"its aim is one of {', '.join(get_args(Aim))}, its effect one of {', '.join(get_args(Effect)[1:])}."
    elif verb.effect and (verb.aim != "thing" or not verb.can_complete):
        yield "what has an effect is aimed at a thing and has an end."
    if verb.aim in ("thing", "spot") and "base" not in verb.needs and verb.name != "look":
        yield "what goes somewhere needs the base."
    if not verb.forms or not all(re.fullmatch(r"[a-z]+", form) for form in verb.forms):
        yield "its forms are single words in lower case."
    for form in verb.forms:
        if form in known.by_form:
            yield f"the word {form} is {known.by_form[form].name} already."
    for need in verb.needs:
        if need not in (*RESOURCES, HAND, BOTH):
            yield f"it needs {need}, and a body has only {', '.join((*RESOURCES, HAND, BOTH))}."
    if not 0 <= verb.acts_s < 3600:
        yield "acts_s lies between 0 and 3600."


VERBS = Verbs()
