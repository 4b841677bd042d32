"""A whole archive as one stream of records, out and in."""
