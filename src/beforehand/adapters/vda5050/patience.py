"""How long a vehicle is waited for before something is said again, asked again, or given up."""

AGAIN_MS = 2_000
"""After this long something unanswered is said again."""
SEEN_EVERY_MS = 200
"""Where a vehicle is between its states is passed on this often at most."""
STATE_AGE_MS = 35_000
"""Vehicles report every 30 s at least; one that is online and answers no request for its state is believed so long."""
LOAD_PATIENCE_MS = 3_000
"""How long a vehicle that has finished its work may take to say so of its load, too."""
SILENT_WORK_MS = 30_000
"""How long a vehicle that says nothing of its actions is taken to be at its work, once it is at the place."""
LET_GO_PATIENCE_MS = 60_000
"""How long a vehicle may take to let go of its order before the next one is given up."""
CLING_PATIENCE_MS = 6_000
"""How long a vehicle that still names nodes of its last order may refuse the next one before that is a refusal."""
STOP_CHARGING_TRIES = 3
ANSWERS_KEPT = 32
