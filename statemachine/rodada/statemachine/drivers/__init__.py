"""
Drivers perform a run's effects and feed it events. They decide nothing: what happens next stands in the table.
"""
