"""Rounds: a planner works in rounds of sub-goals for workers, until a question is answered."""
