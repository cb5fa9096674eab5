"""Where other packages join: the group of entry points that bring workers."""

WORKERS = "beforehand.workers"
