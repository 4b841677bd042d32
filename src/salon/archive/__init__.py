"""Cards, handles, documents and the audit chain in one SQLite file."""
