"""One cheap call that asks an embeddings endpoint what its vectors are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from ragassay.errors import ModelError
from ragassay.plugins.embedders.openai import PATH
from ragassay.plugins.embedders.openai_vectors import rows_of
from ragassay.plugins.http import HttpClient
from ragassay.plugins.http_body import Malformed
from ragassay.plugins.models.openai_reply import usage_of

_TEXTS = ("amber", "basalt")


class EmbeddingFindings(msgspec.Struct, frozen=True, kw_only=True):
    """What an embeddings endpoint sends; `problem` is None where it sends vectors. Tokens None: it did not count."""

    problem: str | None = None
    served: str | None = None
    dimension: int | None = None
    unit_length: bool | None = None
    limits: Mapping[str, str] = {}
    latency_ms: int | None = None
    calls: int = 1
    input_tokens: int | None = None


async def check_embeddings(client: HttpClient, id: str, params: Mapping[str, Any]) -> EmbeddingFindings:
    """Return what the endpoint sends for two short texts, whatever their dimension."""
    try:
        reply = await client.post_json(PATH, {"model": id, "input": list(_TEXTS), **params})
        rows = rows_of(reply.body, count=len(_TEXTS), dimension=None, normalise=False)
    except (ModelError, Malformed) as error:
        return EmbeddingFindings(problem=str(error))
    served = reply.body.get("model")
    return EmbeddingFindings(
        served=client.scrub(served)[:200] if isinstance(served, str) else None,
        dimension=rows.shape[1],
        unit_length=bool(np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)),
        limits=reply.limits,
        latency_ms=reply.latency_ms,
        input_tokens=usage_of(reply.body.get("usage")).input_tokens,
    )
