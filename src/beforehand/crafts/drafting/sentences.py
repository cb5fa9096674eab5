"""What events of drafts say."""

from collections.abc import Mapping
from typing import Any

from beforehand.model.words import counted

Data = Mapping[str, Any]


def _started(data: Data) -> str:
    return f"{data['model']} drafts a plan: {_short(data['text'])}"


def _tried(data: Data) -> str:
    last = data["tries"][-1]
    if not last["problems"]:
        return f"Draft {last['try']} of {data['model']} is sound."
    return (
        f"Draft {last['try']} of {data['model']} has {counted(len(last['problems']), 'problem')}: {last['problems'][0]}"
    )


def _finished(data: Data) -> str:
    return f"{data['model']} has drafted the plan {data['planId']}, version {data['version']}; it waits for a review."


def _failed(data: Data) -> str:
    return f"The draft of {data['model']} came to nothing: {data['reason']['says']}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:119]}…"


SENTENCES = {"draftStarted": _started, "draftTried": _tried, "draftFinished": _finished, "draftFailed": _failed}
