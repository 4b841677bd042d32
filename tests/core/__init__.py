"""Tests of `salon.core`: values, hashing, time, names and errors."""
