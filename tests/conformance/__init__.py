"""Conformance: the public suite, other people's clients, and a server made to be examined."""
