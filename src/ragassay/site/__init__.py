"""Verified runs become a board, as a table, as JSON and as static pages."""
