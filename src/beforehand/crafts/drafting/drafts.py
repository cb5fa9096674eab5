"""The drafts of a runtime: started, followed, stopped; each a task beside everything else, and all of it in the log.

A question to a model costs money, so none is ever sent twice unasked: a draft that a crash cut off has failed, and says
so; whoever wants it starts it again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beforehand.adapters.models.budget import Budget, Limits
from beforehand.app.craft import Begun
from beforehand.app.ids import new_id
from beforehand.app.live_models import watched_model
from beforehand.app.models import open_model
from beforehand.app.plan_changes import keep_anew
from beforehand.app.plans import get_plan, keep_plan
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import known_scene, scene_row
from beforehand.crafts.drafting.core.prompt import Request, draft_ask
from beforehand.crafts.drafting.looking import look_at
from beforehand.crafts.drafting.rows import DRAFT_ROW, FAILED, FINISHED, STARTED, TRIED
from beforehand.crafts.drafting.writing import write_plan
from beforehand.loop.host import Host
from beforehand.model.errors import BadInputError, BeforehandError, ConflictError, ModelError, NotFoundError
from beforehand.model.event import Event, iso
from beforehand.model.plan import Origin, Plan, step_wire
from beforehand.model.reason import Reason
from beforehand.ports.tasks import TaskOwner

PLANNER = "draft"
BUDGET: Mapping[str, float] = {"requests": 20, "seconds": 900}
"""What a draft may use unless it is given a budget of its own."""
Head = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a draft is to be made of: a person's words, or a plan that is to be made anew with a note."""

    text: str
    workspace: str | None = None
    model: str | None = None
    scene: str | None = None
    budget: Mapping[str, Any] = field(default_factory=dict)
    by: str = ""
    notes: tuple[str, ...] = ()
    anew: Plan | None = None

    def head(self, draft_id: str, model: str, started_at: str) -> Head:
        """The draft as it begins."""
        told: Head = {"workspace": self.workspace, "scene": self.scene, "budget": dict(self.budget), "by": self.by}
        told |= {"note": self.notes[-1] if self.notes else None}
        told |= {"planId": self.anew.id, "version": self.anew.version} if self.anew is not None else {}
        head = {"draftId": draft_id, "status": "drafting", "text": self.text, "model": model, "startedAt": started_at}
        return {**head, **{name: value for name, value in told.items() if value}, "tries": []}


@dataclass(slots=True)
class Drafts:
    runtime: Runtime
    host: Host[Head] = field(init=False)

    def __post_init__(self) -> None:
        self.host = Host(self.runtime.nursery, owner_of_draft, self._cut_off)

    @property
    def live(self) -> dict[str, Head]:
        """The drafts under way here, as they stand."""
        return self.host.live

    # -- starting --------------------------------------------------------------------------------------------------

    async def start(self, asked: Asked) -> Head:
        """Begin a draft and give it as it stands; it goes on as events.

        Raises ModelNotConfiguredError without a model, BadInputError for words, a folder or a scene that are none.
        """
        await self._refuse_nonsense(asked)
        draft_id = new_id("draft")
        budget = Budget(open_model(self.runtime.settings, asked.model), Limits(**{**BUDGET, **asked.budget}))
        head = asked.head(draft_id, budget.name, iso(self.runtime.now()))
        await self.runtime.store.append([self._event(STARTED, head)])
        self.host.start(draft_id, head, self._work(head, asked, budget))
        return head

    async def begin_again(self, plan: Plan, note: str, by: str) -> Begun:
        """Begin to draft a plan anew, from its words, what it was, and what people said about it."""
        notes = (*plan.origin.options.get("notes", ()), *([note] if note.strip() else []))
        text = plan.origin.text or plan.name
        model = self.runtime.settings["model"] or plan.origin.model  # where prompts go is the installation's to say
        asked = Asked(text, plan.workspace, model, plan.scene, by=by, notes=tuple(notes), anew=plan)
        return _begun(await self.start(asked))

    def begun(self, event: Event) -> Begun:
        """The same, from the event that the draft began with."""
        return _begun(event.data)

    async def dry_run(self, asked: Asked) -> dict[str, Any]:
        """What a model would be sent, which one, or why none can be asked; nothing is sent or written down."""
        await self._refuse_nonsense(asked)
        told: dict[str, Any] = draft_ask(await self.request(asked)).wire()
        try:
            model = open_model(self.runtime.settings, asked.model)
        except ModelError as error:
            return {
                "reason": Reason(code=error.code, about="model", says=error.says, try_next=error.hint).wire(),
                **told,
            }
        await model.close()
        return {"model": model.name, **told}

    async def _refuse_nonsense(self, asked: Asked) -> None:
        if not asked.text.strip():
            raise BadInputError("Say what is wanted: `text` is empty.", code="draft.empty")
        self.runtime.workspace(asked.workspace)
        if asked.scene is not None:
            await known_scene(self.runtime, asked.scene)

    async def request(self, asked: Asked) -> Request:
        """What a model is shown for a draft, as things are now."""
        scene = None if asked.scene is None else (await scene_row(self.runtime, asked.scene))["document"]
        return Request(
            asked.text,
            self.runtime.catalog.specs(),
            await look_at(self.runtime.workspace(asked.workspace)),
            scene,
            [] if asked.anew is None else [step_wire(step) for step in asked.anew.steps],
            asked.notes,
        )

    # -- working ---------------------------------------------------------------------------------------------------

    async def _work(self, head: Head, asked: Asked, budget: Budget) -> None:
        about = {"draftId": head["draftId"]}
        model = watched_model(self.runtime, budget, owner=f"draft:{head['draftId']}", about=about)
        try:
            plan = await write_plan(
                self.runtime,
                model,
                await self.request(asked),
                scene=asked.scene,
                workspace=asked.workspace,
                tried=lambda problems: self._tried(head["draftId"], problems),
            )
            await self._keep(head["draftId"], asked, budget, plan)
        except BeforehandError as error:
            await self._end({**self.live[head["draftId"]], "usage": budget.used.wire()}, error)
        except Exception as error:  # told as a bug by whoever started this; the draft is over all the same
            says = f"An error in Beforehand itself ended it: {type(error).__name__}."
            await self._end(self.live[head["draftId"]], ConflictError(says, code="draft.bug"))
            raise
        finally:
            await model.close()

    async def _tried(self, draft_id: str, problems: Sequence[str]) -> None:
        tries = self.live[draft_id]["tries"]
        head = {**self.live[draft_id], "tries": [*tries, {"try": len(tries) + 1, "problems": list(problems)}]}
        await self.runtime.store.append([self._event(TRIED, head)])
        self.live[draft_id] = head

    async def _keep(self, draft_id: str, asked: Asked, budget: Budget, plan: Plan) -> None:
        """The plan, its review and the end of the draft, durable together."""
        options = {"notes": list(asked.notes)} if asked.notes else {}
        origin = Origin(planner=PLANNER, model=budget.name, text=asked.text, options=options)
        plan = plan.model_copy(update={"origin": origin, "name": plan.name or asked.text[:200]})

        def also(kept: Plan) -> list[Event]:
            done = {"status": "finished", "planId": kept.id, "version": kept.version, "usage": budget.used.wire()}
            return [self._event(FINISHED, self._ended(self.live[draft_id], done), planId=kept.id)]

        if asked.anew is None:
            await keep_plan(self.runtime, plan, correlation_id=draft_id, by=asked.by, also=also)
        else:
            await keep_anew(self.runtime, asked.anew.id, asked.anew.version, plan, by=asked.by, also=also)

    async def _end(self, head: Head, error: BeforehandError) -> None:
        """The draft has come to nothing, and says why."""
        reason = {"code": error.code, "about": head["draftId"], "says": error.says, "tryNext": error.hint}
        await self.runtime.store.append(
            [self._event(FAILED, self._ended(head, {"status": "failed", "reason": reason}))]
        )

    def _ended(self, head: Head, how: Head) -> Head:
        return {**head, **how, "endedAt": iso(self.runtime.now())}

    def _event(self, kind: str, head: Head, **about: Any) -> Event:
        draft_id = str(head["draftId"])
        return self.runtime.event(
            kind,
            head,
            owner=f"draft:{draft_id}",
            scene=head.get("scene"),
            correlation_id=draft_id,
            draftId=draft_id,
            **about,
        )

    # -- asking and telling ----------------------------------------------------------------------------------------

    async def show(self, draft_id: str) -> Head:
        """A draft as it stands; NotFoundError with those there are."""
        row = await self.runtime.store.row(DRAFT_ROW, draft_id)
        if row is None:
            rows = await self.runtime.store.rows(DRAFT_ROW, limit=200)
            raise NotFoundError.unknown("draft", draft_id, [other["draftId"] for other in rows])
        return row

    async def listed(self, limit: int = 200) -> list[Head]:
        """The drafts there were, newest first."""
        return await self.runtime.store.rows(DRAFT_ROW, limit=limit, newest_first=True)

    async def stop(self, draft_id: str, *, by: str = "") -> Head:
        """Wait for the model no longer; ConflictError where the draft is over."""
        head = await self.show(draft_id)
        if draft_id not in self.live:
            raise ConflictError(f"The draft is over: {head['status']}.", code="draft.over")
        await self.host.stop(draft_id)
        row = await self.show(draft_id)
        if row["status"] == "drafting":  # it may have ended just before it heard
            who = f" by {by}" if by else ""
            await self._end(row, ConflictError(f"It was stopped{who}.", code="draft.stopped"))
        return await self.show(draft_id)

    async def until_over(self, draft_id: str) -> Head:
        """Wait for a draft's end and give it as it then is."""
        await self.host.wait(draft_id)
        return await self.show(draft_id)

    async def plan_of(self, head: Mapping[str, Any]) -> Plan:
        """The plan that came of a finished draft."""
        return await get_plan(self.runtime, str(head["planId"]), int(head["version"]))

    # -- after a crash ---------------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Drafts that another process was working on when it ended have failed."""
        rows = await self.runtime.store.rows(DRAFT_ROW, open=True)
        await self.host.take_up_all([row["draftId"] for row in rows])

    async def restart(self, draft_id: str) -> None:
        """After a bug: the same draft is started again, because a person asked for it."""
        row = await self.show(draft_id)
        by = row.get("by", "")
        if "planId" in row:
            await self.begin_again(await get_plan(self.runtime, row["planId"]), row.get("note", ""), by)
        else:
            told = row.get("workspace"), row["model"], row.get("scene"), row.get("budget", {}), by
            await self.start(Asked(row["text"], *told))

    async def _cut_off(self, draft_id: str) -> None:
        row = await self.show(draft_id)
        says = "The process that waited for the model ended before there was a plan."
        hint = "Start it again if it is still wanted; nothing is sent again unasked."
        await self._end(row, ConflictError(says, code="draft.cut_off", hint=hint))


def owner_of_draft(draft_id: str) -> TaskOwner:
    """Who answers for the tasks of a draft."""
    return TaskOwner(f"draft:{draft_id}", f"The draft {draft_id}", {"draftId": draft_id}, correlation_id=draft_id)


def _begun(head: Mapping[str, Any]) -> Begun:
    says = f"{head['model']} drafts it anew from version {head['version']}."
    return Begun(str(head["planId"]), f"/drafts/{head['draftId']}", says)
