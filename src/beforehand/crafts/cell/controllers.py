"""The kinds of cell controllers and the factories that make them: two come along, and a plug-in adds its own alike.

def register(plugins: PluginRegistry) -> None:
    register_controller("rapid", open_rapid, check=check_rapid)
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from beforehand.adapters.opcua import options as opcua
from beforehand.app.kept_files import HomeFiles
from beforehand.app.scenes import home_file
from beforehand.crafts.cell.core.scene import CONTROLLER_KINDS
from beforehand.model.cell import CellScene
from beforehand.model.machine import SIM, kind_of
from beforehand.ports.cell import CellController, ControllerFactory, ControllerRequest
from beforehand.ports.clock import Clock
from beforehand.ports.foreign import guarded, is_ours
from beforehand.ports.machines import MachineAddress, MachineCheck, address_in, no_options
from beforehand.ports.private_files import KeptFile, PrivateFiles

FOLDER = "cells"
_FACTORIES: dict[str, ControllerFactory] = {}


def register_controller(
    kind: str, factory: ControllerFactory, *, check: MachineCheck = no_options, address: MachineAddress = address_in
) -> None:
    """Let scenes name this kind as `controller`: `factory` makes it, `check` judges what stands beside the kind.

    `address` says which machine that is: no two active scenes may name the same one.
    Raises BadInputError where the kind's name cannot be used.
    """
    CONTROLLER_KINDS.add(kind, check, address)
    _FACTORIES[kind] = factory


def open_controller(
    scene: CellScene,
    *,
    clock: Clock,
    speed: float,
    keep_in: Path,
    with_secrets: Callable[[Any], Any] = lambda value: value,
    files: PrivateFiles | None = None,
    before_send: Callable[[], None] = lambda: None,
) -> CellController:
    """The controller of a checked scene; `keep_in` is the home, `files` what all servers know alike.

    Nothing is connected before it is used.
    """
    kind = kind_of(scene.controller or SIM)
    file = home_file(keep_in, FOLDER if kind == SIM else f"{FOLDER}/{kind}", scene.name)
    kept = KeptFile(files or HomeFiles(keep_in), str(file.relative_to(keep_in)))
    with guarded(f"The controller {kind}"):
        controller = _FACTORIES[kind](ControllerRequest(scene, clock, speed, file, with_secrets, kept, before_send))
        if not callable(getattr(controller, "do", None)) or not callable(getattr(controller, "report", None)):
            raise TypeError(f"its factory made {type(controller).__name__}, which is no controller")
        return controller


def is_made_here(scene: CellScene) -> bool:
    """Whether the factory of a scene's controller comes with this package."""
    return is_ours(_FACTORIES[kind_of(scene.controller or SIM)])


def _simulated(request: ControllerRequest) -> CellController:
    from beforehand.adapters.sim.cell import open_sim_cell

    return open_sim_cell(request)


def _over_opcua(request: ControllerRequest) -> CellController:
    from beforehand.adapters.opcua.client import open_opcua_cell

    return open_opcua_cell(request)


register_controller(SIM, _simulated)
register_controller(opcua.KIND, _over_opcua, check=opcua.check_options, address=opcua.address)
