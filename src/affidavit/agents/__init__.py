"""Who decides the next step. An agent sees bounded projections and codes, and returns a decision;
it executes nothing, records nothing and publishes nothing (H1).
"""
