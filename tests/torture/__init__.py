"""Torture: proof that what the archive acknowledged survives `kill -9` and power cuts.

`python -m tests.torture` is the long run, `test_torture.py` the short one.
"""
