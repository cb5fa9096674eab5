"""MovingAI grids (.map): each free cell is a node, a metre from its neighbours to the four sides.

A grid's rows count downwards and a scene's y upwards, so rows are turned over. With a scenario (.scen) the starts
become robots and the goals places to drop at.
"""

from collections.abc import Iterator, Sequence

from beforehand.app.craft import Imported, Source
from beforehand.crafts.fleet.importing.draft import Draft
from beforehand.model.errors import BadInputError, TooLargeError
from beforehand.model.words import counted

FREE, BLOCKED, SWAMP, WATER = ".G", "@OT", "S", "W"
MOST_CELLS = 40_000
"""Free cells; a bigger grid is not a hall."""
MOST_STARTS = 50


def is_movingai(source: Source) -> bool:
    return source.text.lstrip().lower().startswith("type ")


def read_movingai(source: Source) -> Imported:
    rows = _rows(source)
    draft = Draft(source.name or source.stem)
    top = len(rows) - 1
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            if cell in FREE + SWAMP:
                draft.add_node(cell_name(x, y), x, top - y, f"map[{y}][{x}]")
            if cell in SWAMP + WATER:
                what = "Swamp is driven over like any floor" if cell == SWAMP else "Water is not driven on"
                draft.tally(what, f"map[{y}][{x}]")
    for one, other in _neighbours(rows, draft):
        draft.ways[one, other] = draft.ways[other, one] = None
    draft.note("type", "Robots drive to the four sides only, not across corners, and a cell is one metre wide.")
    if source.starts is not None:
        _starts(source.starts, rows, draft)
    return draft.done("movingai")


def cell_name(x: int, y: int) -> str:
    return f"C{x}_{y}"


def _rows(source: Source) -> list[str]:
    lines = source.text.replace("\r\n", "\n").split("\n")
    head = {}
    at = 0
    for at, line in enumerate(lines[:20]):  # noqa: B007
        key, _, value = line.strip().partition(" ")
        if key.lower() == "map" and not value:
            break
        head[key.lower()] = value.strip()
    else:
        raise _not(source, "it has no line `map` before its rows")
    sizes = [head.get(key, "") for key in ("width", "height")]
    if not all(size.isascii() and size.isdigit() and len(size) < 7 for size in sizes):
        raise _not(source, "it does not say its width and height in numbers")
    width, height = map(int, sizes)
    rows = [row.rstrip(" \t") for row in lines[at + 1 : at + 1 + height]]
    short = next((number for number, row in enumerate(rows) if len(row) != width), None)
    if short is not None or len(rows) != height or not width:
        where = (
            f"row {short + 1} has {counted(len(rows[short]), 'cell')}"
            if short is not None
            else f"it has {counted(len(rows), 'row')}"
        )
        raise _not(source, f"it says {width} x {height}, and {where}")
    _check_cells(source, rows)
    return rows


def _check_cells(source: Source, rows: Sequence[str]) -> None:
    odd = sorted(set("".join(rows)) - set(FREE + BLOCKED + SWAMP + WATER))
    if odd:
        raise _not(source, f"it has a cell {odd[0]!r}; known are {' '.join(FREE + BLOCKED + SWAMP + WATER)}")
    free = sum(row.count(cell) for row in rows for cell in FREE + SWAMP)
    if free > MOST_CELLS:
        raise TooLargeError(f"{source.file} has {free} free cells; at most {MOST_CELLS} make a scene.")
    if not free:
        raise _not(source, "none of its cells is free")


def _neighbours(rows: Sequence[str], draft: Draft) -> Iterator[tuple[str, str]]:
    for y, row in enumerate(rows):
        for x in range(len(row)):
            for there in ((x + 1, y), (x, y + 1)):
                one, other = cell_name(x, y), cell_name(*there)
                if one in draft.nodes and other in draft.nodes:
                    yield one, other


def _starts(text: str, rows: Sequence[str], draft: Draft) -> None:
    """Each line of a scenario: bucket, map, width, height, start x and y, goal x and y, the best length."""
    lines = [line.split("\t" if "\t" in line else None) for line in text.splitlines() if line.strip()]
    if lines and lines[0][0].split()[:1] == ["version"]:
        lines = lines[1:]
    taken: set[str] = set()
    for at, line in enumerate(lines):
        path = f"scen[{at}]"
        if len(line) < 8 or not all(part.isascii() and part.isdigit() and len(part) < 7 for part in line[4:8]):
            draft.note(path, "It is not a line of a scenario and is left out.")
            continue
        start, goal = cell_name(int(line[4]), int(line[5])), cell_name(int(line[6]), int(line[7]))
        count = len(draft.robots) + 1
        if count > MOST_STARTS:
            draft.note(path, f"Only the first {MOST_STARTS} starts become robots.")
            return
        blocked = [cell for cell in (start, goal) if cell not in draft.nodes]
        if blocked:
            draft.note(path, f"{blocked[0]} is no free cell of this map; the line is left out.")
            continue
        if start in taken or draft.is_place_of_work(goal):
            draft.note(path, f"{start} or {goal} is taken by an earlier line; this one is left out.")
            continue
        taken.add(start)
        draft.add_robot(f"RB-{count:02}", start, path)
        draft.add_site(f"GOAL_{count:02}", "dropoff", goal, path)


def _not(source: Source, why: str) -> BadInputError:
    return BadInputError(f"{source.file} is not a MovingAI grid: {why}.", code="import.not_movingai")
