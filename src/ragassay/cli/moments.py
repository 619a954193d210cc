"""Moments on the command line: RFC 3339 in UTC, or Unix seconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from ragassay.errors import InputError

_RFC_3339 = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|\+00:00)")
_SECONDS = re.compile(r"[0-9]{1,12}")


def read_moment(text: str, option: str) -> int:
    """Return `2026-03-01T12:00:00Z`, or Unix seconds, as Unix seconds; raises `InputError` that names the option."""
    if _SECONDS.fullmatch(text):
        return int(text)
    refused = InputError(
        f"{option}: {text[:40]!r} is no time; write it in UTC like 2026-03-01T12:00:00Z, or in Unix seconds"
    )
    if not _RFC_3339.fullmatch(text):
        raise refused
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise refused from None
    if moment.year < 1970:
        raise refused
    return int(moment.timestamp())


def moment_text(seconds: int) -> str:
    """Return Unix seconds as RFC 3339 in UTC, or as they are where no calendar has them."""
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
    except OverflowError:
        return str(seconds)
