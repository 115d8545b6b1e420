"""Foreign data sets turned into incident folders, one format a module; `formats` is the table.

An importer writes the question as a person would have been paged with it. What the data set knows
beyond that, the answer above all, goes to `truth.yaml`, which no tool can reach.
"""
