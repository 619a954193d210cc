"""What rerank services are asked and what they reply, in each of their forms, without I/O; nothing is repaired.

The forms: Cohere's API version 2 (`V2RerankResponse` of its Python client); that of Jina, which vLLM (`RerankResponse`
in `entrypoints/pooling/scoring/protocol.py`) and the llama.cpp server speak too; and `RerankRequest` and
`RerankResponse` of Text Embeddings Inference (its `docs/openapi.json`, version 1.7).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from ragassay.errors import StackError
from ragassay.records import JSON

LIST = "results"
"""Under this name stands the list of results; a server that sends the bare list is read as if it stood there."""
MAX_TOKENS = 1_000_000_000
"""A service that counts more tokens in one call has not counted."""
INFO = ("model_id", "model_sha", "model_dtype", "max_input_length", "max_client_batch_size", "auto_truncate", "version")
"""What a TEI server says of itself that can change a score."""
_INFO_CHARS = 200


class Billed(msgspec.Struct, frozen=True, kw_only=True):
    """What a service says that one call took; None where it does not say."""

    searches: Decimal | None
    tokens: int | None


def request(form: str, id: str | None, question: str, passages: Sequence[str], params: Mapping[str, Any]) -> JSON:
    """Return the body that asks for the scores of all `passages`; `params` are sent besides."""
    if form == "tei":
        return {"query": question, "texts": list(passages), "truncate": True, **params}
    return {"model": id, "query": question, "documents": list(passages), "top_n": len(passages), **params}


def scores_of(body: JSON, form: str, count: int) -> list[float]:
    """Return the scores of `count` passages in their order.

    Raises `StackError` unless each passage has exactly one finite score: one that is missing, twice there or about a
    passage that was not sent is an error, and so is one that is no number.
    """
    results = body.get(LIST)
    if not isinstance(results, list):
        names = ", ".join(repr(name[:40]) for name in sorted(body)[:5]) or "nothing"
        raise StackError(f"the reply holds no list of results (it has {names}); check url and form")
    name = "score" if form == "tei" else "relevance_score"
    found: dict[int, float] = {}
    for result in results:
        at, score = (result.get("index"), result.get(name)) if isinstance(result, dict) else (None, None)
        if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < count:
            raise StackError(f"a result has the index {str(at)[:40]!r}; {count} passages have 0 to {count - 1}")
        if at in found:
            raise StackError(f"passage {at} has two scores")
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise StackError(f"passage {at} has the {name} {str(score)[:40]}, which is no finite number")
        found[at] = float(score)
    if missing := [at for at in range(count) if at not in found]:
        raise StackError(f"{len(missing)} of {count} passages have no score, the first of them passage {missing[0]}")
    return [found[at] for at in range(count)]


def billed(body: JSON) -> Billed:
    """Return what a reply says of its cost: Cohere's `meta`, or the `usage` of the others."""
    meta, usage = _table(body.get("meta")), _table(body.get("usage"))
    units = _table(meta.get("billed_units"))
    searches = _number(units.get("search_units")) or _number(usage.get("search_units"))
    counts = (usage.get("total_tokens"), usage.get("prompt_tokens"), _table(meta.get("tokens")).get("input_tokens"))
    tokens = next((number for count in counts if (number := _number(count))), None)
    return Billed(searches=searches, tokens=int(tokens) if tokens is not None and tokens <= MAX_TOKENS else None)


def service_of(body: JSON) -> JSON:
    """Return what a TEI server says of itself, without what is no short text, number or truth value."""
    return {
        name: value
        for name in INFO
        if isinstance(value := body.get(name), bool | int) or (isinstance(value, str) and len(value) <= _INFO_CHARS)
    }


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> Decimal | None:
    """Return a positive finite number, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        return None
    return Decimal(str(value))
