"""What people may ask of robots, tasks, streams and fleets: one table for HTTP, the command line and the page."""

ROBOT_VERBS = {
    "hold": "Stop the robot where it is; it does nothing until it is released.",
    "release": "Let a held robot go on.",
    "park": "Send the robot to its park place.",
    "charge": "Send the robot to a charger.",
    "out-of-service": "Give the robot no more work.",
    "in-service": "Give the robot work again.",
    "unloaded": "A person has taken the pallet off its fork.",
}
TASK_VERBS = {
    "resume": "Go on with a held task.",
    "redo": "Do the present step again.",
    "done-by-hand": "A person did the present step; `value` may say which one is meant, `pick` or `drop`.",
    "abort": "End it; with a pallet on the fork `value` may name another worksite to drop it at.",
    "cancel": "End it before the pallet is on the fork.",
    "hand-back": "Take it from its robot; another one gets it.",
}
TASK_VALUES = {"done-by-hand": "pick|drop", "abort": "WORKSITE"}
"""The verbs of tasks that take a value, and what may be given."""
STREAM_VERBS = {
    "enable": "Let the stream start tasks.",
    "disable": "Have the stream start no more tasks; those under way go on.",
}
FLEET_VERBS = {
    "hold": "Stop every robot of the scene and all dispatch. This is not an emergency stop.",
    "clear": "Let the fleet go on; held tasks still wait for their answers.",
}

BRAKES = {"hold": "{} was told to stand.", "cancel": "The order of {} was called off."}
"""Those that stop something and nothing else, and what they did: they reach the robots where nothing can be recorded,
too."""
