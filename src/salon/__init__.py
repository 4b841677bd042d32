"""Salon hosts conversations with agents you can check."""

__version__ = "0.1.0"
