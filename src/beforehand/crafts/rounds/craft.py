"""Rounds: questions answered by workers that a planner wires together. Everything the craft brings, in one place."""

from typing import Any

from beforehand.app.craft import Craft, Going, Owner, Parts, StateLists
from beforehand.app.runtime import Runtime
from beforehand.crafts.rounds.core.event_kinds import ASKED, FINISHED
from beforehand.crafts.rounds.plug_ins import WORKERS
from beforehand.crafts.rounds.rows import QUESTION_ROW, ROWS
from beforehand.crafts.rounds.sentences import SENTENCES
from beforehand.ports.store import Store


def open_questions(runtime: Runtime) -> Parts:
    from beforehand.crafts.rounds.questions import Questions
    from beforehand.crafts.rounds.workers import Crew, brought

    brought()  # before anybody waits for an answer
    questions = Questions(runtime, Crew(runtime))
    return Parts(
        service=questions,
        going=Going(("questions",), open_questions_in, (ASKED, FINISHED)),
        owners={"question": Owner(questions.answer, questions.host.take_up)},
        begin=questions.begin,
        close=questions.host.close,
    )


async def open_questions_in(store: Store) -> StateLists:
    """The questions that are being answered."""
    return {"questions": await store.rows(QUESTION_ROW, open=True)}


def _http() -> Any:
    from beforehand.crafts.rounds.http import HTTP

    return HTTP


def _mcp() -> Any:
    from beforehand.crafts.rounds.mcp import TOOLS

    return TOOLS


CRAFT = Craft(
    "rounds",
    open=open_questions,
    plans=False,
    rows=ROWS,
    ends=(QUESTION_ROW,),
    sentences=SENTENCES,
    http=_http,
    says_who=("questions", "questions/*"),
    mcp=_mcp,
    plugin_points=(WORKERS,),
)
