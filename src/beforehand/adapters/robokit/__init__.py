"""Forklifts that speak Robokit over TCP: the link to them, and a robot of our own that speaks it too."""
