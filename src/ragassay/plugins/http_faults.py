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
from ragassay.plugins.http_body import plain
from ragassay.records import JSON, Secret

EXCERPT_CHARS = 300
_SECONDS = re.compile(r"\d{1,9}(\.\d{1,9})?")
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|d|h|m|s)")
_DURATION = re.compile(rf"({_PART.pattern})+")
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_RESET = "x-ratelimit-reset-"
_REMAINING = "x-ratelimit-remaining-"
_LIMIT = re.compile(r"(x-)?ratelimit\b|x-ratelimit-|retry-after")
_SPENT = re.compile(r'insufficient_quota|"code": 3036\b')


def status_fault(status: int) -> tuple[ModelErrorKind, bool]:
    """Return the kind of a status that is not 2xx, and whether asking again may help.

    424 is what Text Embeddings Inference says when its model failed on a batch.
    """
    if status == 429:
        return "rate_limited", True
    if status == 408:
        return "timeout", True
    if status in (401, 403):
        return "auth", False
    return ("server_error", True) if status >= 500 or status == 424 else ("bad_request", False)


def spent_for_good(said: str) -> bool:
    """Tell whether a 429 says that the account's allowance is used up, so that no wait of minutes helps.

    OpenAI's code `insufficient_quota`, and error 3036 of Cloudflare Workers AI. Google's words for a passing limit are
    nearly those of OpenAI's, which is why the code is looked for and not the sentence.
    """
    return _SPENT.search(said) is not None


def unmet_this_time(said: str) -> bool:
    """Tell whether Workers AI says of one reply that the model did not meet the schema: asked again, it may."""
    return "JSON Mode couldn't be met" in said


def error_in(body: JSON) -> object:
    """Return what a body says of an error in place of an answer, None where it says of none.

    The forms are OpenAI's `error`, vLLM's `{"object": "error", "message": …}` and Cloudflare's `{"success": false,
    "errors": […]}`.
    """
    if body.get("error"):
        return body["error"]
    if body.get("object") == "error":
        return body.get("message") or body
    if body.get("success") is False:
        return body.get("errors") or body
    return None


def retry_after_s(headers: Mapping[str, str], now_s: float, body: object = None) -> float | None:
    """Return the seconds that a server asks us to wait, None where it says nothing that can be used.

    In this order: `retry-after-ms`; `Retry-After` in seconds or as an HTTP date (a past one gives 0); `retryDelay` of
    Google's RetryInfo in `body`, the decoded error; `x-ratelimit-reset-*` ("1s", "6m0s", "250ms"), the longest of those
    whose `x-ratelimit-remaining-*` is 0, else the shortest. `now_s` is the Unix time.
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
        pass
    delay = _retry_delay_s(body)
    return delay if delay is not None else _reset_s(headers)


def duration_s(text: str) -> float | None:
    """Return the seconds of "1s", "6m0s", "2h", "250ms" or a plain number, None for anything else."""
    text = text.strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    if not text or not _DURATION.fullmatch(text):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))


def limit_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that speak of limits, names in lower case, sorted."""
    found = {name.lower(): value for name, value in headers.items() if _LIMIT.match(name.lower())}
    return dict(sorted(found.items()))


def _retry_delay_s(body: object) -> float | None:
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, dict) and isinstance(detail.get("retryDelay"), str):
            return duration_s(detail["retryDelay"])
    return None


def _reset_s(headers: Mapping[str, str]) -> float | None:
    told = limit_headers(headers)
    resets = {
        name.removeprefix(_RESET): wait
        for name, value in told.items()
        if name.startswith(_RESET) and (wait := duration_s(value)) is not None
    }
    exhausted = [wait for what, wait in resets.items() if told.get(_REMAINING + what, "").strip() == "0"]
    return max(exhausted) if exhausted else min(resets.values(), default=None)


def readable(said: object) -> str:
    """Return what a server said as text; JSON is written anew, so that no escape hides a key."""
    if isinstance(said, bytes):
        try:
            return readable(msgspec.json.decode(said))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return plain(said.decode("utf-8", errors="replace"))
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
