"""Greenhouses: beds are watered from a tank, in words, as plans that are seen before a valve opens."""
