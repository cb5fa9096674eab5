"""What Beforehand needs from outside, as small protocols: a store, tools, a workspace, a clock, robots, graphs.

Adapters keep these promises and take no decisions.
"""
