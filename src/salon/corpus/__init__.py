"""Documents, readers and ingest: from files and pages to verified text in the archive."""
