"""Who does what next: candidates of all streams, put in order by the arbitration, given to robots by the dispatch.

Nothing is given out while the fleet is held. A pallet's claim grows with its waiting, and one that has waited for
`maxWaitS` goes before everything younger, whatever its stream's priority, so that nothing waits for ever: a pallet that
a robot could take to a free place starts at the latest after

    maxWaitS + (jobs before it / robots + 1) * the longest job

where the jobs before it are the pallets that have waited longer; with `optimal`, which trades a second of waiting for a
metre of driving, those too that came at most as many seconds later as the map is metres wide; with `quota`, the rest of
the window comes on top. Every tie is broken by id.
"""

from collections.abc import Mapping, Sequence

from beforehand.crafts.fleet.core.batches import legs_of
from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.eligibility import Offer, Whereabouts, fit, robots_at_rest
from beforehand.crafts.fleet.core.matching import best_matching
from beforehand.crafts.fleet.core.rules import reserve
from beforehand.crafts.fleet.core.streams import Pallets
from beforehand.crafts.fleet.core.work_queue import Queue
from beforehand.model.fleet import Task

FRUITLESS = 200
"""How many pieces of work without a fitting robot are looked at in one tick; what lies in a part of the map without a
free robot does not count. The next tick goes on with those behind them, until all have had their look."""
MOST_A_TICK = 25
"""How many pieces of work are given out in one tick, so that the start of a big fleet takes several short ones."""
MOST_MATCHED = 40
"""How many pieces of work `optimal` looks at when more robots than `MOST_A_TICK` are free."""


def candidates(board: Board) -> Board:
    """The robots that may take work; streams are only asked when there is one."""
    if not board.hold:
        board.free = robots_at_rest(board)
    return board


def arbitration(board: Board) -> Board:
    """The order in which work is given out. It is drawn piece by piece, since each piece given out changes the rest."""
    if board.free and not _asked_before(board):
        board.work = Queue(board)
        board.asked = True
    return board


def _asked_before(board: Board) -> bool:
    """Whether the streams had nothing the last time and nothing they look at is different now."""
    news = board.sites_now or board.streams_now or any(task.robot_id is None for task in board.tasks_now.values())
    return board.state.no_work and not news


def may_rest(board: Board) -> bool:
    """Whether the streams need not be asked again before something changes; some of what they say changes with time."""
    if not board.asked or board.offered or board.settings.arbitration == "quota":
        return False
    return not board.state.failing


def assignment(board: Board) -> Board:
    if board.work is None:
        return board
    if board.settings.dispatch == "optimal":
        _assign_best(board, board.work)
    else:
        _assign_in_order(board, board.work)
    board.work.close()
    board.work = None
    return board


# Giving it out


def _assign_in_order(board: Board, queue: Queue) -> None:
    passed: list[Pallets] = []
    where = Whereabouts(board, board.free)
    for offer in queue:
        if not _in_reach(board, offer, where.parts) or _passed_before(board, offer, board.free):
            continue
        robot_id = _choose(board, offer, where)
        if robot_id is None:
            passed.append(offer.pallets)
            if len(passed) >= FRUITLESS:
                _pass_over(board, dict.fromkeys(passed, frozenset(board.free)))
                return
            continue
        assign(board, offer, robot_id)
        queue.serve(offer)
        board.free.remove(robot_id)
        where.remove(robot_id)
        if queue.given >= MOST_A_TICK:
            _pass_over(board, dict.fromkeys(passed, frozenset(board.free)))
            board.free.clear()  # The rest get theirs in the next tick, and must not be sent to park meanwhile.
        if not board.free:
            return


def _passed_before(board: Board, offer: Offer, free: Sequence[str]) -> bool:
    """Whether ticks before this one, which did not get to the end, found that none of these robots fits."""
    known = board.state.passed
    return bool(known) and known.get(offer.pallets, frozenset()).issuperset(free)


def _pass_over(board: Board, passed: Mapping[Pallets, frozenset[str]]) -> None:
    """There is more work than was looked at: the next tick spares itself what fits none of the robots it was tried
    with. Where this is not said all is looked at anew, so that what has changed meanwhile is seen."""
    known = board.state.passed
    board.passed = {**known, **{one: robots | known.get(one, frozenset()) for one, robots in passed.items()}}


def _in_reach(board: Board, offer: Offer, parts: set[int]) -> bool:
    """Whether the pallet is in one of these parts of the map."""
    return board.state.routes.part(board.site(offer.source_id).node_id) in parts


def _choose(board: Board, offer: Offer, where: Whereabouts) -> str | None:
    """The first robot that fits, in the order of the dispatch policy."""
    order = board.free
    if board.settings.dispatch != "first":
        metres = where.metres_to(board.site(offer.source_id).node_id)
        best = where.nearest(metres)
        if best != offer.not_robot_id and fit(board, best, offer) is not None:
            return best
        order = where.by_distance(metres)
    if offer.not_robot_id in order:
        order = [one for one in order if one != offer.not_robot_id] + [offer.not_robot_id]
    return next((robot_id for robot_id in order if fit(board, robot_id, offer) is not None), None)


def _assign_best(board: Board, queue: Queue) -> None:
    """All robots at once, so that together they drive as little as possible without a pallet."""
    free = list(board.free)
    strict = board.settings.arbitration == "roundRobin"
    wanted = len(free) if strict else min(20 + 4 * len(free), 4 * MOST_A_TICK)
    limit = min(wanted, MOST_MATCHED) if len(free) > MOST_A_TICK else wanted
    offers, chosen = _match(board, queue, free, limit)
    for offer, robot_id in chosen:
        if offer.task_id is not None:
            assign(board, offer, robot_id)
            board.free.remove(robot_id)
    drawn = [(offer, robot_id) for offer, robot_id in chosen if offer.task_id is None]
    if len(offers) == 1:
        _assign_if_fit(board, drawn)
    else:
        _assign_chosen(board, drawn)
    if len(offers) == limit and len(free) > limit:
        board.free.clear()  # As above: there may be work for the rest.


def _match(board: Board, queue: Queue, free: list[str], limit: int) -> tuple[list[Offer], list[tuple[Offer, str]]]:
    """The work that was looked at, and who does what of it.

    Where robots and work are left over, none of those can do any of that: it is passed over, so that the places set
    aside for it are offered to the work behind it.
    """
    hopeless: dict[Pallets, frozenset[str]] = {}
    while True:
        offers = _drawn(board, queue, free, limit, hopeless)
        chosen = best_matching(board, free, offers)
        if len(chosen) in (len(free), len(offers)) or len(hopeless) >= FRUITLESS:
            if len(chosen) < len(free) and (len(chosen) < len(offers) or len(offers) == limit):
                _pass_over(board, hopeless)
            return offers, chosen
        given = {offer.pallets for offer, _ in chosen}
        left = frozenset(free).difference(robot_id for _, robot_id in chosen)
        hopeless.update((offer.pallets, left) for offer in offers if offer.pallets not in given)
        queue.close()
        queue = Queue(board)


def _drawn(
    board: Board, queue: Queue, free: list[str], limit: int, hopeless: Mapping[Pallets, frozenset[str]]
) -> list[Offer]:
    """The first pieces of work in reach of the robots, each as if those before it had been given out."""
    parts: set[int] = set()
    offers: list[Offer] = []
    for offer in queue:
        parts = parts or Whereabouts(board, free).parts
        if not _in_reach(board, offer, parts) or offer.pallets in hopeless or _passed_before(board, offer, free):
            continue
        offers.append(offer)
        queue.serve(offer)
        queue.set_aside(offer)
        if len(offers) >= limit:
            break
    return offers


def _assign_if_fit(board: Board, chosen: list[tuple[Offer, str]]) -> None:
    """Where there was one piece of work only, nothing stood before its drop: it is as it would be drawn again."""
    for offer, robot_id in chosen:
        if fit(board, robot_id, offer) is not None:
            assign(board, offer, robot_id)
            board.free.remove(robot_id)


def _assign_chosen(board: Board, drawn: list[tuple[Offer, str]]) -> None:
    """Draws the chosen sources once more, so that their drops follow each other as the policy orders them."""
    only: dict[str, set[str]] = {}
    for offer, _ in drawn:
        only.setdefault(str(offer.stream_id), set()).update(source for source, _ in offer.pairs)
    if not only:
        return
    chosen = {(offer.stream_id, offer.source_id): robot_id for offer, robot_id in drawn}
    queue = Queue(board, only)
    for offer in queue:
        robot_id = chosen.get((offer.stream_id, offer.source_id)) if offer.task_id is None else None
        if robot_id in board.free and fit(board, str(robot_id), offer) is not None:
            assign(board, offer, str(robot_id))
            queue.serve(offer)
            board.free.remove(str(robot_id))
    queue.close()


def assign(board: Board, offer: Offer, robot_id: str) -> Task:
    """Creates the task, or takes the one that waits, reserves its places and makes the first step due."""
    if offer.task_id is not None:
        task = board.task(offer.task_id)
    else:
        task = board.create_task(
            Task(
                board.new_task_id(),
                offer.stream_id,
                offer.source_id,
                offer.target_id,
                robot_id,
                priority=offer.priority,
                legs=legs_of(offer.pairs),
                created_ts_ms=board.now,
                updated_ts_ms=board.now,
            )
        )
        for pair in offer.pairs:
            for site_id in pair:
                reserve(board, site_id, task.task_id)
    task = board.change_task(
        task, robot_id=robot_id, status="active", phase="moving_to_pick", command_state="due", retries=0
    )
    board.change_robot(board.robot(robot_id), task_id=task.task_id, phase="moving_to_pick", error=None)
    return task
