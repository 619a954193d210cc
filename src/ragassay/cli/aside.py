"""What plugins, and code that a board names, print to the standard output goes to the standard error meanwhile.

A stack is somebody else's code, as are the libraries behind it; the standard output is ours, and may be read as JSON.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TextIO


@contextmanager
def printing_aside() -> Iterator[TextIO]:
    """Have everything but what is written to the stream that this gives go to the standard error, until the block ends.

    Where the two are files of the system, what programs and libraries that are not Python's write goes there too.
    """
    ours = sys.stdout
    ours.flush()
    with redirect_stdout(sys.stderr):
        place = _place_of(ours)
        error = _place_of(sys.stderr)
        if place is None or error is None:
            yield ours
            return
        kept = os.dup(place)
        sys.stderr.flush()
        os.dup2(error, place)
        try:
            with os.fdopen(os.dup(kept), "w", encoding=ours.encoding, errors=ours.errors, buffering=1) as out:
                yield out
        finally:
            with suppress(OSError, ValueError):
                ours.flush()  # what was written to it behind our back goes aside too
            os.dup2(kept, place)
            os.close(kept)


def _place_of(stream: TextIO) -> int | None:
    """Return the number of the file behind a stream, None where there is none."""
    try:
        return stream.fileno()
    except (OSError, ValueError, AttributeError):
        return None
