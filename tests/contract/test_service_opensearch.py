"""`opensearch` fails as a stack over a server must: its stand-in killed, slow, refusing or cut."""

from __future__ import annotations

import pytest

pytest.importorskip("opensearchpy", reason="pip install 'ragassay[opensearch]'")

from elastic_case import ElasticCase

from ragassay.testing.opensearch_server import OpenSearchServer
from ragassay.testing.service_contract import KEY


class TestOpenSearchService(ElasticCase):
    """Over a local server with the documented shapes."""

    kind = "opensearch"

    def stand_in(self) -> OpenSearchServer:
        """Return one that asks for the key."""
        return OpenSearchServer(key=KEY)
