"""Runs the asking of a run to its end: on uvloop where it is present, without rescans of what was made before."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

YOUNG = 20_000
"""Objects made before the garbage collector looks: calls under way are many and short-lived, and rarely in cycles."""


def to_end(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` in an event loop of its own and return what it returns; leaves the garbage collector as it was.

    Corpus, questions and indexes are there already and stay: the collector passes them over while the loop runs.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *before[1:])
    try:
        return _run(work)
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _run(work: Coroutine[Any, Any, T]) -> T:
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    found: T = uvloop.run(work)
    return found
