"""The page about language models is true: its program runs as it stands, and its codes are those of the error tree."""

import re
from pathlib import Path
from typing import Any

import pytest

from beforehand.model.errors import ModelError
from beforehand.testing.model_replies import gives, turned_away
from beforehand.testing.model_servers import FakeOpenAI

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
SOURCES = Path(__file__).resolve().parents[2] / "src" / "beforehand" / "adapters" / "models"


@pytest.mark.needs("pydantic_ai")
async def test_the_program_asks_and_gets_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(PROGRAMS[0], "models.md", "exec"), names)
    async with FakeOpenAI(turned_away(429), gives({"room": "kitchen"})) as server:
        monkeypatch.setenv("BEFOREHAND_MODEL", "openai:any")
        monkeypatch.setenv("BEFOREHAND_MODEL_URL", server.url)
        assert await names["which_room"](b"\x89PNG") == "kitchen"
    assert [seen.last for seen in server.seen] == ["Which room is this?"] * 2


def test_the_test_is_a_program() -> None:
    assert len(PROGRAMS) == 2
    compile(PROGRAMS[1], "models.md", "exec")


def test_every_code_of_a_fault_is_in_the_table() -> None:
    table = set(re.findall(r"`(model\.\w+)`", PAGE))
    classes = {kind.code for kind in (ModelError, *ModelError.__subclasses__())} - {"model.not_configured"}
    faults = set(re.findall(r'code="(model\.\w+)"', (SOURCES / "faults.py").read_text(encoding="utf-8")))
    assert table == classes | faults
