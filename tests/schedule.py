"""Which tests run in one process, and which come first.

The tests of a file run in one process, so that what they share is started once; so do files that share a server that is
slow to start. Browser tests keep a core busy: two processes take them, and they come first, while others wait for
sockets. (Marks for xdist's own groups have no effect with this version of pytest.)
"""

from collections.abc import Iterable

import pytest
from xdist.scheduler import LoadScopeScheduling

BROWSER = "tests/e2e/"
FIRST = (BROWSER, "tests/contract/", "tests/cli/")
"""What takes longest, and between those that keep a core busy those that wait."""
GROUPS = {
    "console": ("floor", "hurried", "new", "history", "inbox", "run", "wire", "session"),
    "console too": ("plan", "frame", "ask", "scenes", "setup", "cells", "floor_verbs", "story", "base", "files"),
    "temporal": (
        "api/test_temporal",
        "api/test_temporal_trouble",
        "cli/test_worker",
        "contract/test_temporal",
        "contract/test_temporal_servers",
        "contract/test_temporal_tls",
    ),
    "bolt": ("contract/test_graph", "contract/test_graph_bolt", "contract/test_graph_plans"),
    "install": ("house/test_wheel", "house/test_install"),
}


def _file(name: str) -> str:
    return f"tests/{name}.py" if "/" in name else f"{BROWSER}console/test_{name}.py"


GROUP_OF = {_file(name): group for group, names in GROUPS.items() for name in names}


class Schedule(LoadScopeScheduling):
    """Files and groups of files, in the order in which they were collected."""

    def __init__(self, config: pytest.Config, log: object = None) -> None:
        super().__init__(config, log)  # type: ignore[arg-type]
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return GROUP_OF.get(file, file)


def in_order(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    def place(item: pytest.Item) -> int:
        return next((place for place, folder in enumerate(FIRST) if item.nodeid.startswith(folder)), len(FIRST))

    return sorted(items, key=place)
