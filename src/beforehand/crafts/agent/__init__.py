"""The agent: a body in a home, steered with start, stop, skip and end while its actions run."""
