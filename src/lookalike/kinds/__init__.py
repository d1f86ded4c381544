"""Kinds of items: each turns raw items into features."""
