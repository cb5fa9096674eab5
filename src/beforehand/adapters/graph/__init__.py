"""Stores of a cell's graph: in this process, and Neo4j (or whatever speaks its Bolt protocol)."""
