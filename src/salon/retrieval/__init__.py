"""Finding passages: chunking, the lexical index and the entity graph, all derived from an archive.

No index here is truth. Each can be deleted and built again from the archive, says how far behind
it is, and serves only text that it has just read from a card whose hash it checked.
"""
