"""Retrieval stacks, one file each."""
