"""Bytes in, findings out: recomputes everything that a run claims. Pure."""
