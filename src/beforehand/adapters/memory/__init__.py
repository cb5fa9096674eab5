"""The store in memory: the same promises, nothing kept."""
