"""Plans drafted by a model: a planner with no scene."""
