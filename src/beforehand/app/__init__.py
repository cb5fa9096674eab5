"""Use cases, one verb a function, and the wiring: the only room that knows everybody."""
