"""Keeping out what must not get in or get out: instructions in texts, private data, floods."""
