"""The log in memory: every promise of a store, for as long as the process lives."""
