"""How faults of an HTTP server are named, and what of its words may be repeated: no key, no control characters."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from urllib.parse import quote, quote_plus

import msgspec

from ragassay.errors import ModelErrorKind
from ragassay.records import Secret

EXCERPT_CHARS = 300
_SECONDS = re.compile(r"\d{1,9}(\.\d{1,6})?")


def status_fault(status: int) -> tuple[ModelErrorKind, bool]:
    """Return the kind of a status that is not 2xx, and whether asking again may help."""
    if status == 429:
        return "rate_limited", True
    if status == 408:
        return "timeout", True
    if status in (401, 403):
        return "auth", False
    return ("server_error", True) if status >= 500 else ("bad_request", False)


def retry_after_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """Return the seconds that `Retry-After` (seconds or an HTTP date) or `retry-after-ms` ask for.

    A date in the past gives 0; an absent or unreadable header None. `now_s` is the Unix time.
    """
    exact = headers.get("retry-after-ms", "").strip()
    if _SECONDS.fullmatch(exact):
        return float(exact) / 1000
    text = headers.get("Retry-After", "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        date = parsedate_to_datetime(text)
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now_s)
    except (ValueError, OverflowError):
        return None


def readable(said: object) -> str:
    """Return what a server said as text; JSON is written anew, so that no escape hides a key."""
    if isinstance(said, bytes):
        try:
            return readable(msgspec.json.decode(said))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return said.decode("utf-8", errors="replace")
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def excerpt(text: str, secrets: Sequence[str]) -> str:
    """Return at most 300 characters of what a server said, on one line, without control characters or `secrets`."""
    kept = text[: 64 * EXCERPT_CHARS]
    shown = "".join(" " if char.isspace() else char for char in kept if char.isspace() or char.isprintable())
    shown = " ".join(without(shown, secrets).split())
    return shown if len(shown) <= EXCERPT_CHARS else shown[: EXCERPT_CHARS - 1] + "…"


def without(text: str, secrets: Sequence[str]) -> str:
    """Return `text` with each of `secrets` replaced by `***`."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def key_forms(key: Secret | None) -> tuple[str, ...]:
    """Return the ways in which servers write a key back, longest first; none for a key under four characters."""
    text = key.reveal() if key else ""
    if len(text) < 4:
        return ()
    raw = text.encode()
    forms = {text, quote(text, safe=""), quote_plus(text), json.dumps(text)[1:-1], raw.hex()}
    for shift in range(3):
        # Where the key stands inside a longer encoded text, the groups at its ends also hold what is beside it.
        inner = base64.b64encode(b"\0" * shift + raw).decode()[4 if shift else 0 :]
        inner = inner[:-4] if inner.endswith("=") else inner
        if len(inner) >= 8:
            forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))
