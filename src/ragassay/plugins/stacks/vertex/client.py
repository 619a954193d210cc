"""The clients of Vertex AI Vector Search: where they connect and as whom, and what they raise in words that help."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

with warnings.catch_warnings():
    # Three of the client's packages say on import that they will want a newer grpcio one day.
    warnings.filterwarnings("ignore", ".*grpcio < .* does not support Post-Quantum", FutureWarning)
    import google.auth
    import google.cloud.vectorsearch_v1beta as api
    import grpc
    import msgspec
    import requests.exceptions
    from google.api_core import exceptions
    from google.auth import credentials as auth
    from google.auth import exceptions as auth_exceptions
    from google.oauth2.credentials import Credentials
    from google.protobuf.json_format import ParseError

from ragassay.errors import StackError, legible
from ragassay.records import Secret

__all__ = ["Place", "Service", "api", "exceptions"]

SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
LONGEST_PAUSE_S = 30.0
RECONNECT = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 5000),  # gRPC gives one attempt to connect, TLS included, so long
    ("grpc.max_reconnect_backoff_ms", 1000),
)

_REFUSED = (exceptions.Unauthorized, exceptions.Forbidden, auth_exceptions.GoogleAuthError)
_PASSING = (
    exceptions.ServerError,
    exceptions.TooManyRequests,
    exceptions.RetryError,
    auth_exceptions.TransportError,
    requests.exceptions.RequestException,
    ParseError,
    ConnectionError,
    TimeoutError,
)
_THEIRS = (*_PASSING, exceptions.GoogleAPIError, auth_exceptions.GoogleAuthError, grpc.RpcError, ValueError, TypeError)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Which service is asked, how, and how long an answer and a long-running operation may take."""

    project: str
    location: str
    endpoint: str
    transport: str
    timeout_s: int
    wait_s: int

    @property
    def parent(self) -> str:
        """The resource in which collections are made."""
        return f"projects/{self.project}/locations/{self.location}"

    @property
    def is_loopback(self) -> bool:
        """True for a server on this machine, which is spoken to without TLS."""
        return self.endpoint.rpartition(":")[0] in LOOPBACK or self.endpoint in LOOPBACK


class Service:
    """The service's three clients; each call has a time-out, is made once, and raises `StackError`."""

    def __init__(self, place: Place, key: Secret | None) -> None:
        self.place = place
        self._key = key
        self._open: list[Any] = []
        self._metadata: Sequence[tuple[str, str]] = ()
        with self._told("find credentials"):
            credentials = self._credentials()
            try:
                self.collections = self._client(api.VectorSearchServiceClient, credentials)
                self.objects = self._client(api.DataObjectServiceClient, credentials)
                self.searches = self._client(api.DataObjectSearchServiceClient, credentials)
            except BaseException:
                self.close()
                raise

    def call(self, doing: str, method: Any, request: Any, *, untold: tuple[type[Exception], ...] = ()) -> Any:
        """Return what `method` answers; an error that is one of `untold` is the caller's to understand."""
        with self._told(doing, untold):
            return method(request=request, retry=None, timeout=float(self.place.timeout_s), metadata=self._metadata)

    def pages(self, doing: str, method: Any, request: Any) -> Iterator[Any]:
        """Yield the pages of a paged answer; a page token that comes again is an error, not an endless loop."""
        seen: set[str] = set()
        pages = iter(self.call(doing, method, request).pages)
        while True:
            with self._told(doing):
                page = next(pages, None)
            if page is None:
                return
            yield page
            if page.next_page_token in seen:
                raise StackError(f"vertex: {self.place.endpoint} gave one page token twice while asked to {doing}")
            seen.add(page.next_page_token)

    def finished(self, doing: str, operation: Any) -> None:
        """Wait for a long-running operation at most `wait_s`."""
        deadline, pause, state = time.monotonic() + self.place.wait_s, 0.05, operation.operation
        while not state.done:
            if time.monotonic() > deadline:
                raise StackError(
                    f"vertex: to {doing} took more than wait_s = {self.place.wait_s} s; it goes on at the service: "
                    "try again later, or set a larger wait_s",
                    retryable=True,
                )
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_S)
            state = self.call(doing, self.collections.get_operation, {"name": state.name})
        if state.HasField("error"):
            raise StackError(f"vertex could not {doing}: {self._scrub(state.error.message)} (code {state.error.code})")

    def close(self) -> None:
        """Close all connections."""
        while self._open:
            self._open.pop().close()

    def _credentials(self) -> Any:
        if self._key is not None:
            return Credentials(token=self._key.reveal())
        if self.place.is_loopback:
            return auth.AnonymousCredentials()
        found, _ = google.auth.default(default_scopes=SCOPES)
        return found

    def _client(self, kind: Any, credentials: Any) -> Any:
        place, made = self.place, kind.get_transport_class(self.place.transport)
        options = {} if place.is_loopback else {"client_options": {"api_endpoint": place.endpoint}}
        given = {} if place.is_loopback else {"credentials": credentials}
        transport: Any = made
        if place.transport == "grpc" and place.is_loopback:
            transport = made(host=place.endpoint, channel=_plain_channel(place.endpoint))
            if self._key is not None:  # an unencrypted channel carries no call credentials of its own
                self._metadata = (("authorization", f"Bearer {self._key.reveal()}"),)
        elif place.transport == "grpc":
            transport = partial(made, channel=partial(_reconnecting, made.create_channel))
        elif place.is_loopback:
            transport = made(host=place.endpoint, credentials=credentials, url_scheme="http")
            transport._session.trust_env = False  # no proxy stands between this machine and itself
        client = kind(transport=transport, **options, **given)
        self._open.append(client.transport)
        return client

    @contextmanager
    def _told(self, doing: str, untold: tuple[type[Exception], ...] = ()) -> Iterator[None]:
        """Raise what a client raises as a `StackError` that names the server; the key stands in none."""
        try:
            yield
        except untold:
            raise
        except _THEIRS as error:
            message = f"vertex: {self.place.endpoint} could not {doing}: {self._scrub(legible(error))}"
            passing = isinstance(error, _PASSING)
            raise StackError(f"{message}{_advice(error)}", retryable=passing) from None

    def _scrub(self, text: str) -> str:
        return text if self._key is None else self._key.scrub(text)


def _plain_channel(endpoint: str) -> Any:
    return grpc.insecure_channel(endpoint, options=[*RECONNECT, ("grpc.enable_http_proxy", 0)])


def _reconnecting(create: Any, host: str, *, options: Sequence[tuple[str, int]], **given: Any) -> Any:
    """Create the client's own channel, which would wait up to two minutes before it tries to connect again."""
    return create(host, options=[*options, *RECONNECT], **given)


def _advice(error: Exception) -> str:
    if isinstance(error, auth_exceptions.DefaultCredentialsError):
        return "; make application default credentials, or name an access token's variable in `key_env`"
    if isinstance(error, auth_exceptions.TransportError):
        return ""
    if isinstance(error, _REFUSED):
        return (
            "; check the access token that `key_env` names (it lasts an hour) or the default credentials, and the role"
        )
    if isinstance(error, exceptions.TooManyRequests):
        return "; the project's quota is used up for now"
    if isinstance(error, exceptions.GatewayTimeout):
        return "; it may be slow: see timeout_s"
    return ""
