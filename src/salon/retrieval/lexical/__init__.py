"""Finding passages by their words: one reading of text and queries, and two engines under it."""
