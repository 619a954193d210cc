"""Answering models, one file each."""
