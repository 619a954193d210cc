"""Verified runs in the forms of other tools, streamed: what a run holds is written, and nothing is scored anew."""
