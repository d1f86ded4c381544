"""Families of similarity: each draws hashes, knows their collision probability, and verifies."""
