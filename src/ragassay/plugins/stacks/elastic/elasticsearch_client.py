"""Elasticsearch's own client, held to one attempt per request, without sniffing; and what its errors mean."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from elastic_transport import ConnectionTimeout, TlsError, TransportError
from elasticsearch import ApiError, Elasticsearch, UnsupportedProductError

from ragassay.plugins.stacks.elastic.client import CONNECTIONS, ElasticClient, Trouble, of_status, with_port
from ragassay.plugins.stacks.elastic.elasticsearch_dialect import WORDS
from ragassay.plugins.stacks.elastic.settings import Address
from ragassay.records import JSON

RAISED = (ApiError, TransportError, OSError, ValueError, TypeError)


class ElasticsearchClient(ElasticClient):
    """The key is an API key as Elasticsearch gives it out encoded, or, with a user, that user's password."""

    def __init__(self, address: Address) -> None:
        secret = address.key.reveal() if address.key else None
        given: dict[str, Any] = {"ca_certs": address.ca_certs} if address.ca_certs else {}
        if secret is not None:
            given |= {"basic_auth": (address.user, secret)} if address.user else {"api_key": secret}
        client = Elasticsearch(
            with_port(address.url),
            request_timeout=address.timeout_s,
            max_retries=0,
            retry_on_timeout=False,
            retry_on_status=(),
            sniff_on_start=False,
            sniff_before_requests=False,
            sniff_on_node_failure=False,
            connections_per_node=CONNECTIONS,
            **given,
        )
        super().__init__(WORDS.kind, address, client, RAISED, _meaning)

    def about(self) -> JSON:
        """Return the versions of server and client."""
        found = self.info()
        flavor = {"flavor": found.build_flavor} if found.build_flavor else {}
        return {
            "server": {"version": found.number, "lucene": found.lucene_version, **flavor},
            "elasticsearch": version("elasticsearch"),
        }

    def _forcemerge(self, index: str, within_s: int) -> Any:
        return self._client.options(request_timeout=within_s).indices.forcemerge(index=index, max_num_segments=1)


def _meaning(error: Exception) -> Trouble:
    if isinstance(error, UnsupportedProductError):
        advice = 'name kind = "opensearch" for an OpenSearch server, or check url'
        return Trouble(said="the server does not call itself Elasticsearch", advice=advice)
    if isinstance(error, ApiError):
        trouble = of_status(error.meta.status, error.body)
        if "media_type_header_exception" in trouble.said or "Invalid media-type" in trouble.said:
            advice = f"the client of version {version('elasticsearch')} needs a server of that major version or later"
            return Trouble(said=trouble.said, status=trouble.status, advice=advice)
        return trouble
    if isinstance(error, ConnectionTimeout):
        return Trouble(said="no answer in time", advice="raise timeout_s, or ask again", again=True)
    if isinstance(error, TlsError):
        return Trouble(said=f"no secure connection: {error.message}", advice="check url and ca_certs")
    if isinstance(error, TransportError):
        advice = "start the server, or check url"
        return Trouble(said=f"the connection failed: {error.message}", advice=advice, again=True)
    return Trouble(said=f"{type(error).__name__}: {error}", again=isinstance(error, OSError))
