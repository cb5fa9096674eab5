"""Inputs, commands and events as the JSON that goes through Temporal, and back.

An input or a command travels as its fields and the name of its class. A plan does not travel with an input: its number
does, and whoever decides reads that version from the log.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass, replace
from typing import Any, get_args

from pydantic_core import from_json, to_json

from beforehand.engine.inputs import (
    Adopted,
    Answered,
    JudgeStep,
    ProbeStep,
    RunInput,
    StartStep,
    StepEnded,
)
from beforehand.model.event import Event
from beforehand.model.plan import Plan
from beforehand.ports.tool import Judgement, ProbeAnswer, ToolSpec

Document = dict[str, Any]
_INPUTS: dict[str, type] = {kind.__name__: kind for kind in get_args(RunInput)}


def document_of(word: Any) -> Document:
    """The fields of a frozen word; what it holds is taken over as it is."""
    shown: Document = {}
    for field in fields(word):
        value = getattr(word, field.name)
        shown[field.name] = document_of(value) if is_dataclass(value) else value
    return shown


def input_document(given: RunInput) -> Document:
    """An input as an update carries it."""
    shown = {"input": type(given).__name__}
    if isinstance(given, Adopted):
        answers = None if given.answers is None else document_of(given.answers)
        return {**shown, "ts": given.ts, "version": given.plan.version, "by": given.by, "answers": answers}
    return {**shown, **document_of(given)}


def input_from(shown: Mapping[str, Any], plan: Plan | None) -> Any:
    """The input that was handed in; `plan` is the version that it names, if it names one."""
    told = dict(shown)
    kind = _INPUTS[told.pop("input")]
    if plan is not None:
        del told["version"]
        told["plan"] = plan
        told["answers"] = None if told["answers"] is None else Answered(**told["answers"])
    if "proposals" in told:
        told["proposals"] = tuple(told["proposals"])
    return kind(**told)


def at(given: Any, ts: int) -> Any:
    """The same input at another moment."""
    if isinstance(given, Adopted) and given.answers is not None:
        given = replace(given, answers=replace(given.answers, ts=ts))
    return replace(given, ts=ts)


# -- what tools are asked, and what they answer --------------------------------------------------------------------


def start_from(shown: Mapping[str, Any]) -> StartStep:
    return StartStep(**shown)


def judge_from(shown: Mapping[str, Any]) -> JudgeStep:
    return JudgeStep(**shown)


def probe_from(shown: Mapping[str, Any]) -> ProbeStep:
    return ProbeStep(**shown)


def ended_from(shown: Mapping[str, Any]) -> StepEnded:
    return StepEnded(**{**shown, "logs": tuple(shown["logs"])})


def judgement_from(shown: Mapping[str, Any]) -> Judgement:
    return Judgement(**shown)


def answer_from(shown: Mapping[str, Any]) -> ProbeAnswer:
    return ProbeAnswer(**shown)


# -- what the log holds --------------------------------------------------------------------------------------------


def write_events(events: Sequence[Event]) -> bytes:
    return to_json([document_of(event) for event in events])


def read_events(written: bytes) -> list[Event]:
    return [Event(**event) for event in from_json(written)]


def spec_document(spec: ToolSpec) -> Document:
    return asdict(spec)


def spec_from(shown: Mapping[str, Any]) -> ToolSpec:
    return ToolSpec(**{**shown, "writes": tuple(shown["writes"])})
