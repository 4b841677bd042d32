"""One list of what words and what vectors found, with a probability for each passage."""
