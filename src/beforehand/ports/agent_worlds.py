"""Worlds that others bring for a body to live in: how one is opened, and what a scene may say about it.

A package names its world in the entry point group `beforehand.agent_worlds`; the entry point's name is the kind that a
scene's `world` names, and what it leads to is a WorldKind.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from beforehand.ports.body import Body
from beforehand.ports.machines import MachineCheck, no_options

Policy = Callable[[Body], str]
"""The next command for a body, from what it shows alone."""


@dataclass(frozen=True, slots=True)
class WorldRequest:
    """Everything there is to know about a body that is wanted."""

    scene: str
    options: Mapping[str, Any]
    """What stands beside the kind in the scene; it was found good by the kind's check."""
    world: Mapping[str, Any] | None = None
    """The world as it was left, from the body's own `wire()`; it may be of an older form of the scene."""
    goal: str | None = None


@dataclass(frozen=True, slots=True)
class WorldKind:
    open: Callable[[WorldRequest], Body]
    """Makes a body. A BeforehandError says why that cannot be, such as a package that is not installed."""
    check: MachineCheck = no_options
    policy: Policy | None = None
    """Who steers a body of this kind without a model, if anybody can."""
    simulated: bool = False
    """Whether there is no body but in a program, so that it may be put back to the start."""
