"""Small homes to test in, none of them an example scene."""

from typing import Any

from beforehand.crafts.agent.core.home_body import HomeBody, home_body
from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.core.session import Session, Step, commanded
from beforehand.crafts.agent.core.verbs import VERBS, Verbs
from beforehand.crafts.agent.core.words import HomeScene


def thing(name: str, at: Any = None, *affords: str, **more: Any) -> dict[str, Any]:
    place = {} if at is None else {"at": list(at)}
    return {"name": name, **place, "affords": list(affords), **more}


def home(*objects: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"kind": "home", "name": "small", "bounds": [0, 0, 10, 8], "objects": list(objects), **more}


def cabin(**more: Any) -> dict[str, Any]:
    """Two rooms, a door between them, and the body in the corner of the bounds."""
    return home(
        thing("gate1", [5, 4], "open", "close", "touch", size=[0.06, 1.0], door=True, **more.pop("gate", {})),
        thing("cot1", [8, 6], "sit", "lie", "touch", size=[1.8, 1.0]),
        thing("bench1", [2, 3], "touch", "place", "lean", size=[1.2, 0.6]),
        thing("crate1", [2, 6.5], "touch", "place", "open", size=[0.8, 0.8], open=False),
        thing("stool1", [8, 2], "sit", "touch", "push", size=[0.4, 0.4]),
        thing("pot1", None, "take", "touch", on="bench1"),
        thing("lamp1", None, "take", "touch", on="bench1"),
        thing("rope1", None, "take", "touch", **{"in": "crate1"}),
        thing("log1", [3.5, 1], "take", "touch", size=[0.3, 0.3], twoHands=True),
        thing("tray1", None, "take", "touch", "place", on="bench1"),
        thing("spoon1", None, "take", "touch", on="tray1"),
        **{
            "name": "cabin",
            "walls": [[[5, 0], [5, 3.5]], [[5, 4.5], [5, 8]]],
            "rooms": [{"name": "parlour", "bounds": [0, 0, 5, 8]}, {"name": "den", "bounds": [5, 0, 10, 8]}],
            "agent": {"at": [0, 0]},
            **more,
        },
    )


def scene_of(document: dict[str, Any] | None = None) -> HomeScene:
    return read_home(cabin() if document is None else document)


def body_of(document: dict[str, Any] | None = None, goal: str | None = None, verbs: Verbs = VERBS) -> HomeBody:
    return home_body(scene_of(document), goal=goal, verbs=verbs)


class Steered:
    """A session that is told one command after the other."""

    def __init__(self, document: dict[str, Any] | None = None, **how: Any) -> None:
        goal, verbs = how.pop("goal", None), how.pop("verbs", VERBS)
        self.session = Session(body_of(document, goal, verbs), **how)
        self.steps: list[Step] = []

    def __call__(self, *commands: str) -> Step:
        for command in commands:
            self.session, step = commanded(self.session, command)
            self.steps.append(step)
        return self.steps[-1]

    def does(self, action: str) -> Step:
        """Start an action, let it come to its end and stop it."""
        self(f"start({action})", "skip(60, wake_on=done)")
        assert any(a.stage == "done" and a.text == action for a in self.body.actions), self.steps[-1].state
        return self(f"stop({action})")

    def fault(self, **fault: Any) -> None:
        after = self.body.disturbed(fault)
        assert isinstance(after, HomeBody), after
        self.session = Session(after, self.session.clock, self.session.watched, self.session.max_steps)

    @property
    def body(self) -> HomeBody:
        assert isinstance(self.session.body, HomeBody)
        return self.session.body

    @property
    def actions_line(self) -> str:
        return self.body.state_text().splitlines()[1]

    @property
    def codes(self) -> list[str]:
        return [reason.code for reason in self.steps[-1].refused]
