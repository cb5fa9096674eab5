"""Rounds: questions answered by workers that a planner wires together. Everything the craft brings, in one place."""

from beforehand.app.craft import Craft, Parts
from beforehand.app.runtime import Runtime


def open_questions(runtime: Runtime) -> Parts:
    return Parts()


CRAFT = Craft("rounds", open=open_questions)
