"""Simulated machines: what a real one would do and report, in virtual time, the same every time."""
