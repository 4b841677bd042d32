"""Commands of the house: checks, generated docs, the lock."""
