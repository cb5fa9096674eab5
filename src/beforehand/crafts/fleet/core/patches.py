"""Corrections people make while robots work: what stands on a worksite, how a stream runs, one transport more.

A correction of a reserved worksite changes what lies under the reservation. The task that holds it goes somewhere
else if it still may; if it has committed, it is held and a person decides.
"""

from beforehand.crafts.fleet.core.batches import other_legs, with_target
from beforehand.crafts.fleet.core.board import Board, Fault
from beforehand.crafts.fleet.core.cancel import give_up, leave_out, retarget
from beforehand.crafts.fleet.core.carrying import does_not_fit
from beforehand.crafts.fleet.core.faults import hold_for_person
from beforehand.crafts.fleet.core.inputs import PatchStream, PatchWorksite, RequestTransport
from beforehand.crafts.fleet.core.rules import can_drop, can_pick, is_loaded, needed_place, release, reserve
from beforehand.crafts.fleet.core.streams import KINDS
from beforehand.crafts.fleet.core.task_values import NO_PALLETS
from beforehand.crafts.fleet.core.work_queue import Queue
from beforehand.model.fleet import Leg, Stream, Task
from beforehand.model.reason import name_list, unknown
from beforehand.model.records import changed

OCCUPANCIES = ("unknown", "empty", "filled")


def patch_worksite(board: Board, given: PatchWorksite) -> None:
    if not _known_site(board, given.worksite_id):
        return
    if given.occupancy not in OCCUPANCIES:
        says = f"A worksite can be set to {name_list(OCCUPANCIES)}; reservations are made by tasks."
        board.refuse("worksite.occupancy", given.worksite_id, says)
        return
    site = board.site(given.worksite_id)
    if given.occupancy == "filled" and site.worksite_type in NO_PALLETS:
        says = f"{given.worksite_id} is a {site.worksite_type} place; pallets do not stand there."
        board.refuse("worksite.occupancy", given.worksite_id, says, "Name a place where pallets stand.")
        return
    held = site.occupancy == "reserved" and site.reserved_by is not None
    if site.brought_by is not None:
        # Whatever is said of it now, it is no longer merely what the shuttle brought.
        site = board.change_site(site, brought_by=None)
    if site.lies == given.occupancy and site.failures == 0 and (held or site.occupancy == given.occupancy):
        return
    since = site.since_ts_ms if site.lies == given.occupancy else board.now
    changes = (
        {"occupancy_before": given.occupancy} if held else {"occupancy": given.occupancy, "occupancy_before": None}
    )
    board.change_site(site, since_ts_ms=since, failures=0, rest_until_ts_ms=0, **changes)
    for task in list(board.open_tasks()):
        _check_task(board, task, given.worksite_id)


def is_still_right(board: Board, task: Task) -> bool:
    """Whether the place of the task's next order is as the order needs it, looked at right before it is sent.

    Where it is not, the task goes elsewhere, ends or is held, as it would have been if it had just been said.
    """
    place, wanted = needed_place(task)
    if board.site(place).lies == wanted:
        return True
    _check_task(board, task, place)
    return False


def _check_task(board: Board, task: Task, site_id: str) -> None:
    lies = board.site(site_id).lies
    if site_id == task.source_id and task.step == "pick" and lies != "filled":
        _source_gone(board, task, lies)
    elif site_id == task.target_id and lies != "empty":
        _target_taken(board, task, f"{site_id} is {lies} now, so the pallet cannot be dropped there.")
    elif _in_the_way(board, task, site_id):
        _target_taken(board, task, f"{site_id} is {lies} now and stands in the way to {task.target_id}.")
    for leg in tuple(other_legs(board.task(task.task_id))):
        _check_leg(board, board.task(task.task_id), leg, site_id, lies)


def _check_leg(board: Board, task: Task, leg: Leg, site_id: str, lies: str) -> None:
    """A pallet of several that the robot is not at just now: it goes elsewhere, or is left out if it can be."""
    if task.ended_ts_ms is not None:
        return
    if site_id == leg.source_id and leg.state == "waiting" and lies != "filled":
        leave_out(board, task, leg.source_id)
    elif site_id == leg.target_id and lies != "empty":
        other = other_target(board, changed(task, source_id=leg.source_id, target_id=leg.target_id))
        if other is not None and other != leg.target_id:
            release(board, leg.target_id, task.task_id)
            reserve(board, other, task.task_id)
            board.change_task(task, **with_target(task, leg.source_id, other))
        elif leg.state == "waiting":
            leave_out(board, task, leg.source_id)
        else:
            says = f"{site_id} is {lies} now, so the pallet of {leg.source_id} cannot be dropped there."
            hold_for_person(board, task, Fault(task.task_id, "worksite.changed", says, "doubt"))


def _in_the_way(board: Board, task: Task, site_id: str) -> bool:
    """Whether a place that must be empty before the drop no longer is."""
    params = board.state.params.get(task.stream_id) if task.stream_id is not None else None
    policy = getattr(params, "drop_policy", None)
    if policy is None or policy.access_rule is None or board.site(site_id).lies == "empty":
        return False
    group = list(getattr(params, "drop_group", ()))
    return task.target_id in group and site_id in group[: group.index(task.target_id)]


def _source_gone(board: Board, task: Task, lies: str) -> None:
    says = f"{task.source_id} is {lies} now, so there is nothing to pick."
    if task.phase == "picking":
        hold_for_person(board, task, Fault(task.task_id, "worksite.changed", says, "doubt"))
    elif is_loaded(board, task):
        give_up(board, task, "skip")
    else:
        give_up(board, task, "cancel", error_code="worksite.changed", error=says)


def _target_taken(board: Board, task: Task, says: str) -> None:
    if not task.committed and task.phase != "dropping":
        other = other_target(board, task)
        if other is not None and other != task.target_id:
            retarget(board, task, other)
            return
        if not is_loaded(board, task):
            give_up(board, task, "cancel", error_code="worksite.changed", error=says)
            return
        if task.step == "pick":
            give_up(board, task, "skip")
            return
    hold_for_person(board, task, Fault(task.task_id, "worksite.changed", says, "doubt"))


def other_target(board: Board, task: Task) -> str | None:
    """Where else the task's stream would drop this pallet now."""
    if task.stream_id is None:
        return None
    queue = Queue(board, only={})
    for site_id in {task.target_id, task.next_target_id} - {None}:
        # The task's own reservations must not stand in the way of its other choices.
        site = board.site(str(site_id))
        queue.tentative[site.worksite_id] = changed(site, occupancy=site.lies, reserved_by=None)
    handler = KINDS[board.state.streams[task.stream_id].kind]
    return handler.retarget(queue.view(task.stream_id), task.source_id, task.target_id)


def patch_stream(board: Board, given: PatchStream) -> None:
    if given.stream_id not in board.state.streams:
        says = unknown("stream", given.stream_id, board.state.streams).says
        board.refuse("stream.unknown", given.stream_id, says)
        return
    stream = board.stream(given.stream_id)
    now = patched(stream, given)
    if now != stream:
        board.set_stream(now)


def patched(stream: Stream, given: PatchStream) -> Stream:
    """The stream as somebody wants it."""
    enabled = stream.enabled if given.enabled is None else given.enabled
    priority = stream.priority if given.priority is None else given.priority
    return changed(stream, enabled=enabled, priority=priority)


def request_transport(board: Board, given: RequestTransport) -> None:
    """A task outside all streams; it waits for a robot like any other work."""
    if not (_known_site(board, given.source_id) and _known_site(board, given.target_id)):
        return
    if given.source_id == given.target_id:
        board.refuse("transport.same", given.source_id, "Source and target are the same place.")
        return
    before = len(board.reasons)
    if not can_pick(board, given.source_id) or board.site(given.source_id).worksite_type in NO_PALLETS:
        says = f"{given.source_id} is {board.site(given.source_id).occupancy}, so no pallet can be taken from there."
        board.refuse("worksite.not_filled", given.source_id, says, "Choose a filled place that nobody has reserved.")
    if not can_drop(board, given.target_id) or board.site(given.target_id).worksite_type in NO_PALLETS:
        says = f"{given.target_id} is {board.site(given.target_id).occupancy}, so no pallet can be dropped there."
        board.refuse("worksite.not_empty", given.target_id, says, "Choose an empty place that nobody has reserved.")
    misfit = does_not_fit(board.state, given.source_id, given.target_id)
    if misfit is not None:
        board.reasons.append(misfit)
    if len(board.reasons) > before:
        return
    task = Task(
        board.new_task_id(),
        None,
        given.source_id,
        given.target_id,
        priority=given.priority,
        created_ts_ms=board.now,
        updated_ts_ms=board.now,
    )
    board.create_task(task, given.request_id)
    reserve(board, given.source_id, task.task_id)
    reserve(board, given.target_id, task.task_id)


def _known_site(board: Board, site_id: str) -> bool:
    if site_id in board.state.worksites:
        return True
    board.refuse("worksite.unknown", site_id, unknown("worksite", site_id, board.state.worksites).says)
    return False
