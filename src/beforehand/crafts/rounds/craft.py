"""Rounds: questions answered by workers that a planner wires together. Everything the craft brings, in one place."""

from typing import Any

from beforehand.app.craft import Craft, Owner, Parts
from beforehand.app.runtime import Runtime
from beforehand.crafts.rounds.questions import Questions
from beforehand.crafts.rounds.rows import ROWS
from beforehand.crafts.rounds.sentences import SENTENCES
from beforehand.crafts.rounds.workers import GROUP, Crew


def open_questions(runtime: Runtime) -> Parts:
    questions = Questions(runtime, Crew(runtime))
    return Parts(
        service=questions,
        owners={"question": Owner(questions.answer, questions.restart)},
        begin=questions.begin,
        close=questions.close,
    )


def _http() -> Any:
    from beforehand.crafts.rounds.http import HTTP

    return HTTP


def _mcp() -> Any:
    from beforehand.crafts.rounds.mcp import TOOLS

    return TOOLS


CRAFT = Craft(
    "rounds", open=open_questions, rows=ROWS, sentences=SENTENCES, http=_http, mcp=_mcp, plugin_points=(GROUP,)
)
