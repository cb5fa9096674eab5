"""Runs of plans on Temporal: the pure decisions inside a workflow, tools as activities on any number of workers."""
