"""Who does what next: candidates of all streams, put in order by the arbitration, given to robots by the dispatch.

Nothing is given out while the fleet is held. A pallet's claim grows with its waiting, and one that has waited for
`maxWaitS` goes before everything younger, whatever its stream's priority, so that nothing waits for ever: a pallet that
a robot could take to a free place starts at the latest after

    maxWaitS + (jobs before it / robots + 1) * the longest job

where the jobs before it are the pallets that have waited longer; with `optimal`, which trades a second of waiting for a
metre of driving, those too that came at most as many seconds later as the map is metres wide; with `quota`, the rest of
the window comes on top. Every tie is broken by id.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.eligibility import Offer, Whereabouts, fit, robots_at_rest
from beforehand.crafts.fleet.core.matching import best_matching
from beforehand.crafts.fleet.core.rules import can_drop, can_pick, is_usable, reserve
from beforehand.crafts.fleet.core.streams import KINDS, Candidate, StreamView
from beforehand.model.fleet import Stream, Task, Worksite, changed

FRUITLESS = 200
"""How many pieces of work without a fitting robot are looked at in one tick; what lies in a part of the map without a
free robot does not count."""
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


# The order of work


@dataclass(slots=True)
class Head:
    """A stream and the best piece of work it has now."""

    stream: Stream
    position: int
    rest: Iterator[Candidate]
    offer: Offer | None = None
    drawn_at: int = -1
    """How much had been given out when `offer` was drawn."""


class Queue:
    """Work in the order of the arbitration, drawn from the streams as long as there is any.

    A stream is asked for its next piece only after the last one was given out or passed over, so that it sees what is
    reserved. `tentative` places count as reserved without being so; `only` limits a stream to certain sources.
    """

    def __init__(self, board: Board, only: dict[str, set[str]] | None = None) -> None:
        self.board = board
        self.only = only
        self.tentative: dict[str, Worksite] = {}
        self.served: dict[str, int] = {}
        self.given = 0
        self._count = 0
        self._heap: list[tuple[tuple[float, ...], int, Offer, Head | None]] = []
        self._to_draw: list[Head] = []
        self._changed = _streams_with_news(board)
        for task in board.pending_tasks():
            if task.status == "created" and task.robot_id is None:
                self._push(offer_of(task), None)
        for position, stream_id in enumerate(board.state.streams):
            stream = board.stream(stream_id)
            if not stream.enabled or (only is not None and stream_id not in only):
                continue
            if self._remembers(stream_id) and board.state.firsts[stream_id] is None:
                continue
            self._to_draw.append(Head(stream, position, self._candidates(stream_id)))

    def __iter__(self) -> Iterator[Offer]:
        while True:
            for head in self._to_draw:
                self._draw(head)
            self._to_draw = []
            if not self._heap:
                return
            _, _, offer, source = heappop(self._heap)
            self.board.offered = True
            if source is None:
                yield offer
            elif not self._over_quota(source):
                if self._fresh(source, offer):
                    yield offer
                self._to_draw.append(source)

    def close(self) -> None:
        """Lets go of all that was drawn, which points back here: else it would lie about until the next collection."""
        self._heap.clear()
        self._to_draw.clear()

    def serve(self, offer: Offer) -> None:
        """Counts what a stream got in this tick, so that the others have their turn."""
        self.given += 1
        if offer.stream_id is not None:
            self.served[offer.stream_id] = self.served.get(offer.stream_id, 0) + 1

    def _fresh(self, head: Head, offer: Offer) -> bool:
        """Whether nothing given out since the piece was drawn can have changed it."""
        stream_id = head.stream.stream_id
        free = self.can_pick(offer.source_id, offer.stream_id) and self.can_drop(offer.target_id)
        if head.drawn_at == self.given:
            return free
        if stream_id not in self.board.state.sharing:
            return free
        policy = getattr(self.board.state.params[stream_id], "drop_policy", None)
        if free and policy is not None and policy.access_rule is None:
            return True
        head.rest = KINDS[head.stream.kind].evaluate(self.view(stream_id))
        return False

    def _draw(self, head: Head) -> None:
        candidate = next(head.rest, None)
        if candidate is not None:
            head.drawn_at = self.given
            self._push(_offer(self.board, candidate), head)

    def _remembers(self, stream_id: str) -> bool:
        """Whether the stream would answer as it did when it was last asked."""
        return self.only is None and stream_id in self.board.state.firsts and stream_id not in self._changed

    def _candidates(self, stream_id: str) -> Iterator[Candidate]:
        """What the stream offers, best first; the first of it from memory where that is still true."""
        handler = KINDS[self.board.state.streams[stream_id].kind]
        if self._remembers(stream_id):
            first = self.board.state.firsts[stream_id]
            if first is not None:
                yield first
                yield from (one for one in handler.evaluate(self.view(stream_id)) if one != first)
            return
        rest = handler.evaluate(self.view(stream_id))
        first = next(rest, None)
        if self.only is None:
            self.board.firsts[stream_id] = first
        if first is not None:
            yield first
            yield from rest

    def _push(self, offer: Offer, head: Head | None) -> None:
        self._count += 1
        heappush(self._heap, (self._rank(offer, head), self._count, offer, head))

    def _over_quota(self, head: Head) -> bool:
        return self.board.settings.arbitration == "quota" and over_quota(
            self.board, self.board.stream(head.stream.stream_id), self.served.get(head.stream.stream_id, 0)
        )

    def _rank(self, offer: Offer, head: Head | None) -> tuple[float, ...]:
        """Smaller is sooner."""
        settings = self.board.settings
        waited_s = max(0, self.board.now - offer.since_ms) / 1000
        late = waited_s >= settings.max_wait_s
        turn = self._turn(head)
        if late:
            return (0, offer.since_ms, *turn)
        if settings.arbitration == "roundRobin":
            return (1, *turn)
        if settings.arbitration == "preempt":
            return (1, -offer.priority, -waited_s, *turn)
        return (1, -(offer.priority + settings.aging_per_s * waited_s), *turn)

    def _turn(self, head: Head | None) -> tuple[int, int, int]:
        """Where a stream stands in the rotation: the one that was served longest ago is next, then the order given."""
        if head is None:
            return (0, -1, -1)
        stream = self.board.stream(head.stream.stream_id)
        last = -1 if stream.last_task_ts_ms is None else stream.last_task_ts_ms
        return (self.served.get(stream.stream_id, 0), last, head.position)

    # What handlers see

    def view(self, stream_id: str) -> StreamView:
        """A handler asks about every place of its groups, so the answers are made in one go."""
        board, tentative, now = self.board, self.tentative, self.board.sites_now
        known = board.state.worksites
        only = None if self.only is None else self.only.get(stream_id, set())

        def can_pick(site_id: str) -> bool:
            site = now.get(site_id) or known[site_id]
            if site.occupancy != "filled" or site_id in tentative or (site.failures and not is_usable(board, site)):
                return False
            return only is None or site_id in only

        def can_drop(site_id: str) -> bool:
            site = now.get(site_id) or known[site_id]
            return (
                site.occupancy == "empty" and site_id not in tentative and (not site.failures or is_usable(board, site))
            )

        return StreamView(board.stream(stream_id), board.state.params[stream_id], self.site, can_pick, can_drop)

    def site(self, site_id: str) -> Worksite:
        return self.tentative.get(site_id) or self.board.site(site_id)

    def set_aside(self, offer: Offer) -> None:
        """From here on both places look reserved, without being so."""
        for site_id in (offer.source_id, offer.target_id):
            site = self.board.site(site_id)
            self.tentative[site_id] = changed(site, occupancy="reserved", occupancy_before=site.occupancy)

    def can_pick(self, site_id: str, stream_id: str | None) -> bool:
        if site_id in self.tentative or not can_pick(self.board, site_id):
            return False
        return self.only is None or stream_id is None or site_id in self.only[stream_id]

    def can_drop(self, site_id: str) -> bool:
        return site_id not in self.tentative and can_drop(self.board, site_id)


def _streams_with_news(board: Board) -> set[str]:
    """Streams that may offer something else than before: this tick has changed, or time may, what they look at."""
    users = board.state.users
    sites = (*board.sites_now, *board.state.failing)
    return {stream_id for site_id in sites for stream_id in users.get(site_id, ())}.union(board.streams_now)


def over_quota(board: Board, stream: Stream, tentative: int = 0) -> bool:
    if stream.quota is None:
        return False
    window_ms = round(board.settings.quota_window_s * 1000)
    running = stream.tasks_created > 0 and board.now - stream.window_start_ts_ms < window_ms
    return (stream.window_count if running else 0) + tentative >= stream.quota


def _offer(board: Board, candidate: Candidate) -> Offer:
    priority = board.stream(candidate.stream_id).priority
    return Offer(
        candidate.stream_id, candidate.source_id, candidate.target_id, candidate.since_ms, priority, None, None
    )


def offer_of(task: Task) -> Offer:
    return Offer(
        task.stream_id,
        task.source_id,
        task.target_id,
        task.created_ts_ms,
        task.priority,
        task.task_id,
        task.not_robot_id,
        task.not_until_ts_ms or 0,
    )


# Giving it out


def _assign_in_order(board: Board, queue: Queue) -> None:
    fruitless = 0
    where = Whereabouts(board, board.free)
    for offer in queue:
        if not _in_reach(board, offer, where.parts):
            continue
        robot_id = _choose(board, offer, where)
        if robot_id is None:
            fruitless += 1
            if fruitless >= FRUITLESS:
                return
            continue
        assign(board, offer, robot_id)
        queue.serve(offer)
        board.free.remove(robot_id)
        where.remove(robot_id)
        if queue.given >= MOST_A_TICK:
            board.free.clear()  # The rest get theirs in the next tick, and must not be sent to park meanwhile.
        if not board.free:
            return


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
    parts: set[int] = set()
    offers: list[Offer] = []
    for offer in queue:
        parts = parts or Whereabouts(board, free).parts
        if not _in_reach(board, offer, parts):
            continue
        offers.append(offer)
        queue.serve(offer)
        queue.set_aside(offer)
        if len(offers) >= limit:
            break
    if not offers:
        return
    chosen = best_matching(board, free, offers)
    for offer, robot_id in chosen:
        if offer.task_id is not None:
            assign(board, offer, robot_id)
            board.free.remove(robot_id)
    drawn = [(offer, robot_id) for offer, robot_id in chosen if offer.task_id is None]
    if len(offers) == 1:
        _assign_if_fit(board, drawn)
    else:
        _assign_chosen(board, {(offer.stream_id, offer.source_id): robot_id for offer, robot_id in drawn})
    if len(offers) == limit and len(free) > limit:
        board.free.clear()  # As above: there may be work for the rest.


def _assign_if_fit(board: Board, chosen: list[tuple[Offer, str]]) -> None:
    """Where there was one piece of work only, nothing stood before its drop: it is as it would be drawn again."""
    for offer, robot_id in chosen:
        if fit(board, robot_id, offer) is not None:
            assign(board, offer, robot_id)
            board.free.remove(robot_id)


def _assign_chosen(board: Board, chosen: dict[tuple[str | None, str], str]) -> None:
    """Draws the chosen sources once more, so that their drops follow each other as the policy orders them."""
    only: dict[str, set[str]] = {}
    for stream_id, source_id in chosen:
        only.setdefault(str(stream_id), set()).add(source_id)
    if not only:
        return
    queue = Queue(board, only)
    for offer in queue:
        robot_id = chosen.get((offer.stream_id, offer.source_id)) if offer.task_id is None else None
        if robot_id in board.free and fit(board, str(robot_id), offer) is not None:
            assign(board, offer, str(robot_id))
            queue.serve(offer)
            board.free.remove(str(robot_id))
    queue.close()


def assign(board: Board, offer: Offer, robot_id: str) -> Task:
    """Creates the task, or takes the one that waits, reserves both places and makes the first step due."""
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
                created_ts_ms=board.now,
                updated_ts_ms=board.now,
            )
        )
        reserve(board, offer.source_id, task.task_id)
        reserve(board, offer.target_id, task.task_id)
    task = board.change_task(
        task, robot_id=robot_id, status="active", phase="moving_to_pick", command_state="due", retries=0
    )
    board.change_robot(board.robot(robot_id), task_id=task.task_id, phase="moving_to_pick", error=None)
    return task
