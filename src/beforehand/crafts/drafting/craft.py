"""Drafting: a model writes the plan, a person reviews it. Everything the craft brings, in one readable place."""

from typing import Any

from beforehand.app.craft import Answering, Craft, Going, Owner, Parts, Planner, StateLists
from beforehand.app.runtime import Runtime
from beforehand.crafts.drafting.rows import DRAFT_ROW, FAILED, FINISHED, ROWS, STARTED, TRIED
from beforehand.crafts.drafting.sentences import SENTENCES
from beforehand.model.decision import Decision
from beforehand.ports.store import Store


def open_drafts(runtime: Runtime) -> Parts:
    from beforehand.app.decisions import close_decision
    from beforehand.crafts.drafting.advising import Advising
    from beforehand.crafts.drafting.drafts import PLANNER, Drafts

    drafts, advising = Drafts(runtime), Advising(runtime)

    async def begin() -> None:
        await drafts.settle()
        await advising.begin()

    async def close() -> None:
        await advising.close()
        await drafts.host.close()

    async def answer(decision: Decision, given: Answering) -> None:
        await close_decision(runtime, decision, given)

    return Parts(
        service=drafts,
        planner=Planner(PLANNER, begin_again=drafts.begin_again, begun=drafts.begun),
        going=Going(("drafts",), open_drafts_in, (STARTED, TRIED, FINISHED, FAILED)),
        owners={"draft": Owner(answer, drafts.restart)},
        begin=begin,
        ready=advising.catch_up,
        close=close,
    )


async def open_drafts_in(store: Store) -> StateLists:
    """The plans that a model is writing."""
    return {"drafts": await store.rows(DRAFT_ROW, open=True)}


def _http() -> Any:
    from beforehand.crafts.drafting.http import HTTP

    return HTTP


CRAFT = Craft(
    "drafting",
    open=open_drafts,
    plans=False,
    rows=ROWS,
    ends=(DRAFT_ROW,),
    sentences=SENTENCES,
    http=_http,
    says_who=("drafts", "drafts/*"),
)
