"""Who does what next: candidates of all streams, put in order by the arbitration, given to robots by the dispatch.

Nothing is given out while the fleet is held. A pallet's claim grows with its waiting, and one that has waited for
`maxWaitS` goes before everything younger, so that nothing waits for ever. Every tie is broken by id.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from beforehand.fleet.board import Board
from beforehand.fleet.fitness import Offer, fit, robots_at_rest
from beforehand.fleet.matching import best_matching
from beforehand.fleet.rules import can_drop, can_pick, reserve
from beforehand.fleet.streams import KINDS, Candidate, StreamView
from beforehand.model.fleet import Stream, Task, Worksite

FRUITLESS = 200
"""How many pieces of work without a fitting robot are looked at in one tick."""


def candidates(board: Board) -> Board:
    """The robots that may take work; streams are only asked when there is one."""
    if not board.hold:
        board.free = robots_at_rest(board)
    return board


def arbitration(board: Board) -> Board:
    """The order in which work is given out. It is drawn piece by piece, since each piece given out changes the rest."""
    if board.free:
        board.work = Queue(board)
    return board


def assignment(board: Board) -> Board:
    if board.work is None:
        return board
    if board.settings.dispatch == "optimal":
        _assign_best(board, board.work)
    else:
        _assign_in_order(board, board.work)
    return board


# The order of work


@dataclass(slots=True)
class Head:
    """The best piece of work a stream has now."""

    stream: Stream
    position: int
    rest: Iterator[Candidate]
    offer: Offer | None = None
    drawn: bool = False
    """Whether `offer` is up to date; the next one is drawn only after the last one was given out or passed over."""


class Queue:
    """Work in the order of the arbitration, drawn from the streams as long as there is any.

    `tentative` places count as reserved without being so; `only` limits a stream to certain sources.
    """

    def __init__(self, board: Board, only: dict[str, set[str]] | None = None) -> None:
        self.board = board
        self.only = only
        self.tentative: set[str] = set()
        self.served: dict[str, int] = {}
        self._asked = [
            _offer_of(board, task) for task in board.open_tasks() if task.status == "created" and task.robot_id is None
        ]
        self._heads: list[Head] = []
        for position, stream_id in enumerate(board.state.streams):
            stream = board.stream(stream_id)
            if stream.enabled and (only is None or stream_id in only):
                rest = KINDS[stream.kind].evaluate(self.view(stream_id))
                self._heads.append(Head(stream, position, rest))

    def __iter__(self) -> Iterator[Offer]:
        while True:
            best = self._best()
            if best is None:
                return
            yield best

    def _best(self) -> Offer | None:
        heads = [head for head in self._heads if self._valid(head)]
        offers = [(self._rank(head.offer, head), head.offer, head) for head in heads if head.offer is not None]
        asked = [(self._rank(offer, None), offer, None) for offer in self._asked]
        if not offers and not asked:
            return None
        _, offer, head = min([*asked, *offers], key=lambda entry: entry[0])
        if head is None:
            self._asked.remove(offer)
        else:
            head.drawn = False
        return offer

    def _valid(self, head: Head) -> bool:
        """Draws on until the stream's head can really be done; what others took meanwhile is passed over."""
        if self._over_quota(head):
            return False
        if not head.drawn:
            self._advance(head)
        if head.stream.stream_id in self.board.state.sharing and head.offer is not None and not self._free(head.offer):
            self._restart(head)
        while head.offer is not None and not self._free(head.offer):
            self._advance(head)
        return head.offer is not None

    def _free(self, offer: Offer) -> bool:
        return self.can_pick(offer.source_id, offer.stream_id) and self.can_drop(offer.target_id)

    def _advance(self, head: Head) -> None:
        candidate = next(head.rest, None)
        head.drawn = True
        head.offer = None if candidate is None else _offer(self.board, candidate)

    def _restart(self, head: Head) -> None:
        head.rest = KINDS[head.stream.kind].evaluate(self.view(head.stream.stream_id))
        self._advance(head)

    def _over_quota(self, head: Head) -> bool:
        return self.board.settings.arbitration == "quota" and over_quota(
            self.board, self.board.stream(head.stream.stream_id), self.served.get(head.stream.stream_id, 0)
        )

    def _rank(self, offer: Offer, head: Head | None) -> tuple[object, ...]:
        """Smaller is sooner."""
        settings = self.board.settings
        waited_s = max(0, self.board.now - offer.since_ms) / 1000
        late = waited_s >= settings.max_wait_s
        tie = (head.position if head is not None else -1, offer.since_ms)
        if late:
            return (0, offer.since_ms, *tie)
        if settings.arbitration == "roundRobin":
            stream = self.board.stream(head.stream.stream_id) if head is not None else None
            last = stream.last_task_ts_ms if stream is not None else None
            turn = -1 if last is None else last
            taken = self.served.get(stream.stream_id, 0) if stream is not None else 0
            return (1, taken, turn, *tie)
        if settings.arbitration == "preempt":
            return (1, -offer.priority, -waited_s, *tie)
        return (1, -(offer.priority + settings.aging_per_s * waited_s), *tie)

    # What handlers see

    def view(self, stream_id: str) -> StreamView:
        return StreamView(
            self.board.stream(stream_id),
            self.board.state.params[stream_id],
            self.site,
            lambda site_id: self.can_pick(site_id, stream_id),
            self.can_drop,
        )

    def site(self, site_id: str) -> Worksite:
        site = self.board.site(site_id)
        if site_id in self.tentative:
            return replace(site, occupancy="reserved", occupancy_before=site.occupancy)
        return site

    def can_pick(self, site_id: str, stream_id: str | None) -> bool:
        if site_id in self.tentative or not can_pick(self.board, site_id):
            return False
        return self.only is None or stream_id is None or site_id in self.only[stream_id]

    def can_drop(self, site_id: str) -> bool:
        return site_id not in self.tentative and can_drop(self.board, site_id)


def over_quota(board: Board, stream: Stream, tentative: int = 0) -> bool:
    if stream.quota is None:
        return False
    window_ms = round(board.settings.quota_window_s * 1000)
    running = stream.tasks_created > 0 and board.now - stream.window_start_ts_ms < window_ms
    return (stream.window_count if running else 0) + tentative >= stream.quota


def _offer(board: Board, candidate: Candidate) -> Offer:
    priority = board.state.streams[candidate.stream_id].priority
    return Offer(
        candidate.stream_id, candidate.source_id, candidate.target_id, candidate.since_ms, priority, None, None
    )


def _offer_of(board: Board, task: Task) -> Offer:
    return Offer(
        task.stream_id,
        task.source_id,
        task.target_id,
        task.created_ts_ms,
        task.priority,
        task.task_id,
        task.not_robot_id,
    )


# Giving it out


def _assign_in_order(board: Board, queue: Queue) -> None:
    fruitless = 0
    for offer in queue:
        robot_id = _choose(board, offer)
        if robot_id is None:
            fruitless += 1
            if fruitless >= FRUITLESS:
                return
            continue
        assign(board, offer, robot_id)
        board.free.remove(robot_id)
        if not board.free:
            return


def _choose(board: Board, offer: Offer) -> str | None:
    """The robot for this work by the dispatch policy, or None when none fits."""
    fits = []
    for robot_id in board.free:
        distance = fit(board, robot_id, offer)
        if distance is not None:
            shunned = robot_id == offer.not_robot_id
            fits.append((shunned, 0.0 if board.settings.dispatch == "first" else distance, robot_id))
    return min(fits)[2] if fits else None


def _assign_best(board: Board, queue: Queue) -> None:
    """All robots at once, so that together they drive as little as possible without a pallet."""
    free = list(board.free)
    strict = board.settings.arbitration == "roundRobin"
    limit = len(free) if strict else 2 * len(free) + 20
    offers: list[Offer] = []
    for offer in queue:
        offers.append(offer)
        if offer.stream_id is not None:
            queue.served[offer.stream_id] = queue.served.get(offer.stream_id, 0) + 1
        queue.tentative |= {offer.source_id, offer.target_id}
        if len(offers) >= limit:
            break
    chosen = best_matching(board, free, offers)
    for offer, robot_id in chosen:
        if offer.task_id is not None:
            assign(board, offer, robot_id)
            board.free.remove(robot_id)
    _assign_chosen(board, {(o.stream_id, o.source_id): r for o, r in chosen if o.task_id is None})


def _assign_chosen(board: Board, chosen: dict[tuple[str | None, str], str]) -> None:
    """Draws the chosen sources once more, so that their drops follow each other as the policy orders them."""
    only: dict[str, set[str]] = {}
    for stream_id, source_id in chosen:
        only.setdefault(str(stream_id), set()).add(source_id)
    if not only:
        return
    for offer in Queue(board, only):
        robot_id = chosen.get((offer.stream_id, offer.source_id)) if offer.task_id is None else None
        if robot_id in board.free and fit(board, str(robot_id), offer) is not None:
            assign(board, offer, str(robot_id))
            board.free.remove(str(robot_id))


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
