"""The clauses themselves, one module per source document or part of one, each with `CLAUSES`."""
