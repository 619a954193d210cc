"""What the causes are called, wherever they are printed."""

from __future__ import annotations

from collections.abc import Mapping

from ragassay.site.record import Cause

CAUSE_WORDS: Mapping[Cause, str] = {
    "correct": "correct",
    "not_used": "retrieved, not used",
    "contradicted": "contradicted",
    "not_retrieved": "not retrieved",
    "unjudged": "unjudged",
    "unexplained": "lost, no evidence to say where",
}
CAUSE_LETTERS: Mapping[Cause, str] = {
    "correct": "",
    "not_retrieved": "r",
    "not_used": "u",
    "contradicted": "c",
    "unjudged": "?",
    "unexplained": "x",
}
"""Beside a number on the heat map."""
