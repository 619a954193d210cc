"""What the client of Qdrant raises, over REST or gRPC, as a `StackError` that says what to do; the key is in none."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
import httpx
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from ragassay.errors import StackError
from ragassay.plugins.http_faults import excerpt, readable

_KEY = "check the key in the environment variable that `key_env` names"
_GONE = "the collection is not there any more; build the index again"
_CODES = grpc.StatusCode
_PASSING = (
    _CODES.UNAVAILABLE,
    _CODES.DEADLINE_EXCEEDED,
    _CODES.RESOURCE_EXHAUSTED,
    _CODES.ABORTED,
    _CODES.INTERNAL,
    _CODES.UNKNOWN,
    _CODES.CANCELLED,
    _CODES.DATA_LOSS,
)

RAISED = (grpc.RpcError, ApiException, QdrantException, AssertionError, OSError, ValueError, RuntimeError)
"""What the client raises: kinds of its own, gRPC's, and plain ones where a reply or a closed client is at fault."""


def is_not_found(error: Exception) -> bool:
    """Tell whether the server said that there is no such collection."""
    if isinstance(error, grpc.RpcError):
        return bool(error.code() == _CODES.NOT_FOUND)
    return isinstance(error, UnexpectedResponse) and error.status_code == 404


def as_stack_error(error: Exception, doing: str, host: str, secrets: Sequence[str]) -> StackError:
    """Return what `error` means; `retryable` where asking again may help."""
    what, advice, again = _meaning(error)
    said = excerpt(what, secrets)
    return StackError(f"qdrant at {host} could not {doing}: {said}{'; ' if advice else ''}{advice}", retryable=again)


def _meaning(error: Exception) -> tuple[str, str, bool]:
    """Return what happened, what to do about it, and whether asking again may help."""
    if isinstance(error, grpc.RpcError):
        code = error.code()
        return f"{code.name}: {error.details() or 'no details'}", _advice_grpc(code), code in _PASSING
    if isinstance(error, UnexpectedResponse):
        status = error.status_code or 0
        said = readable(error.content) if error.content else "no body"
        return f"status {status}: {said}", _advice_rest(status), status in (408, 429) or status >= 500
    if isinstance(error, ResourceExhaustedResponse):
        return f"asked too often: {error}", f"wait {error.retry_after_s} s", True
    if isinstance(error, ResponseHandlingException):
        return _transport(error.source)
    if isinstance(error, AssertionError):  # how the client says that a reply holds no result
        return f"the reply holds no result: {error}", "", True
    return f"{type(error).__name__}: {error}", "", isinstance(error, OSError)


def _transport(source: Exception) -> tuple[str, str, bool]:
    if isinstance(source, httpx.TimeoutException):
        return f"no answer in time ({type(source).__name__})", "raise timeout_s, or ask again", True
    if isinstance(source, httpx.ConnectError):
        return f"no connection: {source}", "start the server, or check url", True
    if isinstance(source, httpx.HTTPError):
        return f"the connection broke: {source or type(source).__name__}", "", True
    return f"a reply that is not Qdrant's: {type(source).__name__}: {source}", "check url", True


def _advice_rest(status: int) -> str:
    if status in (401, 403):
        return _KEY
    if 300 <= status < 400:
        return "redirects are not followed: correct url"
    return _GONE if status == 404 else ""


def _advice_grpc(code: grpc.StatusCode) -> str:
    if code in (_CODES.UNAUTHENTICATED, _CODES.PERMISSION_DENIED):
        return _KEY
    if code == _CODES.UNAVAILABLE:
        return "start the server, or check url and grpc_port"
    if code == _CODES.DEADLINE_EXCEEDED:
        return "raise timeout_s, or ask again"
    return _GONE if code == _CODES.NOT_FOUND else ""
