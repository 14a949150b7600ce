"""The fault-injection bench: real processes on servers of their own, broken on purpose.

`python -m dev.faults` runs every case (`make faults`); see `__main__` for the options.
"""
