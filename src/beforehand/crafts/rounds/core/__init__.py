"""Rounds without I/O: the intake, the gate, dispatch, the prompt, the rule planner, and replays."""
