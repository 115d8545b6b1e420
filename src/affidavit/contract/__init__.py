"""What every room may know: the states, the identities, the records that cross many walls.

Read `states` for every enum and every legal move, `decisions` for the release table, `errors`
for the tree of what can go wrong. Nothing here does anything: no clock, no dice, no I/O.
A type that only one room needs lives in that room, not here.
"""
