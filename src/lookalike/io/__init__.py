"""Readers and writers: files, data frames and lists in; pairs out."""
