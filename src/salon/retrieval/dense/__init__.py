"""Vector indexes: passages found by the vectors of one model, derived from the archive."""
