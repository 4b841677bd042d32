"""Measuring the product through its own application, on files that anybody can point it at."""
