"""The test kit: virtual time, a store in memory, tools and models that follow a script, and scenarios of plans.

For Beforehand's own tests and for users' tests of their tools and plans. Nothing here sleeps or writes to disk.

    scenario = PlanScenario(ScriptedTool("weigh", takes(2, {"kg": 7})))
    await scenario.begin({"steps": [{"id": "a", "tool": "weigh"}]})
    await scenario.play()
    assert scenario.value("a") == {"kg": 7}
"""

from beforehand.adapters.memory.log import MemoryLog
from beforehand.adapters.memory.store import MemoryStore
from beforehand.testing.clock import StandstillError, VirtualClock
from beforehand.testing.models import ScriptedModel
from beforehand.testing.plans import PlanScenario
from beforehand.testing.tools import ScriptedTool, breaks, echoes, fails, gives, hangs, takes
from beforehand.testing.workspace import MemoryWorkspace

__all__ = [
    "MemoryLog",
    "MemoryStore",
    "MemoryWorkspace",
    "PlanScenario",
    "ScriptedModel",
    "ScriptedTool",
    "StandstillError",
    "VirtualClock",
    "breaks",
    "echoes",
    "fails",
    "gives",
    "hangs",
    "takes",
]
