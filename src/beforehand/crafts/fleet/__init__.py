"""Fleets of forklifts: streams of pallets become tasks."""

from beforehand.crafts.fleet import link_kinds as link_kinds  # whoever reads a scene knows the kinds it may name
