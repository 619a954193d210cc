"""What Weaviate's client raises, over REST or gRPC, as a `StackError` that says what to do; the key is in none."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
import httpx

from ragassay.errors import StackError
from ragassay.plugins.http_faults import excerpt

_KEY = "check the key in the environment variable that `key_env` names"
_GONE = "the collection is not there any more; build the index again"
_START = "start the server, or check url and grpc_port"
_TIME = "raise timeout_s, or ask again"
_CODES = grpc.StatusCode
_FINAL = (_CODES.INVALID_ARGUMENT, _CODES.FAILED_PRECONDITION, _CODES.OUT_OF_RANGE, _CODES.UNIMPLEMENTED)
_UNSAID = ("extract auth", "unauthorized", "invalid api key")
"""What the server says of a refused key: its code for most failures is UNKNOWN, for this one too."""


def as_stack_error(error: Exception, doing: str, host: str, secrets: Sequence[str]) -> StackError:
    """Return what `error` means; `retryable` where asking again may help."""
    if isinstance(error, StackError):
        return error
    what, advice, again = _meaning(error)
    said = excerpt(what, secrets)
    return StackError(f"weaviate at {host} could not {doing}: {said}{'; ' if advice else ''}{advice}", retryable=again)


def _meaning(error: Exception) -> tuple[str, str, bool]:
    """Return what happened, what to do about it, and whether asking again may help."""
    for cause in _causes(error):  # the client's own kinds often hide what happened in what they come from
        if isinstance(cause, grpc.RpcError):
            return _grpc(cause)
        if isinstance(cause, httpx.HTTPError):
            return _http(cause)
        status = getattr(cause, "status_code", None)
        if isinstance(status, int) and status >= 300:
            return f"status {status}: {cause}", *_status(status)
    kind = type(error).__name__
    if kind == "BatchRefused":
        return f"it refused {error}", "", False
    if kind == "WeaviateStartUpError":
        return str(error), "", False
    return f"a reply that is not Weaviate's: {kind}: {error}", "check url and grpc_port", False


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    while error not in found:
        found.append(error)
        cause = error.__cause__ or error.__context__
        if cause is None:
            break
        error = cause
    return found


def _grpc(error: grpc.RpcError) -> tuple[str, str, bool]:
    code, details = error.code(), error.details() or "no details"
    said, low = f"{code.name}: {details}", details.lower()
    if code in (_CODES.UNAUTHENTICATED, _CODES.PERMISSION_DENIED) or any(words in low for words in _UNSAID):
        return said, _KEY, False
    if code == _CODES.NOT_FOUND or "could not find class" in low:
        return said, _GONE, False
    if "vector lengths" in low or "vector dim" in low:
        return said, "its vectors have another dimension; name another collection, or leave the name out", False
    if code == _CODES.UNAVAILABLE:
        return said, _START, True
    return said, _TIME if code == _CODES.DEADLINE_EXCEEDED else "", code not in _FINAL


def _http(error: httpx.HTTPError) -> tuple[str, str, bool]:
    if isinstance(error, httpx.TimeoutException):
        return f"no answer in time ({type(error).__name__})", _TIME, True
    if isinstance(error, httpx.ConnectError):
        return f"no connection: {error}", _START, True
    return f"the connection broke: {error or type(error).__name__}", "", True


def _status(status: int) -> tuple[str, bool]:
    if status in (401, 403):
        return _KEY, False
    if 300 <= status < 400:
        return "redirects are not followed: correct url", False
    return (_GONE if status == 404 else ""), status in (408, 429) or status >= 500
