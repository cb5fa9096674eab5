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


def test_a_broken_file_is_a_sentence(tmp_path: Path) -> None:
    config = tmp_path / "beforehand.toml"
    config.write_text("= broken")
    with pytest.raises(BadInputError, match="cannot be read"):
        load_settings({}, {}, config)


def test_the_store_that_is_set_is_handed_on_as_it_is(tmp_path: Path) -> None:
    for db in ("sqlite:///other.db", "memory:", "some/path.db", "mysql://host/db"):
        assert load_settings({"db": db}, {}, tmp_path / "none").database == db
