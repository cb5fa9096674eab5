"""The kinds of robot links and the factories that make them: `sim`, `robokit` and `vda5050`; a plug-in adds its own.

def register(plugins: PluginRegistry) -> None:
    register_link("rosbridge", open_rosbridge, check=check_rosbridge)
"""

from beforehand.adapters.robokit.options import check_robokit, robokit_address
from beforehand.adapters.vda5050.options import check_vda5050, vda5050_address
from beforehand.crafts.fleet.core.check import LINK_KINDS
from beforehand.model.machine import SIM
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
    """One link of a known kind, for the robots of the request."""
    return _FACTORIES[kind](request)


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
