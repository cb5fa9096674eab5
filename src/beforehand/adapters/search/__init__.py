"""Search: a subset of the Elasticsearch query DSL over tables made from the log, or sent to a server that speaks it."""
