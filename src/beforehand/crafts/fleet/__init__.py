"""Fleets of forklifts: streams of pallets become tasks."""
