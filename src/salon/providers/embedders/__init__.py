"""Embedders: what turns text into vectors, each made from an address `kind:name`."""

from salon.providers.embedders.options import EmbedderOptions
from salon.providers.embedders.registry import DEFAULT_ADDRESS, KINDS, EmbedderKind, open_embedder

__all__ = ["DEFAULT_ADDRESS", "KINDS", "EmbedderKind", "EmbedderOptions", "open_embedder"]
