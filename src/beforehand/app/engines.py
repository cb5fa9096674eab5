"""Where runs are decided: in the process that leads, or on Temporal, as the settings say."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from beforehand.app.extensions import built_in_extensions
from beforehand.app.settings import Settings
from beforehand.app.tls import authorities, client_pair
from beforehand.app.untrusted_urls import is_untrusted
from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.model.finding import Finding
from beforehand.model.hosts import is_loopback
from beforehand.model.log_identity import UNNAMED, LogIdentity
from beforehand.model.words import counted
from beforehand.ports.plugin import BUILT_IN
from beforehand.ports.run_host import RunHost

if TYPE_CHECKING:
    from beforehand.adapters.temporal.address import Address, Encryption
    from beforehand.app.runtime import Runtime
    from beforehand.engine.inputs import RunInput
    from beforehand.engine.state import RunState

ENGINES = ("local", "temporal")


def engine_of(settings: Settings) -> str:
    """The engine that is set; BadInputError for one nobody knows."""
    engine = str(settings["engine"])
    if engine not in ENGINES:
        raise BadInputError.unknown("engine", engine, ENGINES, code="settings.engine")
    return engine


def run_host_for(runtime: "Runtime") -> "RunHost[RunState, RunInput]":
    """What carries this runtime's runs out.

    A process that carries out one plan and is not the home's server does that by itself, whatever the engine is.
    """
    if engine_of(runtime.settings) == "temporal" and runtime.serves:
        require_temporal()
        from beforehand.app.temporal_runs import TemporalRuns

        return TemporalRuns(runtime)
    from beforehand.app.local_runs import LocalRuns

    return LocalRuns(runtime)


def require_temporal() -> None:
    """UnavailableError where Temporal's library is not installed."""
    if find_spec("temporalio") is None:
        raise UnavailableError(
            "Runs on Temporal need the package temporalio, which is not installed.",
            code="temporal.not_installed",
            hint="Install it: pip install 'temporalio>=1.35', or in Beforehand's checkout: pip install '.[temporal]'.",
        )


def temporal_address(settings: Settings, log: LogIdentity = UNNAMED) -> "Address":
    """Where the settings say that runs are; those of one log are found under its identity."""
    from beforehand.adapters.temporal.address import Address
    from beforehand.adapters.temporal.names import Names

    lost_after_s = float(settings["temporal_lost_s"])
    if not 1 <= lost_after_s <= 3600:
        says = f"temporal_lost_s must be between 1 and 3600 seconds, not {lost_after_s:g}."
        raise BadInputError(says, code="settings.temporal")
    target = str(settings["temporal"])
    if is_untrusted(settings, "temporal", f"//{target}"):
        raise BadInputError(
            f"{settings.file} lies inside the workspace and was not trusted, so runs are not sent to {target}.",
            code="settings.untrusted",
            hint="Read the file, then: beforehand config trust",
        )
    names = Names(str(settings["temporal_prefix"]), log)
    encryption = _encryption(settings, target)
    where = (target, str(settings["temporal_namespace"]), names, lost_after_s)
    return Address(*where, encryption, settings["temporal_api_key"])


def _encryption(settings: Settings, target: str) -> "Encryption | None":
    """How the line to Temporal is encrypted; BadInputError where the settings contradict each other."""
    from beforehand.adapters.temporal.address import Encryption

    certificate, key = settings["temporal_tls_cert"], settings["temporal_tls_key"]
    if key and not certificate:
        raise _contradiction("temporal_tls_key is set, and temporal_tls_cert is not.", "Set both, or neither.")
    if settings["temporal_tls"] is False:
        if certificate:
            raise _contradiction("temporal_tls is off, and temporal_tls_cert is set.", "Set only one of them.")
        if settings["temporal_api_key"] and not is_loopback(urlsplit(f"//{target}").hostname or ""):
            says = f"temporal_tls is off, so everybody on the way to {target} could read the key of temporal_api_key."
            raise _contradiction(says, "Remove temporal_tls; with an API key the line is encrypted.")
        return None
    if not (settings["temporal_tls"] or certificate or settings["temporal_api_key"]):
        return None
    ours = client_pair(Path(certificate), Path(key or certificate)) if certificate else (None, None)
    return Encryption(authorities(settings), *ours)


def _contradiction(says: str, hint: str) -> BadInputError:
    return BadInputError(says, code="settings.temporal", hint=hint)


async def check_engine(
    settings: Settings, tools: Sequence[Mapping[str, Any]], log: LogIdentity = UNNAMED
) -> list[Finding]:
    """Where runs are decided; on Temporal, who leads and works there now, and which of these tools nobody has."""
    if engine_of(settings) == "local":
        return [Finding("engine", "ok", "Runs are decided and carried out by the process that leads.")]
    require_temporal()
    from beforehand.adapters.temporal.pollers import seen_at

    address = temporal_address(settings, log)
    seen = await seen_at(address, _of_workers(settings, tools))
    leaders = counted(len(seen.leaders), "process", "processes")
    how = "not encrypted" if address.encryption is None else "encrypted"
    found = [Finding("engine", "ok", f"Temporal at {address.target}, {how}; {leaders} taking decisions there.")]
    workers = counted(len(seen.workers), "worker")
    told = f"{workers}: {', '.join(sorted(seen.workers))}." if seen.workers else "No worker has called lately."
    start = "Start some: beforehand worker"
    found.append(Finding("workers", "ok" if seen.workers else "missing", told, "" if seen.workers else start))
    if seen.workers and seen.idle_tools:
        says = f"No worker has {', '.join(seen.idle_tools)}."
        found.append(Finding("workers", "missing", says, "Start one that has it: beforehand worker --tools NAME"))
    return found


def _of_workers(settings: Settings, tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """The tools that workers are asked for: built in, of plug-ins, of MCP servers; not those of crafts."""
    built_in = {spec.name for spec in built_in_extensions(settings).tools.specs() if not spec.asks_person}
    return [tool["name"] for tool in tools if tool["name"] in built_in or tool["source"] != BUILT_IN]
