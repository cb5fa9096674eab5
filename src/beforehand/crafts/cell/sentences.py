"""What events of cells say."""

from collections.abc import Mapping
from typing import Any

from beforehand.model.cell import NO_TOOL


def _state_changed(data: Mapping[str, Any]) -> str:
    tool = data.get("current_tool") or NO_TOOL
    if data.get("current_position") is None:
        return f"The position of the cell's robot is not known. {data.get('says', '')}".strip()
    holding = "nothing" if tool == NO_TOOL else tool
    return f"The cell's robot stands at {data['current_position']}, holding {holding}."


SENTENCES = {"cellStateChanged": _state_changed}
