"""The cell craft: from what a person wants to a checked sequence of moves and routines over a graph of allowed moves.

Everything here is pure. A scene and an intent go in, a sequence comes out, or every problem at once. The verifier
judges sequences on its own and shares no code with the builder.
"""
