"""Arithmetic on verdicts and ranks: one small pure file per measure."""
