"""Where a run's columns lie: in memory, or in a run directory that survives it.

There is no algorithm here. `lookalike.pipeline` has the stages, and `lookalike.work` says what an
engine may decide: where columns lie and how the work is cut into units.
"""
