"""`beforehand worker`: what it has, what it says when it cannot work, and what doctor says of it."""

from typing import Any

import pytest

from beforehand.testing.temporal_server import TemporalServer

pytestmark = pytest.mark.needs("temporal", "temporalio")


def test_a_worker_works_until_it_is_stopped_and_doctor_sees_it(cli: Any, temporal: TemporalServer) -> None:
    where = {"BEFOREHAND_TEMPORAL": temporal.address, "BEFOREHAND_TEMPORAL_PREFIX": cli.folder.name}
    cli.environment |= where
    unknown = cli("worker", "--tools", "wait,wiat", code=2)
    assert unknown.err.startswith("Unknown tool 'wiat'.")
    worker = cli.start("worker", "--tools", "wait,read_file")
    assert worker.stdout is not None
    line = worker.stdout.readline()
    assert line == f"Working for Temporal at {temporal.address} with 2 tools: read_file, wait.\n"
    assert worker.stdout.readline() == "Ctrl-C stops it.\n"
    cli.environment["BEFOREHAND_ENGINE"] = "temporal"
    checks: dict[tuple[str, str], str] = {}
    while ("workers", "ok") not in checks:  # it has called at the server soon after it says so
        checks = {(one["check"], one["state"]): one["says"] for one in cli("doctor", "-o", "json").document["checks"]}
    assert checks["engine", "ok"].startswith(f"Temporal at {temporal.address}")
    assert checks["workers", "ok"].startswith("1 worker: beforehand-worker@")
    assert "write_file" in checks["workers", "missing"]
    worker.terminate()
    out, err = worker.communicate(timeout=60)
    assert (worker.returncode, out, err) == (0, "Stopped.\n", "")


def test_a_server_that_is_not_there_is_one_sentence(cli: Any) -> None:
    done = cli("worker", "--temporal", "127.0.0.1:1", code=1)
    assert done.err.startswith("The Temporal server at 127.0.0.1:1 does not answer (")
    assert "tonic" not in done.err
    assert cli("worker", code=2, BEFOREHAND_TEMPORAL_LOST_S="0").err.startswith("temporal_lost_s must be between")
    assert "Known engines: local, temporal" in cli("up", "--no-open", code=2, BEFOREHAND_ENGINE="moon").err
