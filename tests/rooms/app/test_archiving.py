"""What goes into one part of the archive together."""

import random

from beforehand.app.archiving import PART, Piles


def test_events_that_were_kept_back_do_not_stretch_the_parts_of_the_others() -> None:
    chance, piles, waiting = random.Random(3), Piles(), list[int]()
    made: list[list[int]] = []
    for start in range(1, 20 * PART, 1_000):
        page = list(range(start, start + 1_000))
        kept = {seq for seq in page if chance.random() < 0.02}
        waiting += sorted(kept)
        freed = [waiting.pop(chance.randrange(len(waiting))) for _ in range(len(waiting) // 40)]
        piles.add([*(seq for seq in page if seq not in kept), *freed])
        made += piles.parts(all=False)
    piles.add(waiting)
    made += piles.parts(all=True)
    assert sorted(seq for part in made for seq in part) == list(range(1, 20 * PART + 1))
    assert all(part == sorted(part) and len(part) <= PART for part in made)
    at_once = max(sum(part[0] <= seq <= part[-1] for part in made) for seq in range(1, 20 * PART, 500))
    assert at_once <= 3
