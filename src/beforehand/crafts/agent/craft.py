"""The agent: a body in a home, steered while its actions run. Everything the craft brings, in one readable place."""

from typing import Any

from beforehand.app.craft import Craft, Holds, Owner, Parts, Planner, PlanRequest, Scenes, Wanted
from beforehand.app.runtime import Runtime
from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.core.session_state import COMMANDED, ENDED, STARTED, UPDATED
from beforehand.crafts.agent.core.warnings import warnings
from beforehand.crafts.agent.homes import KIND, WORLD_ROW
from beforehand.crafts.agent.plans import PLANNER, judge_of, make_errands, read_wanted
from beforehand.crafts.agent.plug_ins import VERB_GROUP
from beforehand.crafts.agent.rows import ROWS
from beforehand.crafts.agent.searchable import SEARCHABLE
from beforehand.crafts.agent.sentences import SENTENCES
from beforehand.crafts.agent.session_documents import SESSION_ROW
from beforehand.crafts.agent.sessions import Sessions
from beforehand.crafts.agent.tools import Errand
from beforehand.crafts.agent.worlds import GROUP, load_worlds
from beforehand.model.plan import Plan
from beforehand.ports.log import Log

log = Log("beforehand.agent")


def open_sessions(runtime: Runtime) -> Parts:
    sessions = Sessions(runtime)
    for missed in load_worlds():
        log.error("a world could not be used", name=missed.about, says=missed.says)

    async def plan(request: PlanRequest, correlation_id: str) -> Plan:
        return make_errands(await sessions.homes.scene(request.scene), request)

    async def read(request: PlanRequest) -> Wanted:
        return read_wanted(await sessions.homes.scene(request.scene), request)

    return Parts(
        service=sessions,
        scenes=_scenes(sessions),
        planner=Planner(PLANNER, plan, read),
        judge=judge_of(sessions),
        holds=Holds(KIND, sessions.moving, sessions.hold, sessions.let_go),
        tools=(Errand(sessions),),
        owners={"session": Owner(sessions.answer, sessions.host.take_up)},
        begin=sessions.begin,
        close=sessions.close,
    )


def _scenes(sessions: Sessions) -> Scenes:
    return Scenes(
        KIND,
        check=lambda document: read_home(document).wire(),
        warnings=lambda document: warnings(read_home(document), sessions.verbs),
        activate=sessions.activate,
        deactivate=sessions.deactivate,
        state=sessions.state,
        state_at=sessions.state_at,
        replays=(STARTED, COMMANDED, UPDATED, ENDED),
        lists=("sessions",),
    )


def _http() -> Any:
    from beforehand.crafts.agent.http import HTTP

    return HTTP


def _mcp() -> Any:
    from beforehand.crafts.agent.mcp import TOOLS

    return TOOLS


CRAFT = Craft(
    "agent",
    open=open_sessions,
    rows=ROWS,
    ends=(SESSION_ROW,),
    remembers=(WORLD_ROW,),
    sentences=SENTENCES,
    searchable=SEARCHABLE,
    http=_http,
    says_who=("sessions/*/commands",),
    mcp=_mcp,
    plugin_points=(VERB_GROUP, GROUP),
)
