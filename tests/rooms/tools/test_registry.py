"""The registry of tools, tools made of functions, and what a plug-in is handed."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from beforehand.adapters.files import DiskWorkspace
from beforehand.adapters.tools import ToolRegistry, tool
from beforehand.adapters.tools.waiting import AskPerson, Wait
from beforehand.model.errors import BadInputError, Fault, NotFoundError
from beforehand.ports.plugin import PluginRegistry
from beforehand.ports.tool import ToolContext


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@tool("lamp.switch", effect="physical", estimate_s=2)
async def switch(
    room: Annotated[str, Field(description="Which room.")],
    context: ToolContext,
    colour: Colour = Colour.RED,
    level: int = 1,
) -> dict[str, Any]:
    """Switch a lamp."""
    context.log(f"{room} {colour} {level}")
    return {"key": context.key, "colour": colour, "where": Path("x")}


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return ToolContext("run/step/1", DiskWorkspace(tmp_path))


def test_a_function_declares_itself() -> None:
    spec = switch.spec
    assert (spec.name, spec.description, spec.effect, spec.destructive) == (
        "lamp.switch",
        "Switch a lamp.",
        "physical",
        "never",
    )
    assert spec.input_schema["required"] == ["room"]
    assert spec.input_schema["additionalProperties"] is False
    assert set(spec.input_schema["properties"]) == {"room", "colour", "level"}
    assert spec.input_schema["properties"]["room"]["description"] == "Which room."


async def test_a_function_runs_and_gives_plain_json(context: ToolContext) -> None:
    assert await switch.run({"room": "hall", "colour": "blue"}, context) == {
        "key": "run/step/1",
        "colour": "blue",
        "where": "x",
    }


async def test_arguments_that_do_not_fit_are_all_named(context: ToolContext) -> None:
    with pytest.raises(Fault) as caught:
        await switch.run({"colour": "green", "level": "high", "extra": 1}, context)
    assert caught.value.untouched
    for name in ("room", "colour", "level", "extra"):
        assert f"{name}: " in caught.value.says


def test_functions_that_cannot_be_tools() -> None:
    async def loose(*args: str) -> None: ...

    with pytest.raises(BadInputError, match="name each argument"):
        tool("loose", effect="pure")(loose)


def test_toolbox_refuses_a_name_that_is_taken() -> None:
    box = ToolRegistry([Wait()])
    with pytest.raises(BadInputError, match="The tool wait from built-in has a name that is taken by built-in"):
        box.add(Wait())
    assert len(box) == 1


def test_the_registry_names_the_tools_there_are() -> None:
    box = ToolRegistry([Wait(), AskPerson()])
    assert box.get("wait").spec.name == "wait"
    assert [spec.name for spec in box.specs()] == ["ask_person", "wait"]
    assert "wait" in box
    with pytest.raises(NotFoundError, match=r"Unknown tool 'wiat'\. Known tools: ask_person, wait") as caught:
        box.get("wiat")
    assert caught.value.nearest == ("ask_person", "wait")


def test_a_plug_in_is_noted_as_the_source_of_its_tools() -> None:
    plugins = PluginRegistry("bench", {"speed": 2})
    plugins.add_tool(Wait())
    assert [one.spec.source for one in plugins.tools] == ["bench"]
    assert plugins.settings["speed"] == 2
    assert Wait.spec.source == "built-in"
    with pytest.raises(BadInputError, match="offers the tool wait twice"):
        plugins.add_tool(Wait())
    with pytest.raises(BadInputError, match="which is not one"):
        plugins.add_tool(len)  # type: ignore[arg-type]
