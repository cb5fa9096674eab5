"""Settings: flags before environment before `beforehand.toml` before defaults.

One reading for every command; what was set where can be shown (`beforehand config show`).
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beforehand.model.errors import BadInputError
from beforehand.model.reason import Problem, unknown

CONFIG_FILE = "beforehand.toml"
PREFIX = "BEFOREHAND_"


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    default: Any
    kind: type
    says: str
    secret: bool = False

    def shown(self, value: Any) -> Any:
        """The value as it may stand on a screen: secrets hidden, and so are passwords inside addresses."""
        if self.secret and value:
            return "(hidden)"
        return re.sub(r"(://[^/@:]*):.*@", r"\1:(hidden)@", value) if isinstance(value, str) else value


KNOWN = (
    Setting("home", "./.beforehand", str, "Where the log and everything else is kept."),
    Setting("db", None, str, "The store: a path, sqlite:///path or memory:; the home's own file by default."),
    Setting("workspace", ".", str, "The folder file tools stay inside."),
    Setting("host", "127.0.0.1", str, "What `up` listens on."),
    Setting("port", 8700, int, "The port `up` listens on."),
    Setting("speed", 1.0, float, "How fast simulated time passes in `up`."),
    Setting("model", None, str, "The model that drafts plans, such as openai:gpt-5; none by default."),
    Setting("model_url", None, str, "The base URL of an OpenAI-compatible endpoint."),
    Setting("graph", None, str, "A Bolt address such as bolt://127.0.0.1:7687, for maps kept in Neo4j."),
    Setting("graph_user", None, str, "Who asks the graph database, where the address does not say."),
    Setting("graph_password", None, str, "The password for it, where the address does not hold it.", secret=True),
    Setting("token", None, str, "An admin token; empty is unset.", secret=True),
    Setting("http_allow", "", str, "Hosts http_get may reach although they are private, with commas between them."),
)
_BY_NAME = {setting.name: setting for setting in KNOWN}


@dataclass(frozen=True, slots=True)
class Settings:
    values: Mapping[str, Any]
    sources: Mapping[str, str] = field(default_factory=dict)
    mcp: Mapping[str, Any] = field(default_factory=dict)
    plugins: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def home(self) -> Path:
        """The folder in which everything is kept."""
        return Path(self.values["home"]).expanduser().absolute()

    @property
    def database(self) -> str:
        """The URL of the store; `app.stores` says what can be done with it."""
        return str(self.values["db"] or f"sqlite:///{self.home / 'log.db'}")

    @property
    def workspace(self) -> Path:
        """The folder that file tools stay inside."""
        return Path(self.values["workspace"]).expanduser().absolute()


def load_settings(
    flags: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    config: Path | None = None,
) -> Settings:
    """Gather the settings; BadInputError names every one that cannot be read."""
    environment = os.environ if environment is None else environment
    path = config or Path(CONFIG_FILE)
    table = _read_config(path)
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    problems = _unknown_keys(table, path)
    for setting in KNOWN:
        given = _first_given(setting, flags or {}, environment, table, path)
        values[setting.name], sources[setting.name] = setting.default, "default"
        if given is not None:
            raw, source = given
            try:
                values[setting.name], sources[setting.name] = _as(setting.kind, raw), source
            except ValueError:
                says = f"{setting.name} from {source} must be a {_kind_name(setting.kind)}, not {raw!r}."
                problems.append(Problem(code="settings.bad_value", about=setting.name, says=says))
    if problems:
        raise BadInputError(" ".join(problem.says for problem in problems), code="settings", problems=problems)
    return Settings(values, sources, dict(table.get("mcp", {})), dict(table.get("plugins", {})))


def _read_config(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInputError(f"{path} cannot be read: {error}.", code="settings.file") from error


def _unknown_keys(table: Mapping[str, Any], path: Path) -> list[Problem]:
    known = {*_BY_NAME, "mcp", "plugins"}
    problems = []
    for key in table:
        if key not in known:
            told = unknown("setting", key, known, inside=str(path))
            problems.append(Problem(code="settings.unknown", about=key, path=key, says=told.says, nearest=told.nearest))
    return problems


def _first_given(
    setting: Setting, flags: Mapping[str, Any], environment: Mapping[str, str], table: Mapping[str, Any], path: Path
) -> tuple[Any, str] | None:
    if flags.get(setting.name) is not None:
        return flags[setting.name], "flag"
    variable = PREFIX + setting.name.upper()
    if environment.get(variable):
        return environment[variable], variable
    if table.get(setting.name) not in (None, ""):
        return table[setting.name], str(path)
    return None


def _as(kind: type, raw: Any) -> Any:
    if kind is str and isinstance(raw, list):
        return ",".join(map(str, raw))
    if kind in (int, float) and isinstance(raw, bool):
        raise ValueError
    return kind(raw)


def _kind_name(kind: type) -> str:
    return {int: "whole number", float: "number"}.get(kind, "text")
