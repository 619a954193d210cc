"""`elasticsearch` fails as a stack over a server must: its stand-in killed, slow, refusing or cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

pytest.importorskip("elasticsearch", reason="pip install 'ragassay[elasticsearch]'")

from elastic_case import ElasticCase

from ragassay.testing.elasticsearch_server import ElasticsearchServer
from ragassay.testing.service_contract import KEY


class TestElasticsearchService(ElasticCase):
    """Over a local server with the documented shapes."""

    kind = "elasticsearch"

    def stand_in(self) -> ElasticsearchServer:
        """Return one that asks for the key."""
        return ElasticsearchServer(key=KEY)


@pytest.mark.slow
class TestElasticsearchHybridService(TestElasticsearchService):
    """Vectors of a graph and words, fused: two searches per question."""

    params: ClassVar[Mapping[str, Any]] = {"timeout_s": 2, "search": "hybrid", "exact": False}
