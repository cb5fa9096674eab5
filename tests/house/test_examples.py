"""What the documentation shows is true: its plans are valid and its tools are those that exist."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from beforehand.adapters.mcp.config import read_configs
from beforehand.adapters.tools.builtin import register
from beforehand.app.documents import parse
from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.core.warnings import warnings
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.streams import KINDS
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.engine.validate import check_document
from beforehand.model.fleet import Settings
from beforehand.model.plan import Template
from beforehand.ports.plugin import PluginRegistry

ROOT = Path(__file__).resolve().parents[2]


def fenced(page: str, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


@pytest.fixture(scope="module")
def catalog() -> ToolCatalog:
    plugins = PluginRegistry()
    register(plugins)
    return ToolCatalog(tool.spec for tool in plugins.tools)


@pytest.mark.parametrize("page", ["README.md", "docs/plans.md"])
def test_plans_in_the_documentation_are_valid(page: str, catalog: ToolCatalog) -> None:
    documents: list[Any] = [yaml.safe_load(block) for block in fenced(page, "yaml")]
    plans = [document for document in documents if "parameters" not in document]
    assert plans
    assert [problem.says for plan in plans for problem in check_document(plan, catalog)[1]] == []


def test_the_template_in_the_documentation_is_one() -> None:
    (document,) = [d for d in map(yaml.safe_load, fenced("docs/plans.md", "yaml")) if "parameters" in d]
    assert Template.model_validate(document).parameters["who"].is_required


def test_the_scenes_in_the_documentation_are_valid() -> None:
    cell, fleet, home = (parse(block, "docs/scenes.md") for block in fenced("docs/scenes.md", "yaml"))
    assert read_cell(cell).name == "small_cell"
    assert read_fleet(fleet).name == "small_hall"
    assert warnings(read_home(home)) == []


def test_the_documentation_tells_which_scenes_and_stream_kinds_there_are() -> None:
    page = (ROOT / "docs" / "scenes.md").read_text(encoding="utf-8")
    scenes = {path.stem for path in (ROOT / "scenes").glob("*.yaml")}
    assert sorted(name for name in {*scenes, *KINDS} if f"| `{name}` |" not in page) == []


def test_every_setting_of_a_fleet_is_documented_with_its_default() -> None:
    page = (ROOT / "docs" / "scenes.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `")]
    shown = {
        name: default
        for names, defaults in rows
        for name, default in zip(re.findall(r"`(\w+)`", names), re.findall(r"`([^`]+)`", defaults), strict=False)
    }
    for field in Settings.model_fields.values():
        if field.default is not None:
            written = shown[str(field.alias)]
            default = type(field.default)(written)
            assert default == field.default, field.alias


def test_the_demo_is_a_plan_of_eight_steps_of_which_two_need_approval(catalog: ToolCatalog) -> None:
    document = yaml.safe_load((ROOT / "examples" / "demo" / "plan.yaml").read_text(encoding="utf-8"))
    plan, problems = check_document(document, catalog)
    assert problems == []
    assert len(plan.steps) == 8
    assert [step.id for step in plan.steps if step.requires_approval] == ["set_version", "remove_obsolete"]


def test_every_built_in_tool_is_documented_with_its_arguments(catalog: ToolCatalog) -> None:
    page = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    for spec in catalog.specs():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{spec.name}` |")]
        _, _, arguments, _, effect, destructive, _ = (cell.strip() for cell in row.split("|"))
        assert set(re.findall(r"`(\w+)`", arguments)) == set(spec.input_schema["properties"])
        assert effect == spec.effect
        assert (destructive == "no") == (spec.destructive == "never")


def test_mcp_servers_in_the_documentation_can_be_configured_so() -> None:
    tables = [tomllib.loads(block) for page in ("docs/tools.md", "docs/settings.md") for block in fenced(page, "toml")]
    servers = [config.name for table in tables for config in read_configs(table.get("mcp", {}))]
    assert servers == ["files", "tracker", "files", "tracker"]
