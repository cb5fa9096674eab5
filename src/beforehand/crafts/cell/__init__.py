"""Robot cells: an intent becomes moves and routines over a graph of allowed moves."""
