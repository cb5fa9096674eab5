"""Beforehand: plans you can see, check and change before anything moves, and then carry out."""

__version__ = "0.1.0"
