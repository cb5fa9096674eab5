"""The examples for systemd and containers name only settings, commands and options that there are."""

import re

import yaml
from tests.conftest import REPOSITORY
from typer.main import get_command

from beforehand.app.settings import KNOWN, PREFIX
from beforehand.cli.commands import app

DEPLOY = REPOSITORY / "examples" / "deploy"
SETTINGS = {PREFIX + setting.name.upper() for setting in KNOWN}


def texts() -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for file in DEPLOY.iterdir() if file.is_file()}


def test_every_setting_is_one():
    named = {name for text in texts().values() for name in re.findall(r"BEFOREHAND_[A-Z_]+", text)}
    assert named
    assert named <= SETTINGS


def test_every_command_is_one():
    compose = yaml.safe_load(texts()["compose.yaml"])
    asked = [re.findall(r"^ExecStart=\S+/beforehand (.+)$", texts()["beforehand.service"], re.M)[0].split()]
    asked += [
        service["command"]
        for service in compose["services"].values()
        if service.get("image") == "beforehand" and "command" in service
    ]
    asked.append(yaml.safe_load(re.findall(r"^CMD (.+)$", texts()["Dockerfile"], re.M)[0]))
    for command, *options in asked:
        known = get_command(app).get_command(None, command)
        assert known is not None, command
        assert set(options) <= {name for option in known.params for name in option.opts}, options


def test_every_extra_is_one():
    import tomllib

    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    asked = re.findall(r"/src\[([a-z0-9,]+)\]", texts()["Dockerfile"])[0].split(",")
    assert set(asked) <= set(extras)
