"""The order of work: what streams and waiting tasks ask for, as the arbitration puts it.

How long a piece of work may wait in it is said in `dispatch`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from beforehand.crafts.fleet.core.batches import pairs_of
from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.eligibility import Offer
from beforehand.crafts.fleet.core.rules import can_drop, can_pick, is_usable
from beforehand.crafts.fleet.core.streams import KINDS, Candidate, StreamView
from beforehand.model.fleet import Stream, Task, Worksite
from beforehand.model.records import changed


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
        free = self._free(offer)
        if head.drawn_at == self.given:
            return free
        if stream_id not in self.board.state.sharing:
            return free
        handler = KINDS[head.stream.kind]
        policy = getattr(self.board.state.params[stream_id], "drop_policy", None)
        if free and policy is not None and policy.access_rule is None and getattr(handler, "steady", False):
            return True
        head.rest = handler.evaluate(self.view(stream_id))
        return False

    def _free(self, offer: Offer) -> bool:
        for source_id, target_id in offer.pairs:
            if not (self.can_pick(source_id, offer.stream_id) and self.can_drop(target_id)):
                return False
        return True

    def _draw(self, head: Head) -> None:
        candidate = next(head.rest, None)
        if candidate is not None:
            head.drawn_at = self.given
            self._push(offer_for(self.board, candidate), head)

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
        for site_id in offer.sites:
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


def offer_for(board: Board, candidate: Candidate) -> Offer:
    priority = board.stream(candidate.stream_id).priority
    return Offer(
        candidate.stream_id,
        candidate.source_id,
        candidate.target_id,
        candidate.since_ms,
        priority,
        None,
        None,
        more=candidate.more,
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
        pairs_of(task)[1:],
    )
