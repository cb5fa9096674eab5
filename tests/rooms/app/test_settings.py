"""Settings: flags before environment before beforehand.toml before defaults, and sentences for what is wrong."""

from pathlib import Path

import pytest

from beforehand.app.settings import KNOWN, load_settings
from beforehand.model.errors import BadInputError


def test_each_source_goes_before_the_next(tmp_path: Path) -> None:
    config = tmp_path / "beforehand.toml"
    config.write_text("port = 1\nhost = 'toml'\nspeed = 2\n")
    environment = {"BEFOREHAND_PORT": "3", "BEFOREHAND_HOST": "env", "BEFOREHAND_MODEL": ""}
    found = load_settings({"port": 4, "host": None}, environment, config)
    assert (found["port"], found["host"], found["speed"], found["model"]) == (4, "env", 2.0, None)
    assert found.sources["port"] == "flag"
    assert found.sources["host"] == "BEFOREHAND_HOST"
    assert found.sources["speed"] == str(config)
    assert found.sources["workspace"] == "default"


def test_everything_has_a_default_and_a_sentence(tmp_path: Path) -> None:
    found = load_settings({}, {}, tmp_path / "none.toml")
    assert set(found.values) == {setting.name for setting in KNOWN}
    assert all(setting.says.endswith(".") for setting in KNOWN)
    assert found.database == f"sqlite:///{found.home}/log.db"


def test_every_wrong_setting_is_told_at_once(tmp_path: Path) -> None:
    config = tmp_path / "beforehand.toml"
    config.write_text("prot = 1\nspeed = true\n")
    with pytest.raises(BadInputError) as refused:
        load_settings({}, {"BEFOREHAND_PORT": "many"}, config)
    assert {problem.about for problem in refused.value.problems} == {"prot", "speed", "port"}
    assert "port" in next(problem for problem in refused.value.problems if problem.about == "prot").nearest


def test_a_variable_that_is_no_setting_is_a_warning_with_the_nearest_one(tmp_path: Path) -> None:
    config = tmp_path / "beforehand.toml"
    config.write_text("[mcp.files]\ncommand = 'node'\n")
    strange = {"BEFOREHAND_TOKN": "x", "BEFOREHAND_port": "1", "BEFOREHAND_EMPTY": "", "BEFOREHAND_BLANK": " "}
    known = {"BEFOREHAND_HOST": "127.0.0.1", "BEFOREHAND_SECRET_DOOR": "x", "PATH": "/bin"}
    warnings = load_settings({"workspace": str(tmp_path)}, {**known, **strange}, config).warnings
    assert [warning.split(". ")[0] for warning in warnings[:2]] == [
        "Unknown setting 'BEFOREHAND_TOKN'",
        "Unknown setting 'BEFOREHAND_port'",
    ]
    assert "BEFOREHAND_TOKEN" in warnings[0]
    assert "BEFOREHAND_PORT" in warnings[1]
    assert "[mcp]" in warnings[2]
    assert len(warnings) == 3


def test_blanks_are_no_value(tmp_path: Path) -> None:
    config = tmp_path / "beforehand.toml"
    config.write_text("host = ' '\n")
    found = load_settings({}, {"BEFOREHAND_TOKEN": "  ", "BEFOREHAND_PORT": " "}, config)
    assert (found["token"], found["port"], found["host"]) == (None, 8700, "127.0.0.1")


def test_a_broken_file_is_a_sentence(tmp_path: Path) -> None:
    config = tmp_path / "beforehand.toml"
    config.write_text("= broken")
    with pytest.raises(BadInputError, match="cannot be read"):
        load_settings({}, {}, config)


def test_the_store_that_is_set_is_handed_on_as_it_is(tmp_path: Path) -> None:
    for db in ("sqlite:///other.db", "memory:", "some/path.db", "mysql://host/db"):
        assert load_settings({"db": db}, {}, tmp_path / "none").database == db


@pytest.mark.parametrize(
    ("given", "means"), [("true", True), ("YES", True), ("1", True), ("off", False), ("no", False), ("", None)]
)
def test_a_yes_or_no_is_read_as_people_write_it(tmp_path: Path, given: str, means: bool | None) -> None:
    assert load_settings({}, {"BEFOREHAND_MODEL_STREAM": given}, tmp_path / "none")["model_stream"] is means


def test_what_is_no_yes_or_no_is_told(tmp_path: Path) -> None:
    config = tmp_path / "beforehand.toml"
    config.write_text("model_stream = false\n")
    assert load_settings({}, {}, config)["model_stream"] is False
    with pytest.raises(BadInputError, match="must be a yes or a no"):
        load_settings({}, {"BEFOREHAND_MODEL_STREAM": "perhaps"}, config)
