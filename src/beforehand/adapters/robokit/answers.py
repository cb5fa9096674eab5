"""Whether an answer is a yes, in all the ways robots say no: `ret_code`, `err_msg` alone, or a fault's own number."""

from dataclasses import dataclass

from beforehand.adapters.robokit.frame import Frame
from beforehand.adapters.robokit.numbers import FRAME_FAULTS, REFUSALS

_NOTHING_WRONG = ("", "ok", "success")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A robot's no: its own number for it, our code, and what to say after "the robot refused: "."""

    number: int
    code: str
    why: str

    def says(self, robot: str, what: str) -> str:
        """The whole sentence."""
        return f"{robot} refused {what}: {self.why.rstrip('.')}."


def refusal(frame: Frame) -> Refusal | None:
    """Why this answer is a no; None where it is a yes. `ret_code` 0, or neither field at all, is a yes."""
    if frame.number in FRAME_FAULTS:
        return _refusal(frame.number, _text(frame.body.get("err_msg")))
    number, told = _number(frame.body.get("ret_code")), _text(frame.body.get("err_msg"))
    if number == 0 or (number is None and told.lower() in _NOTHING_WRONG):
        return None
    return _refusal(number or 0, told)


def _refusal(number: int, told: str) -> Refusal:
    if number in FRAME_FAULTS:
        code, why = "robot.protocol", FRAME_FAULTS[number]
    else:
        code, why = REFUSALS.get(number, ("robot.refused", ""))
    said = ": ".join(part for part in (why, told) if part) or "it gives no reason"
    return Refusal(number, code, f"{said} ({number})" if number else said)


def _number(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def _text(value: object) -> str:
    return " ".join(value.split())[:300] if isinstance(value, str) else ""
