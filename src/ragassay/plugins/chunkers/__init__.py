"""Chunkers, one file each."""
