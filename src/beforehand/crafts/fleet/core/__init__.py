"""The fleet craft: streams of pallets become tasks for forklifts, decided one tick at a time.

`scene` reads and checks, `state` holds and replays, `decide` turns one tick's inputs into events and commands through
named phases, `why` explains whatever stands still, `simulate` drives it all in virtual time. Nothing here reads a
clock or touches the outside.
"""
