"""A rerank service keeps the promises of a stack over a server: killed, slow, cut short, its key refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest

from ragassay.testing.rerank_server import MODEL, PATHS, RerankServer
from ragassay.testing.service_contract import KEY, ServiceContract
from ragassay.testing.service_gate import Gate


class RerankService(ServiceContract):
    """The stand-in behind a gate, over `bm25`; there is no index on it."""

    kind = "rerank"
    form: ClassVar[str]
    params: ClassVar[Mapping[str, Any]] = {"method": "endpoint", "timeout_s": 1, "of": {"kind": "bm25"}}

    @contextmanager
    def server(self) -> Iterator[Gate]:
        """Start the server and open the gate to it."""
        with RerankServer(token=KEY) as server:
            gate = Gate(server.port)
            yield gate
            gate.close()

    def connection(self, server: Gate) -> dict[str, Any]:
        """Name the gate and the form."""
        model = {} if self.form == "tei" else {"id": MODEL}
        return {"url": server.url + PATHS[self.form], "form": self.form, **model}


class TestRerankCohere(RerankService):
    """Cohere's version 2."""

    form = "cohere"


@pytest.mark.slow
class TestRerankTei(RerankService):
    """Text Embeddings Inference, which says what it is."""

    form = "tei"
