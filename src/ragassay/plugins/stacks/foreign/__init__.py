"""Retrievers of other libraries, named by import path."""
