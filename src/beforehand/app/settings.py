"""Settings: flags before environment before `beforehand.toml` before defaults.

One reading for every command; what was set where can be shown (`beforehand config show`). What a settings file inside
the workspace would have run (`[mcp]`, `[plugins]`) counts only after somebody has trusted that very file. Secrets stand
in settings by reference, and are looked up when they are used.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from beforehand.app.trust import is_trusted
from beforehand.model.errors import BadInputError
from beforehand.model.reason import Problem, unknown
from beforehand.model.secrets import filled_in

CONFIG_FILE = "beforehand.toml"
PREFIX = "BEFOREHAND_"
SECRET_PREFIX = "BEFOREHAND_SECRET_"

_SECRET_IN_QUERY = re.compile(r"([?&][^=&#]*(?:pass|pwd|token|key|secret|auth)[^=&#]*)=[^&#]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    default: Any
    kind: type
    says: str
    secret: bool = False

    def shown(self, value: Any) -> Any:
        """The value as it may stand on a screen: secrets hidden, and so are passwords inside addresses."""
        if self.secret and value and not str(value).startswith("secret:"):
            return "(hidden)"
        if not isinstance(value, str):
            return value
        value = re.sub(r"(://[^/@:]*):.*@", r"\1:(hidden)@", value)
        return _SECRET_IN_QUERY.sub(r"\1=(hidden)", value)


KNOWN = (
    Setting("home", "./.beforehand", str, "Where the log and everything else is kept."),
    Setting(
        "db", None, str, "The store: a path, sqlite:///path, postgresql://… or memory:; the home's own file by default."
    ),
    Setting("workspace", ".", str, "The folder file tools stay inside."),
    Setting("host", "127.0.0.1", str, "What `up` listens on."),
    Setting("port", 8700, int, "The port `up` listens on."),
    Setting("advertise", None, str, "The URL at which other servers on the same database reach this one."),
    Setting("tls_cert", None, str, "The certificate `up` shows, a PEM file; with it `up` answers by https only."),
    Setting("tls_key", None, str, "The key of the certificate, where it is not in the same file."),
    Setting("tls_key_password", None, str, "The password of that key, where it has one.", secret=True),
    Setting("tls_ca", None, str, "Authorities to believe besides the system's, a PEM file."),
    Setting("speed", 1.0, float, "How fast simulated time passes in `up`."),
    Setting("model", None, str, "A language model, such as openai:gpt-5 or anthropic:claude-opus-5; none by default."),
    Setting("model_url", None, str, "The base URL of an endpoint of your own that speaks the model's protocol."),
    Setting("model_key", None, str, "The key for it, where the provider's own variable does not hold it.", secret=True),
    Setting(
        "model_stream",
        None,
        bool,
        "Whether its answers come in pieces; unset, at Anthropic and OpenAI, and not at an OpenAI-compatible URL.",
    ),
    Setting("graph", None, str, "A Bolt address such as bolt://127.0.0.1:7687, for maps kept in Neo4j."),
    Setting("graph_user", None, str, "Who asks the graph database, where the address does not say."),
    Setting("graph_password", None, str, "The password for it, where the address does not hold it.", secret=True),
    Setting("broker_user", None, str, "Who we are at message brokers whose address names no user."),
    Setting("broker_password", None, str, "The password for it.", secret=True),
    Setting("broker_cert", None, str, "The file with our own certificate, for brokers that ask for one."),
    Setting("broker_key", None, str, "The file with its key, where the certificate's file does not hold it."),
    Setting("engine", "local", str, "Where runs are decided: local, in the process that leads, or temporal."),
    Setting("temporal", "127.0.0.1:7233", str, "The Temporal server for them, as host:port."),
    Setting("temporal_namespace", "default", str, "The namespace there."),
    Setting("temporal_prefix", "beforehand", str, "What this installation's names there begin with; one for each."),
    Setting(
        "temporal_tls",
        None,
        bool,
        "Whether the line to it is encrypted; unset, where a certificate or an API key is set.",
    ),
    Setting("temporal_tls_cert", None, str, "The file with our own certificate, for a server that asks for one."),
    Setting("temporal_tls_key", None, str, "The file with its key, where the certificate's file does not hold it."),
    Setting("temporal_api_key", None, str, "The API key for it, where the server asks for one.", secret=True),
    Setting("temporal_lost_s", 10.0, float, "How long a worker may be silent before its steps are taken up."),
    Setting("search", None, str, "The URL of an Elasticsearch or OpenSearch server to ask instead of the own tables."),
    Setting(
        "retention",
        None,
        str,
        "How long the log is kept: `90d archive`, or `90d archive, 2y delete`; without it nothing is moved or deleted.",
    ),
    Setting("otel", None, str, "The base URL of an OpenTelemetry collector that takes OTLP over HTTP, for spans."),
    Setting("token", None, str, "An admin token; empty is unset.", secret=True),
    Setting("http_allow", "", str, "Hosts http_get may reach although they are private, with commas between them."),
)
_YES_OR_NO = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
_BY_NAME = {setting.name: setting for setting in KNOWN}


@dataclass(frozen=True, slots=True)
class Settings:
    values: Mapping[str, Any] = field(repr=False)
    sources: Mapping[str, str] = field(default_factory=dict)
    mcp: Mapping[str, Any] = field(default_factory=dict)
    plugins: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None
    """The settings file that was read."""
    warnings: tuple[str, ...] = ()
    """What was left out, and what to do about it."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Any:
        value = self.values[name]
        return self.with_secrets(value) if isinstance(value, str) else value

    def with_secrets(self, value: Any) -> Any:
        """A value with its references to secrets filled in; BadInputError names one that is not there."""
        return filled_in(value, self._secret)

    def _secret(self, name: str) -> str:
        variable = SECRET_PREFIX + name.upper().replace("-", "_")
        if given := self.environment.get(variable):
            return given
        try:
            return (self.home / "secrets" / name).read_text(encoding="utf-8").strip("\r\n")
        except (OSError, UnicodeDecodeError):
            raise BadInputError(
                f"There is no secret {name!r}.",
                code="settings.secret",
                hint=f"Set {variable}, or write it to secrets/{name} in the home.",
            ) from None

    @property
    def home(self) -> Path:
        """The folder in which everything is kept."""
        return Path(self.values["home"]).expanduser().absolute()

    @property
    def database(self) -> str:
        """The URL of the store; `app.stores` says what can be done with it."""
        return str(self["db"] or f"sqlite:///{self.home / 'log.db'}")

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
            except (ValueError, KeyError):
                says = f"{setting.name} from {source} must be a {_kind_name(setting.kind)}, not {raw!r}."
                problems.append(Problem(code="settings.bad_value", about=setting.name, says=says))
    if problems:
        raise BadInputError(" ".join(problem.says for problem in problems), code="settings", problems=problems)
    file = path if table else None
    settings = Settings(values, sources, file=file, warnings=_unknown_variables(environment), environment=environment)
    if os.path.isfile(settings.home):  # noqa: PTH113  what may not be looked at is told where it is used
        says = f"The home {settings.home} is a file, not a folder."
        raise BadInputError(says, code="settings.home", hint="Name a folder with --home or BEFOREHAND_HOME.")
    return _with_extensions(settings, table)


def shown_settings(settings: Settings) -> dict[str, Any]:
    """Every setting, its value and where it comes from, as it may be shown: secrets hidden."""
    rows = [
        {
            "name": setting.name,
            "value": setting.shown(settings.values[setting.name]),
            "source": settings.sources[setting.name],
            "environment": PREFIX + setting.name.upper(),
            "says": setting.says,
        }
        for setting in KNOWN
    ]
    told = {"mcp": sorted(settings.mcp), "plugins": sorted(settings.plugins), "warnings": list(settings.warnings)}
    return {"settings": rows, **told}


def _with_extensions(settings: Settings, table: Mapping[str, Any]) -> Settings:
    """The settings with what the file says of MCP servers and plug-ins, where the file may say so."""
    told = {name: dict(table[name]) for name in ("mcp", "plugins") if table.get(name)}
    if not told or settings.file is None:
        return settings
    if not is_inside(settings.file, settings.workspace) or is_trusted(settings.home, settings.file):
        return replace(settings, mcp=told.get("mcp", {}), plugins=told.get("plugins", {}))
    names = " and ".join(f"[{name}]" for name in told)
    warning = (
        f"{settings.file} lies inside the workspace and was not trusted, or has changed since, so its {names} "
        "is left out. Read the file, then: beforehand config trust"
    )
    return replace(settings, warnings=(*settings.warnings, warning))


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path lies in a folder, links followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


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


def _unknown_variables(environment: Mapping[str, str]) -> tuple[str, ...]:
    """What is said of variables that look like settings and are none: a warning, for they may be somebody else's."""
    known = {PREFIX + name.upper() for name in _BY_NAME}
    strangers = (
        name
        for name, value in sorted(environment.items())
        if name.startswith(PREFIX) and not name.startswith(SECRET_PREFIX) and name not in known and value.strip()
    )
    return tuple(f"{unknown('setting', name, known).says} It has no effect." for name in strangers)


def _first_given(
    setting: Setting, flags: Mapping[str, Any], environment: Mapping[str, str], table: Mapping[str, Any], path: Path
) -> tuple[Any, str] | None:
    if flags.get(setting.name) is not None:
        return flags[setting.name], "flag"
    variable = PREFIX + setting.name.upper()
    if environment.get(variable, "").strip():
        return environment[variable], variable
    if str(table.get(setting.name, "")).strip():
        return table[setting.name], str(path)
    return None


def _as(kind: type, raw: Any) -> Any:
    if kind is str and isinstance(raw, list):
        return ",".join(map(str, raw))
    if kind is bool:
        return _YES_OR_NO[str(raw).strip().lower()]
    if kind in (int, float) and isinstance(raw, bool):
        raise ValueError
    return kind(raw)


def _kind_name(kind: type) -> str:
    return {int: "whole number", float: "number", bool: "yes or a no (true, false)"}.get(kind, "text")
