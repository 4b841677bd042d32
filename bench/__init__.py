"""Measuring the archive against its limits: `python -m bench`, or `make bench`.

Every figure stands beside a peer's figure from the same run, and the repetitions of both sides
alternate, so that a busy machine slows both. Nothing is kept.
"""
