"""The calls on robots, worksites, streams, tasks and whole fleets."""
