"""Drafting: a model writes the plan, a person reviews it. Everything the craft brings, in one readable place."""

from typing import Any

from beforehand.app.craft import Answering, Craft, Owner, Parts, Planner
from beforehand.app.decisions import close_decision
from beforehand.app.runtime import Runtime
from beforehand.crafts.drafting.advising import Advising
from beforehand.crafts.drafting.drafts import PLANNER, Drafts
from beforehand.crafts.drafting.rows import ROWS
from beforehand.crafts.drafting.sentences import SENTENCES
from beforehand.model.decision import Decision


def open_drafts(runtime: Runtime) -> Parts:
    drafts, advising = Drafts(runtime), Advising(runtime)

    async def begin() -> None:
        await drafts.settle()
        await advising.begin()

    async def close() -> None:
        await advising.close()
        await runtime.drivers.stop("draft:")

    async def answer(decision: Decision, given: Answering) -> None:
        await close_decision(runtime, decision, given)

    return Parts(
        service=drafts,
        planner=Planner(PLANNER, begin_again=drafts.begin_again),
        owners={"draft": Owner(answer, drafts.restart)},
        begin=begin,
        close=close,
    )


def _http() -> Any:
    from beforehand.crafts.drafting.http import HTTP

    return HTTP


CRAFT = Craft("drafting", open=open_drafts, rows=ROWS, sentences=SENTENCES, http=_http)
