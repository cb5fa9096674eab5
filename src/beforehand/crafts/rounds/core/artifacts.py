"""Artifacts: what later turns need of a question, kept over rounds and turns and never replaced.

A query and its results belong together, in whichever rounds they were made (`bundles_with_sub_goal`); with the offset
of the next page they are what "next page" goes on from.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from beforehand.crafts.rounds.core.state import Artifact, QuestionState, SubGoal
from beforehand.crafts.rounds.core.words import BUNDLES_WITH, CONTEXT

QUERY, NEXT_OFFSET, PAGE_SIZE = "es_query", "next_offset", "page_size"
MOST_KEPT = 20


def artifacts_of(state: QuestionState) -> tuple[Artifact, ...]:
    """Those of earlier turns, then those of this one in the order they were finished; the newest last."""
    bundled = {source for each in _succeeded(state) if (source := _bundled(state, each)) is not None}
    own = [made for each in _succeeded(state) if each.id not in bundled and (made := _artifact(state, each))]
    return (*state.prior_artifacts, *own)[-MOST_KEPT:]


def _succeeded(state: QuestionState) -> list[SubGoal]:
    return [state.sub_goals[id] for id in state.finished]


def _bundled(state: QuestionState, sub_goal: SubGoal) -> int | None:
    """The sub-goal that this one is shown together with, if it has succeeded."""
    named = sub_goal.params.get(BUNDLES_WITH)
    if not isinstance(named, int) or isinstance(named, bool):
        return None
    meant = state.resolved(named)
    return meant if meant != CONTEXT and meant in state.finished else None


def _artifact(state: QuestionState, sub_goal: SubGoal) -> dict[str, Any] | None:
    """What one sub-goal leaves behind: its query, from wherever it has it, and where the next page begins."""
    source = _bundled(state, sub_goal)
    query = sub_goal.outputs.get(QUERY)
    if query is None and source is not None:
        query = state.sub_goals[source].outputs.get(QUERY)
    if query is None and QUERY in sub_goal.inputs:
        query = state.value_of(sub_goal.inputs[QUERY])
    if query is None:
        return None
    made = {"question": state.question, "sub_goals": [*([source] if source is not None else []), sub_goal.id]}
    pages = {name: sub_goal.outputs[name] for name in (NEXT_OFFSET, PAGE_SIZE) if name in sub_goal.outputs}
    return {**made, QUERY: query, **pages}


def newest_query(artifacts: Sequence[Artifact]) -> Mapping[str, Any] | None:
    """The artifact a later turn goes on from: the newest with pages, else the newest with a query."""
    paged = [artifact for artifact in artifacts if NEXT_OFFSET in artifact]
    kept = paged or list(artifacts)
    return kept[-1] if kept else None
