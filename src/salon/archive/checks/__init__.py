"""Checking a whole archive against its hashes, its references and its log."""
