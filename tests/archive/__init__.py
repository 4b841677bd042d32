"""Tests of `salon.archive`."""
