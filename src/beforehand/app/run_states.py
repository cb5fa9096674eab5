"""The state of a run from the log alone, whoever drives it."""

from beforehand.app.run_documents import run_head_in
from beforehand.engine.state import RunState, replay
from beforehand.loop.fold import folding
from beforehand.model.event import Event
from beforehand.model.log_identity import UNNAMED
from beforehand.model.plan import Plan
from beforehand.ports.store import EventFilter, Store
from beforehand.ports.tasks import TaskOwner

CHUNK = 5_000


async def replayed(store: Store, run_id: str) -> RunState:
    """The state of a run; NotFoundError for one that nobody knows."""
    log = await store.identity()
    head = await run_head_in(store, run_id)
    events: list[Event] = []
    after = 0
    while chunk := await store.events(after=after, limit=CHUNK, only=EventFilter(owner=f"run:{run_id}")):
        events += chunk
        after = chunk[-1].seq
    documents = await store.rows("plan", parent=head["planId"])
    with folding(f"The run {run_id}"):
        plans = {row["version"]: Plan.model_validate(row) for row in documents}
        return replay(run_id, plans.__getitem__, events, log or UNNAMED)


def owner_of_run(run_id: str, correlation_id: str = "", plan_id: str = "") -> TaskOwner:
    """Who answers for the tasks of a run."""
    about = {"runId": run_id, **({"planId": plan_id} if plan_id else {})}
    return TaskOwner(f"run:{run_id}", f"The run {run_id}", about, correlation_id=correlation_id)
