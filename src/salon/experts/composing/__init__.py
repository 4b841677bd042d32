"""Putting a reply together: from quotes alone, or by a model whose every sentence is checked."""
