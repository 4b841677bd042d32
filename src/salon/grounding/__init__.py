"""Checking what is said against what is stored: citations, claims, support, risk."""
