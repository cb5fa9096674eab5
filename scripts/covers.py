"""Which tests cover which folder of the package, and how a sample of mutants is spread over it."""

from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "src/beforehand"

ROOMS = {
    "model": ("model", "ports"),
    "engine": ("engine",),
    "loop": ("loop",),
    "links": ("adapters/robokit", "adapters/vda5050", "adapters/opcua", "adapters/temporal"),
    "adapters": ("adapters",),
    "app": ("app",),
    "testing": ("testing",),
    "server": ("server",),
    "cli": ("cli",),
    "crafts": ("crafts",),
}
"""How a sample is spread over the package; the longest folder that fits counts."""

PLANS = ("tests/scenarios/test_plans_*.py", "tests/scenarios/test_contract_plans.py", "tests/properties/test_engine.py")
FLEETS = ("tests/scenarios/test_fleet_*.py", "tests/properties/test_fleet*.py")
MACHINES = ("tests/rooms/crafts/cell/test_[gls][uet]*.py", "tests/properties/test_last_metre.py")
COVERS = {
    "crafts/agent": (
        "tests/rooms/crafts/agent/test_*.py",
        "tests/scenarios/test_agent_*.py",
        "tests/contract/test_body.py",
        "tests/properties/test_agent.py",
        "tests/api/test_*sessions.py",
        "tests/cli/test_agent.py",
    ),
    "crafts/cell": (
        "tests/rooms/crafts/cell/test_*.py",
        "tests/scenarios/test_sequence.py",
        "tests/scenarios/test_contract_scenes.py",
        "tests/contract/test_cell_controller.py",
        "tests/properties/test_cell.py",
        "tests/properties/test_last_metre.py",
        "tests/api/test_cell.py",
        "tests/cli/test_cell.py",
    ),
    "crafts/drafting": (
        "tests/rooms/crafts/drafting/test_*.py",
        "tests/api/test_drafts.py",
        "tests/api/test_model_intent.py",
        "tests/cli/test_draft.py",
    ),
    "crafts/fleet": (
        "tests/rooms/crafts/fleet/test_*.py",
        *FLEETS,
        "tests/scenarios/test_contract_scenes.py",
        "tests/api/test_fleet.py",
        "tests/cli/test_fleet.py",
    ),
    "crafts/rounds": (
        "tests/rooms/crafts/rounds/test_*.py",
        "tests/rooms/crafts/test_chart.py",
        "tests/scenarios/test_rounds_*.py",
        "tests/scenarios/test_questions*.py",
        "tests/properties/test_rounds*.py",
        "tests/api/test_questions.py",
        "tests/cli/test_rounds.py",
        "tests/cli/test_ask*.py",
    ),
    "engine": ("tests/rooms/engine/test_*.py", *PLANS, *MACHINES),
    "loop": (
        "tests/rooms/loop/test_*.py",
        *PLANS,
        "tests/api/test_writes.py",
        "tests/api/test_live.py",
        *MACHINES,
        "tests/rooms/crafts/fleet/test_fleets.py",
    ),
    "app": (
        "tests/rooms/app/test_*.py",
        *MACHINES,
        "tests/scenarios/test_contract_*.py",
        "tests/api/test_*s.py",
        "tests/api/test_temporal*.py",
        "tests/cli/test_*.py",
    ),
    "adapters/robokit": (
        "tests/rooms/adapters/test_robokit*.py",
        "tests/contract/test_robot_link.py",
        "tests/contract/test_robokit_*.py",
        "tests/contract/test_traffic_robokit.py",
        "tests/cli/test_robot.py",
    ),
    "adapters/vda5050": (
        "tests/rooms/adapters/test_vda5050*.py",
        "tests/contract/test_vda5050_link.py",
        "tests/contract/test_vda5050_tls.py",
        "tests/contract/test_vda5050_fleet.py",
        "tests/contract/test_traffic_vda5050.py",
        "tests/cli/test_robot_check.py",
    ),
    "adapters/opcua": (
        "tests/rooms/adapters/test_opcua*.py",
        "tests/properties/test_opcua_values.py",
        "tests/contract/test_opcua_foreign.py",
        "tests/contract/test_cell_controller.py",
        "tests/contract/test_opcua.py",
        "tests/cli/test_opcua.py",
    ),
    "adapters/temporal": (
        "tests/rooms/adapters/test_temporal*.py",
        "tests/contract/test_histories.py",
        "tests/api/test_temporal*.py",
        "tests/contract/test_temporal_tls.py",
        "tests/contract/test_temporal_servers.py",
        "tests/contract/test_temporal.py",
        "tests/cli/test_worker.py",
    ),
    "adapters/sqlite": (
        "tests/contract/test_store.py",
        "tests/contract/test_store_sqlite.py",
        "tests/properties/test_store.py",
        "tests/contract/test_archive.py",
        "tests/contract/test_backup.py",
    ),
    "adapters/postgres": (
        "tests/contract/test_store.py",
        "tests/contract/test_store_postgres.py",
        "tests/contract/test_standing_by.py",
        "tests/contract/test_archive.py",
        "tests/contract/test_servers.py",
    ),
    "adapters/memory": ("tests/rooms/adapters/test_memory_store.py", "tests/contract/test_store.py"),
    "adapters/log": (
        "tests/contract/test_log*.py",
        "tests/contract/test_store.py",
        "tests/contract/test_archive.py",
        "tests/properties/test_store.py",
        "tests/contract/test_store_*.py",
    ),
    "adapters/search": (
        "tests/contract/test_search*.py",
        "tests/properties/test_search_tallies.py",
        "tests/api/test_search.py",
    ),
    "adapters/models": (
        "tests/rooms/adapters/test_model*.py",
        "tests/rooms/app/test_*model*.py",
        "tests/contract/test_model*.py",
    ),
    "adapters/minigrid": ("tests/rooms/adapters/test_minigrid.py", "tests/contract/test_body.py"),
    "adapters/otel": ("tests/rooms/app/test_tracing.py", "tests/api/test_tracing.py"),
    "adapters/peers": (
        "tests/contract/test_standing_by.py",
        "tests/api/test_handing_on.py",
        "tests/contract/test_servers.py",
    ),
    "adapters/tools": ("tests/rooms/tools/test_*.py", "tests/scenarios/test_plans_approvals.py"),
    "adapters/files": ("tests/contract/test_workspace*.py", "tests/rooms/tools/test_files.py"),
    "adapters/sim": (
        "tests/rooms/sim/test_*.py",
        "tests/contract/test_robot_link.py",
        "tests/contract/test_cell_controller.py",
        *FLEETS,
    ),
    "adapters/graph": ("tests/contract/test_graph*.py",),
    "adapters/mcp": (
        "tests/rooms/adapters/test_mcp*.py",
        "tests/rooms/tools/test_mcp*.py",
        "tests/rooms/cli/test_mcp*.py",
        "tests/cli/test_mcp*.py",
        "tests/contract/test_mcp*.py",
    ),
    "adapters": ("tests/rooms/adapters/test_*.py", "tests/contract/test_store*.py", "tests/contract/test_log*.py"),
    "model": ("tests/rooms/model/test_*.py", "tests/rooms/engine/test_*.py", *PLANS, *FLEETS),
    "ports": ("tests/rooms/ports/test_*.py", "tests/rooms/crafts/*/test_*.py", *PLANS),
    "testing": (
        "tests/rooms/testing/test_*.py",
        *PLANS,
        "tests/contract/test_model*.py",
        "tests/contract/test_histories.py",
        "tests/contract/test_store_postgres.py",
        "tests/contract/test_temporal_tls.py",
        "tests/contract/test_tls.py",
    ),
    "server": ("tests/api/test_*.py", "tests/contract/test_server_turns.py"),
    "cli": ("tests/rooms/cli/test_*.py", "tests/cli/test_*.py"),
}
"""The tests that cover a folder of the package, the quick ones first; the longest folder that fits counts."""


def fitting(module: str, folders: Iterable[str]) -> str:
    """The longest of the package's folders that a module lies in, or empty text."""
    inside = module.removeprefix(f"{PACKAGE}/")
    return max((name for name in folders if inside.startswith(f"{name}/")), key=len, default="")


def room_of(module: str) -> str:
    rooms = {folder: room for room, folders in ROOMS.items() for folder in folders}
    return rooms.get(fitting(module, rooms), "app")


def tests_for(module: str) -> list[str]:
    """The tests that cover a module, those named after it first."""
    globs = COVERS[fitting(module, COVERS) or "app"]
    found = list({str(path.relative_to(ROOT)): None for glob in globs for path in sorted(ROOT.glob(glob))})
    noun = Path(module).stem
    return sorted(found, key=lambda path: noun not in Path(path).stem)
