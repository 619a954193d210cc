"""Verified runs in the forms of other tools, streamed: what is asked of a board is written, nothing is computed anew."""
