"""OpenSearch's own client, held to one attempt per request, without sniffing; and what its errors mean."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import (
    ConnectionTimeout,
    ImproperlyConfigured,
    OpenSearchException,
    SerializationError,
    SSLError,
    TransportError,
)

from ragassay.errors import StackError
from ragassay.plugins.stacks.elastic.client import CONNECTIONS, ElasticClient, Trouble, of_status, with_port
from ragassay.plugins.stacks.elastic.opensearch_dialect import WORDS
from ragassay.plugins.stacks.elastic.settings import Address
from ragassay.records import JSON

OLDEST = (2, 19)
"""The first server whose faiss graphs take cosines, and whose scores are those documented today."""
RAISED = (OpenSearchException, ImproperlyConfigured, OSError, ValueError, TypeError)


class OpenSearchClient(ElasticClient):
    """The key is a bearer token (JWT), or, with a user, that user's password."""

    def __init__(self, address: Address) -> None:
        secret = address.key.reveal() if address.key else None
        given: dict[str, Any] = {"ca_certs": address.ca_certs} if address.ca_certs else {}
        if secret is not None and address.user:
            given["http_auth"] = (address.user, secret)
        elif secret is not None:
            given["headers"] = {"Authorization": f"Bearer {secret}"}
        client = OpenSearch(
            with_port(address.url),
            timeout=address.timeout_s,
            max_retries=0,
            retry_on_timeout=False,
            retry_on_status=(),
            sniff_on_start=False,
            sniff_on_connection_fail=False,
            pool_maxsize=CONNECTIONS,
            **given,
        )
        super().__init__(WORDS.kind, address, client, RAISED, _meaning)

    def about(self) -> JSON:
        """Return the versions of server and client; raises `StackError` for a server of another kind or too old."""
        found = self.info()
        if found.distribution != "opensearch":
            raise StackError(
                f"{self._host} is no OpenSearch server: it calls its distribution {str(found.distribution)[:80]!r}; "
                'name kind = "elasticsearch" for an Elasticsearch server, or check url'
            )
        numbers = tuple(int(part) for part in found.number.split(".")[:2] if part.isdecimal())
        if numbers < OLDEST:
            raise StackError(f"opensearch at {self._host} is version {found.number[:40]!r}; use 2.19 or later")
        return {
            "server": {"version": found.number, "lucene": found.lucene_version},
            "opensearch_py": version("opensearch-py"),
        }

    def _forcemerge(self, index: str, within_s: int) -> Any:
        return self._client.indices.forcemerge(index=index, max_num_segments=1, request_timeout=within_s)


def _meaning(error: Exception) -> Trouble:
    if isinstance(error, ConnectionTimeout):
        return Trouble(said="no answer in time", advice="raise timeout_s, or ask again", again=True)
    if isinstance(error, SSLError):
        return Trouble(said=f"no secure connection: {error.error}", advice="check url and ca_certs")
    if isinstance(error, TransportError) and isinstance(error.status_code, int):
        return of_status(error.status_code, error.info or error.error)
    if isinstance(error, TransportError):
        advice = "start the server, or check url"
        return Trouble(said=f"the connection failed: {error.error}", advice=advice, again=True)
    if isinstance(error, SerializationError):
        return Trouble(said=f"a reply that is no JSON: {error}", advice="check url", again=True)
    return Trouble(said=f"{type(error).__name__}: {error}", again=isinstance(error, OSError))
