"""The process that reads one PDF file: bytes on standard input, text or a refusal on standard output, memory capped."""

from __future__ import annotations

import contextlib
import os
import sys

import msgspec

from ragassay.corpus.found import Limits
from ragassay.corpus.pdf import PdfText, Refused, read_here
from ragassay.errors import InputError


def main() -> None:
    """Read what the caller gives under the limits that it names as JSON."""
    limits = msgspec.json.decode(sys.argv[1], type=Limits)
    data = sys.stdin.buffer.read()
    with contextlib.suppress(ImportError, ValueError, OSError):  # where the system knows no such cap
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limits.pdf_memory, limits.pdf_memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer: PdfText | Refused
    try:
        answer = read_here(data, limits)
    except InputError as error:
        answer = Refused(error.message)
    sys.stdout.buffer.write(msgspec.json.encode(answer))
    sys.stdout.buffer.flush()
    os._exit(0)  # nothing is left to close that is worth the time


if __name__ == "__main__":
    main()
