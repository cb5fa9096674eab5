"""Rounds: a planner works in rounds, with sub-goals for workers, until a question is answered."""
