"""What must hold between the parts of a fleet scene: names that exist, numbers that fit, ways that lead there.

Items that could not be read at all are None and are passed over; each check adds to one list of problems.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from beforehand.crafts.fleet.core.catalogue import check_fits, check_types
from beforehand.crafts.fleet.core.params import OPERATIONS, BatchParams
from beforehand.crafts.fleet.core.shape import Problems, check_plain, read_shape
from beforehand.crafts.fleet.core.streams import KINDS
from beforehand.model.broker import holds_a_secret, read_broker
from beforehand.model.fleet import RobotSpec, StreamSpec, WorksiteSpec
from beforehand.model.reason import name_list, unknown
from beforehand.model.words import counted
from beforehand.ports.machines import MachineKinds

BROKERED = ("vda5050",)
"""The kinds of links that go over `settings.broker`."""
LINK_KINDS = MachineKinds("link")
"""What a robot's `link` may name; `fleet/link_kinds.py` adds to it."""
Parts = Mapping[str, Any]


def check_names(parts: Parts, problems: Problems) -> None:
    """Duplicates and names that point nowhere."""
    nodes = _ids(parts["nodes"], "id", "nodes", "node", problems)
    sites = _ids(parts["worksites"], "worksite_id", "worksites", "worksite", problems)
    _ids(parts["robots"], "robot_id", "robots", "robot", problems)
    _ids(parts["streams"], "stream_id", "streams", "stream", problems)
    for path, edge in _read(parts, "edges"):
        _known(edge.from_, nodes, f"{path}.from", "node", problems)
        _known(edge.to, nodes, f"{path}.to", "node", problems)
        if edge.from_ is not None and edge.from_ == edge.to:
            problems.add("scene.edge_to_itself", path, f"the edge goes from {edge.from_} to itself; remove it.")
    _edges_twice(parts, problems)
    _places_of_work(parts, problems)
    recfiles = {one.pallet_type for _, one in _read(parts, "pallets") if one.recfile is not None}
    for path, site in _read(parts, "worksites"):
        _known(site.entry_node_id, nodes, f"{path}.entryNodeId", "node", problems)
        _known(site.action_node_id, nodes, f"{path}.actionNodeId", "node", problems)
        if site.occupancy == "reserved":
            says = "a place cannot begin as reserved, because no task holds it; write empty, filled or unknown."
            problems.add("scene.reserved", f"{path}.occupancy", says)
        check_plain(site.pick_params, f"{path}.pickParams", problems)
        check_plain(site.drop_params, f"{path}.dropParams", problems)
        _fork(site.pick_params, "ForkLoad", f"{path}.pickParams", problems, site.pallet_type in recfiles)
        _fork(site.drop_params, "ForkUnload", f"{path}.dropParams", problems)
    types = _ids(parts["pallets"], "pallet_type", "pallets", "pallet type", problems)
    check_types(parts, types, problems)
    machines: dict[str, str] = {}
    for path, robot in _read(parts, "robots"):
        _robot(robot, path, nodes, problems)
        _machine(robot, path, machines, problems)
    _known(parts["settings"].park_node_id, nodes, "settings.parkNodeId", "node", problems)
    known = {site.worksite_id: site for _, site in _read(parts, "worksites")}
    for path, stream in _read(parts, "streams"):
        check_plain(stream.params, f"{path}.params", problems)
        check_plain(stream.meta, f"{path}.meta", problems)
        _stream(stream, path, known, sites, recfiles, problems)


def _edges_twice(parts: Parts, problems: Problems) -> None:
    """A way between two nodes is given once; one edge each way is fine where both are one-way."""
    given: dict[tuple[str, str], str] = {}
    for path, edge in _read(parts, "edges"):
        ways = [(edge.from_, edge.to)] if edge.one_way else [(edge.from_, edge.to), (edge.to, edge.from_)]
        first = next((given[way] for way in ways if way in given), None)
        if first is not None:
            problems.add("scene.duplicate", path, f"{first} already leads from {edge.from_} to {edge.to}; keep one.")
        given.update(dict.fromkeys(ways, path))


def _places_of_work(parts: Parts, problems: Problems) -> None:
    """Two worksites may be entered at one node, but the node a robot works at belongs to one of them."""
    works: dict[str, str] = {}
    for path, site in _read(parts, "worksites"):
        if site.node_id is None or site.worksite_id is None:
            continue
        other = works.setdefault(site.node_id, site.worksite_id)
        if other != site.worksite_id:
            key = "actionNodeId" if site.action_node_id else "entryNodeId"
            says = f"{site.worksite_id} and {other} have the same place of work, {site.node_id}."
            problems.add(
                "scene.duplicate",
                f"{path}.{key}",
                says,
                about=site.worksite_id,
                try_next="Give each an actionNodeId of its own; the entry may be shared.",
            )


def check_numbers(parts: Parts, problems: Problems) -> None:
    settings = parts["settings"]
    if settings.charge_start_threshold >= settings.charge_stop_threshold:
        problems.add(
            "scene.thresholds",
            "settings.chargeStartThreshold",
            f"{settings.charge_start_threshold:g} is not below chargeStopThreshold "
            f"({settings.charge_stop_threshold:g}), so a robot would never stop charging.",
        )


def check_broker(parts: Parts, problems: Problems) -> None:
    """Robots that speak over a message broker need to be told which, and no password stands in a scene."""
    url = parts["settings"].broker
    path = "settings.broker"
    if url is None:
        robots = [robot.robot_id for _, robot in _read(parts, "robots") if _kind(robot.link) in BROKERED]
        if robots:
            speak = "speaks" if len(robots) == 1 else "speak"
            says = f"broker is missing: {name_list(robots[:10])} {speak} over one. Write mqtt://host:port."
            problems.add("scene.missing", path, says)
    elif read_broker(url) is None:
        problems.add("scene.bad_value", path, "a broker is mqtt://host:port or mqtts://host:port.")
    elif holds_a_secret(url):
        says = "a password does not belong in a scene; write ${secret:NAME} in its place."
        problems.add("scene.secret", path, says, try_next="Put the password into the secrets of the home.")


def _kind(link: Any) -> Any:
    return link.get("kind") if isinstance(link, Mapping) else link


def check_ways(parts: Parts, problems: Problems) -> None:
    """Every worksite and park place can be reached by some robot, and every stream has a drop some pick leads to."""
    if None in parts["nodes"] or None in parts["edges"]:
        return  # What cannot be read at all might have been the way; one problem is enough.
    nodes = {node.id for _, node in _read(parts, "nodes")}
    ahead: dict[str, list[str]] = {node: [] for node in nodes}
    for _, edge in _read(parts, "edges"):
        if edge.from_ in nodes and edge.to in nodes:
            ahead[edge.from_].append(edge.to)
            if not edge.one_way:
                ahead[edge.to].append(edge.from_)
    starts = {robot.node_id for _, robot in _read(parts, "robots")} & nodes
    reached = _reached(ahead, starts) if starts else _joined(ahead)
    for path, site in _read(parts, "worksites"):
        for key, node in (("entryNodeId", site.entry_node_id), ("actionNodeId", site.action_node_id)):
            if node in nodes and node not in reached:
                _unreachable(site.worksite_id, node, f"{path}.{key}", bool(starts), problems)
    behind = _turned(ahead)
    leading: dict[str, set[str]] = {}
    for path, robot in _read(parts, "robots"):
        park = robot.park_node_id or parts["settings"].park_node_id
        if park not in nodes or robot.node_id not in nodes:
            continue
        if park not in leading:
            leading[park] = _reached(behind, {park})
        if robot.node_id not in leading[park]:
            where = f"{path}.parkNodeId" if robot.park_node_id else "settings.parkNodeId"
            problems.add("scene.unreachable", where, f"{robot.robot_id} cannot reach its park node {park}.")
    _stream_ways(parts, ahead, problems)


def _stream_ways(parts: Parts, ahead: Mapping[str, list[str]], problems: Problems) -> None:
    sites = {site.worksite_id: site.node_id for _, site in _read(parts, "worksites")}
    for path, stream in _read(parts, "streams"):
        picks = _nodes_of(stream.params.get("pickGroup", stream.params.get("pick_group")), sites, ahead)
        drops = _nodes_of(stream.params.get("dropGroup", stream.params.get("drop_group")), sites, ahead)
        if picks and drops and not (_reached(ahead, picks, until=drops) & drops):
            problems.add(
                "scene.unreachable",
                f"{path}.params.dropGroup",
                f"no drop place of {stream.stream_id} can be reached from any of its pick places.",
                about=stream.stream_id,
            )


def _nodes_of(group: Any, sites: Mapping[str, str], ahead: Mapping[str, Any]) -> set[str]:
    names = group if isinstance(group, list | tuple) else []
    return {sites[name] for name in names if isinstance(name, str) and sites.get(name) in ahead}


def _unreachable(site: str, node: str, path: str, by_robot: bool, problems: Problems) -> None:
    who = "no robot can reach it" if by_robot else "no edge leads to it"
    problems.add(
        "scene.unreachable",
        path,
        f"{site} is unreachable: it stands at {node} and {who}.",
        about=site,
        try_next=f"Add an edge that leads to {node}, or move the worksite.",
    )


def _joined(ahead: Mapping[str, list[str]]) -> set[str]:
    """The nodes that some edge touches; with one node only, that one."""
    if len(ahead) == 1:
        return set(ahead)
    return {node for node, others in ahead.items() if others} | {node for others in ahead.values() for node in others}


def _turned(ahead: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The same edges, seen from where they lead to."""
    behind: dict[str, list[str]] = {node: [] for node in ahead}
    for node, others in ahead.items():
        for other in others:
            behind[other].append(node)
    return behind


def _reached(ahead: Mapping[str, list[str]], starts: Iterable[str], until: Collection[str] = frozenset()) -> set[str]:
    """The nodes that can be reached; the search may stop at the first of `until`."""
    seen = set(starts)
    todo = list(seen)
    while todo and not (until and not seen.isdisjoint(until)):
        for node in ahead[todo.pop()]:
            if node not in seen:
                seen.add(node)
                todo.append(node)
    return seen


def _read(parts: Parts, section: str) -> Iterator[tuple[str, Any]]:
    for number, item in enumerate(parts[section]):
        if item is not None:
            yield f"{section}[{number}]", item


def _ids(items: Iterable[Any], key: str, section: str, what: str, problems: Problems) -> Mapping[str, int]:
    seen: dict[str, int] = {}
    for number, item in enumerate(items):
        name = None if item is None else getattr(item, key)
        if name is None:
            continue
        if name in seen:
            path = f"{section}[{number}]"
            says = f"{what} {name} is already given as {section}[{seen[name]}]; names are used once."
            problems.add("scene.duplicate", path, says, about=name)
        else:
            seen[name] = number
    return seen


def _known(name: str | None, names: Collection[str], path: str, what: str, problems: Problems) -> None:
    if name is not None and name not in names:
        problems.unknown_name(name, path, what, names)


def _robot(robot: RobotSpec, path: str, nodes: Collection[str], problems: Problems) -> None:
    _known(robot.node_id, nodes, f"{path}.nodeId", "node", problems)
    _known(robot.park_node_id, nodes, f"{path}.parkNodeId", "node", problems)
    for wrong in LINK_KINDS.problems(robot.link, f"{path}.link"):
        problems.add(
            wrong.code, wrong.path, wrong.says, about=wrong.about, try_next=wrong.try_next, nearest=wrong.nearest
        )
    odd = [status for status in robot.completion_statuses if status not in (4, 6)]
    if odd:
        says = f"{odd[0]} cannot mean completed; 4 and 6 are the statuses a robot ends a step with."
        problems.add("scene.bad_value", f"{path}.completionStatuses", says)


def _machine(robot: RobotSpec, path: str, machines: dict[str, str], problems: Problems) -> None:
    """Two robots of a scene are two machines: one that was given to both would get the orders of both."""
    if robot.robot_id is None or LINK_KINDS.problems(robot.link, path):
        return
    other = machines.setdefault(LINK_KINDS.address(robot.link, robot.robot_id), robot.robot_id)
    if other != robot.robot_id:
        says = f"{robot.robot_id} and {other} are the same machine by their links; each robot has one of its own."
        problems.add("scene.duplicate", f"{path}.link", says, about=robot.robot_id)


def _stream(
    stream: StreamSpec,
    path: str,
    known: Mapping[str, WorksiteSpec],
    names: Collection[str],
    recfiles: Collection[str],
    problems: Problems,
) -> None:
    handler = KINDS.get(stream.kind)
    if handler is None:
        told = unknown("stream kind", stream.kind, KINDS)
        problems.add("scene.unknown_kind", f"{path}.kind", told.says, about=stream.kind, nearest=told.nearest)
        return
    params = read_shape(handler.params, stream.params, f"{path}.params", problems)
    if params is None:
        return
    groups = handler.groups(params)
    for key, group in groups.items():
        _group(stream, group, f"{path}.params.{key}", known, names, problems)
    check_fits(groups, path, known, problems)
    _stream_fork(params, path, known, recfiles, problems)
    _batch(params, path, problems)
    _nowhere(groups, path, problems)
    threshold = getattr(params, "threshold", 0)
    if threshold > len(groups.get("dropGroup", ())):
        says = (
            f"{threshold} is impossible: the drop group has only {counted(len(groups['dropGroup']), 'place')} to fill."
        )
        problems.add("scene.bad_value", f"{path}.params.threshold", says)


def _nowhere(groups: Mapping[str, tuple[str, ...]], path: str, problems: Problems) -> None:
    """Between a place and itself nothing can be moved."""
    for (one, sources), (other, targets) in pairwise(groups.items()):
        if len(sources) == 1 and sources == targets:
            says = f"{one} and {other} name the same place, {sources[0]}, so no pallet can be moved."
            problems.add("scene.bad_value", f"{path}.params.{other}", says, about=sources[0])


def _batch(params: BaseModel, path: str, problems: Problems) -> None:
    if not isinstance(params, BatchParams) or not isinstance(params.batch_size, int):
        return  # What could not be read has been told.
    places = min(len(params.pick_group), len(params.drop_group))
    if not params.partial and params.batch_size > places:
        says = f"{params.batch_size} is impossible: one of its groups has only {counted(places, 'place')}."
        problems.add("scene.bad_value", f"{path}.params.batchSize", says)
    if params.drop_policy.access_rule is not None:
        says = "a lane takes one pallet at a time, so a batch can never have several places of it; remove accessRule."
        problems.add("scene.bad_value", f"{path}.params.dropPolicy.accessRule", says)


def _group(
    stream: StreamSpec,
    group: tuple[str, ...],
    path: str,
    known: Mapping[str, WorksiteSpec],
    names: Collection[str],
    problems: Problems,
) -> None:
    group_names = {site.group_id for site in known.values() if site.group_id}
    for number, name in enumerate(group):
        here = f"{path}[{number}]"
        if name not in known and name in group_names:
            members = [site.worksite_id for site in known.values() if site.group_id == name]
            says = f"{name} is a group; a stream names its worksites one by one: {name_list(members[:10])}."
            problems.add("scene.unknown_name", here, says, about=name, nearest=members[:10])
        elif name not in known:
            problems.unknown_name(name, here, "worksite", names)
        elif known[name].worksite_type in ("charger", "park"):
            says = f"{name} is a {known[name].worksite_type} place; pallets are not moved there."
            problems.add("scene.bad_value", here, says, about=name)
        if name in group[:number]:
            problems.add("scene.duplicate", here, f"{name} is named twice in this list.", about=name)


def _stream_fork(
    params: BaseModel, path: str, known: Mapping[str, WorksiteSpec], recfiles: Collection[str], problems: Problems
) -> None:
    """The stream's own parameters, and what they come to where a worksite overrides some of them."""
    pick, drop = getattr(params, "pick_params", None), getattr(params, "drop_params", None)
    _fork(
        pick,
        "ForkLoad",
        f"{path}.params.pickParams",
        problems,
        bool(pick) and _all_add_recfile(params, known, recfiles),
    )
    _fork(drop, "ForkUnload", f"{path}.params.dropParams", problems)


def _all_add_recfile(params: BaseModel, known: Mapping[str, WorksiteSpec], recfiles: Collection[str]) -> bool:
    """Whether every pick place has a recognition file, of its own or of its pallets' type in the catalogue."""
    sites = [known[name] for name in getattr(params, "pick_group", ()) if name in known]
    return bool(sites) and all(
        (site.pick_params or {}).get("recfile") or site.pallet_type in recfiles for site in sites
    )


def _fork(
    params: Mapping[str, Any] | None, operation: str, path: str, problems: Problems, recfile_elsewhere: bool = False
) -> None:
    if params is None:
        return
    if "id" in params:
        says = "the robot is always sent to the worksite itself, so id cannot be given here."
        problems.add("scene.bad_value", f"{path}.id", says, try_next="Take it out; give the worksite an actionNodeId.")
    given = params.get("operation", operation)
    if given not in OPERATIONS:
        says = f"operation must be ForkLoad or ForkUnload, not {str(given)[:60]}."
        problems.add("scene.operation", f"{path}.operation", says, nearest=OPERATIONS)
    elif given != operation:
        says = f"{given} is the wrong way round here; use {operation}."
        problems.add("scene.operation", f"{path}.operation", says, nearest=(operation,))
    if params.get("recognize") and not params.get("recfile") and not recfile_elsewhere:
        says = "recognize is true, so recfile is required: name the pallet profile, such as plt/p0001.plt."
        problems.add("scene.recfile", f"{path}.recfile", says)
    if not isinstance(params.get("recognize", False), bool):
        problems.add("scene.bad_value", f"{path}.recognize", "recognize is neither true nor false.")
    if not isinstance(params.get("recfile", ""), str):
        problems.add("scene.bad_value", f"{path}.recfile", "recfile is not text.")
    for key in ("start_height", "end_height", "rec_height"):
        value = params.get(key, 0.0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
            says = f"{str(value)[:60]} is impossible: a height is a number of metres, 0 or more."
            problems.add("scene.bad_value", f"{path}.{key}", says)
