"""The kinds of events that questions write, for whoever reads them without deciding anything."""

ASKED = "questionAsked"
PLANNER_CALLED = "plannerCalled"
PLANNER_DECIDED = "plannerDecided"
SUB_GOAL_UPDATED = "subGoalUpdated"
FINISHED = "questionFinished"
