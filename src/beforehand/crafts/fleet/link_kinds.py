"""The kinds of robot links and the factories that make them: `sim`, `robokit` and `vda5050`; a plug-in adds its own.

def register(plugins: PluginRegistry) -> None:
    register_link("rosbridge", open_rosbridge, check=check_rosbridge)
"""

from collections.abc import Iterable

from beforehand.adapters.robokit.options import check_robokit, robokit_address
from beforehand.adapters.vda5050.options import check_vda5050, vda5050_address
from beforehand.crafts.fleet.core.check import LINK_KINDS
from beforehand.model.errors import BadInputError
from beforehand.model.fleet import FleetScene
from beforehand.model.machine import SIM, kind_of
from beforehand.ports.foreign import guarded, is_ours
from beforehand.ports.machines import MachineAddress, MachineCheck, address_in, no_options
from beforehand.ports.robot import LinkFactory, LinkRequest, RobotLink

_FACTORIES: dict[str, LinkFactory] = {}


def register_link(
    kind: str, factory: LinkFactory, *, check: MachineCheck = no_options, address: MachineAddress = address_in
) -> None:
    """Let robots name this kind in `link`: `factory` makes the link, `check` judges what stands beside the kind.

    `address` says which machine that is: no two active scenes may name the same one.
    Raises BadInputError where the kind's name cannot be used.
    """
    LINK_KINDS.add(kind, check, address)
    _FACTORIES[kind] = factory


def make_link(kind: str, request: LinkRequest) -> RobotLink:
    """One link of a known kind, for the robots of the request; whatever goes wrong in its factory is told."""
    if kind not in _FACTORIES:
        hint = "Install the plug-in that brings this kind, or give the robots another link."
        raise BadInputError.unknown("link kind", kind, _FACTORIES, hint=hint)
    with guarded(f"The robot link {kind}"):
        link = _FACTORIES[kind](request)
        if not callable(getattr(link, "send", None)) or not callable(getattr(link, "reports", None)):
            raise TypeError(f"its factory made {type(link).__name__}, which is no link")
        return link


def with_known_links(scene: FleetScene, newer: FleetScene) -> FleetScene:
    """A scene that goes on, its robots reached as the newer one says where nothing here knows the old kind any more."""
    links = {robot.robot_id: robot.link for robot in newer.robots}
    robots = tuple(
        robot
        if kind_of(robot.link) in _FACTORIES or robot.robot_id not in links
        else robot.model_copy(update={"link": links[robot.robot_id]})
        for robot in scene.robots
    )
    return scene.model_copy(update={"robots": robots})


def are_ours(kinds: Iterable[str]) -> bool:
    """Whether the factories of these kinds all come with this package."""
    return all(is_ours(_FACTORIES.get(kind)) for kind in kinds)


def _simulated(request: LinkRequest) -> RobotLink:
    from beforehand.adapters.sim.link import open_sim_link

    return open_sim_link(request)


def _robokit(request: LinkRequest) -> RobotLink:
    from beforehand.adapters.robokit.link import open_robokit_link

    return open_robokit_link(request)


def _vda5050(request: LinkRequest) -> RobotLink:
    from beforehand.adapters.vda5050.link import open_vda5050_link

    return open_vda5050_link(request)


register_link(SIM, _simulated)
register_link("robokit", _robokit, check=check_robokit, address=robokit_address)
register_link("vda5050", _vda5050, check=check_vda5050, address=vda5050_address)
