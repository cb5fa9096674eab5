"""Runs plans: reading, validating and editing them, and one pure `decide` with the async driver that carries it out."""
