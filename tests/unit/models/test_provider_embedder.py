"""The embedder over an endpoint: every text has its own vector, by index, of the right length, or nothing has one."""

from __future__ import annotations

import base64
import gc
import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ragassay import canon
from ragassay.errors import InputError, ModelError, StackError
from ragassay.plugins.embedders.openai import OpenAIEmbedder
from ragassay.plugins.embedders.openai_vectors import rows_of
from ragassay.plugins.http_body import Malformed
from ragassay.records import JSON, Secret
from ragassay.retrieve import search
from ragassay.run import limiter
from ragassay.run.board_file import Limits
from ragassay.run.build import StackBuilder, needed_keys
from ragassay.run.embedding_gate import EmbeddingGate
from ragassay.run.limits import ATTEMPTS
from ragassay.testing.provider_imitations import (
    cloudflare,
    embeddings,
    in_turn,
    openai_embeddings,
    openai_error,
    vector,
)
from ragassay.testing.provider_servers import Asked, Imitation, ProviderServer, Said
from ragassay.testing.stack_contract import corpus, ignore_progress

KEY = "sk-embed-0123456789"
DIMENSION = 16


def at_once(**limits: Any) -> EmbeddingGate:
    """Return the runner's gate, but for the waits of its own choice."""
    return EmbeddingGate(Limits(**limits), first_wait_s=0.001)


def small(asked: Asked) -> Said:
    """Return vectors of 16 numbers, last first, each under its index."""
    return Said(body=embeddings(asked.body, DIMENSION, backwards=True))


def embedder(server: ProviderServer, **given: Any) -> OpenAIEmbedder:
    """Return an embedder over a server."""
    return OpenAIEmbedder(**{"id": "e-1", "base_url": server.base_url, "dimension": DIMENSION, **given})


def expected(*texts: str) -> NDArray[np.float32]:
    """Return the unit-length vectors of texts."""
    rows = np.array([vector(text, DIMENSION) for text in texts])
    scaled: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return scaled


def failure(imitation: Imitation, **given: Any) -> tuple[ModelError, int]:
    """Return the error of embedding three texts, and how many calls there were."""
    with ProviderServer(imitation) as server:
        one = embedder(server, **given)
        with pytest.raises(ModelError) as caught:
            one.embed(["a", "b", "c"], "document")
        one.close()
        return caught.value, len(server.asked)


def changed(**change: Any) -> Imitation:
    """Return an imitation whose first vector is changed."""

    def imitate(asked: Asked) -> Said:
        body = embeddings(asked.body, DIMENSION)
        body["data"][0] |= change
        return Said(body=body)

    return imitate


def test_vectors_are_taken_by_index_and_in_batches() -> None:
    """Seven texts in batches of three are three calls; each row is its own text's, of unit length."""
    texts = [f"text {n}" for n in range(7)]
    with ProviderServer(small) as server:
        one = embedder(server, batch=3)
        rows = one.embed(texts, "document")
        one.close()
        assert sorted(len(asked.body["input"]) for asked in server.asked) == [1, 3, 3]
    assert np.allclose(rows, expected(*texts), atol=1e-7)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)


def test_nothing_is_sent_but_what_was_given() -> None:
    """Model, input and the configured parameters; the key in its header alone; no texts are no call."""
    with ProviderServer(openai_embeddings) as server:
        one = embedder(server, key=Secret(KEY), params={"dimensions": DIMENSION})
        assert one.embed([], "document").shape == (0, DIMENSION)
        one.embed(["x"], "query")
        one.close()
        assert [asked.body for asked in server.asked] == [{"model": "e-1", "input": ["x"], "dimensions": DIMENSION}]
        assert server.asked[0].headers["Authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(vars(one))


def test_prefixes_and_normalisation_are_parameters() -> None:
    """A query and a document get their own prefix; with `normalise` off the rows are the server's."""
    with ProviderServer(small) as server:
        one = embedder(server, query_prefix="q: ", document_prefix="d: ", normalise=False)
        query, document = one.embed(["x"], "query"), one.embed(["x"], "document")
        one.close()
    assert np.array_equal(query[0], np.array(vector("q: x", DIMENSION), dtype=np.float32))
    assert np.array_equal(document[0], np.array(vector("d: x", DIMENSION), dtype=np.float32))


def test_base64_and_numbers_are_one_vector() -> None:
    """The same texts have the same rows in either encoding."""
    with ProviderServer(openai_embeddings) as server:
        params = {"dimensions": DIMENSION}
        rows = []
        for encoding in ("float", "base64"):
            one = embedder(server, params={**params, "encoding_format": encoding})
            rows.append(one.embed(["x", "y"], "document"))
            one.close()
    assert np.array_equal(rows[0], rows[1])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"index": 1}, "each once"),
        ({"index": 3}, "each once"),
        ({"index": -1}, "each once"),
        ({"index": True}, "each once"),
        ({"index": None}, "each once"),
        ({"embedding": [1.0] * (DIMENSION - 1)}, "15 dimensions where 16"),
        ({"embedding": [0.0] * DIMENSION}, "zeros"),
        ({"embedding": [1e-46] * DIMENSION}, "zeros"),
        ({"embedding": [1e39] * DIMENSION}, "infinity"),
        ({"embedding": []}, "neither"),
        ({"embedding": None}, "neither"),
        ({"embedding": ["1"] * DIMENSION}, "neither"),
        ({"embedding": [True] * DIMENSION}, "neither"),
        ({"embedding": "no base64"}, "base64"),
        ({"embedding": base64.b64encode(b"abc").decode()}, "base64"),
        ({"embedding": base64.b64encode(np.array([np.nan] * DIMENSION, "<f4").tobytes()).decode()}, "NaN"),
        ({"embedding": base64.b64encode(np.array([np.inf] * DIMENSION, "<f4").tobytes()).decode()}, "NaN"),
    ],
)
def test_a_vector_that_is_none_is_an_error(change: JSON, words: str) -> None:
    """A wrong index, dimension or number ends in an error that names it, and never in a vector."""
    error, calls = failure(changed(**change))
    assert error.kind == "malformed_reply"
    assert words in str(error)
    assert calls == 1


@pytest.mark.parametrize(
    "body",
    [
        {"data": []},
        {"data": [{"index": 0, "embedding": [1.0] * DIMENSION}]},
        {"data": "none"},
        {},
        {"data": [1, 2, 3]},
    ],
)
def test_another_number_of_vectors_is_an_error(body: JSON) -> None:
    """Fewer vectors than texts, or none at all, are never filled up."""
    error, _ = failure(lambda _: Said(body=body))
    assert error.kind == "malformed_reply"


def test_a_failing_batch_is_asked_again_by_the_runners_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retryable failures are asked again as often as the runner says, and the final one is the last one's."""
    monkeypatch.setattr(limiter, "FIRST_COOL_S", 0.001)
    busy = openai_error("slow down", status=429, **{"Retry-After": "0"})
    with ProviderServer(in_turn([busy, busy, small])) as server:
        one = embedder(server, gate=at_once)
        assert np.allclose(one.embed(["x"], "document"), expected("x"), atol=1e-7)
        one.close()
        assert len(server.asked) == 3
    error, calls = failure(in_turn([busy]), gate=at_once)
    assert (error.kind, calls) == ("rate_limited", ATTEMPTS["rate_limited"])


def test_a_final_failure_is_asked_once() -> None:
    """A refused key and a wrong dimension do not change by asking again."""
    error, calls = failure(lambda _: openai_error("no", status=401), gate=at_once)
    assert (error.kind, calls) == ("auth", 1)
    _, calls = failure(changed(embedding=[1.0]), gate=at_once)
    assert calls == 1


def test_another_model_in_between_is_an_error() -> None:
    """Vectors of two served models are never put beside each other."""
    other = Said(body={**embeddings({"model": "e-2", "input": ["x"]}, DIMENSION)})
    with ProviderServer(in_turn([small, other])) as server:
        one = embedder(server)
        one.embed(["x"], "document")
        with pytest.raises(ModelError, match="cannot be compared"):
            one.embed(["x"], "query")
        one.close()


def test_the_description_is_whole_and_asks_nobody() -> None:
    """Kind, id, address, parameters without fractions, dimension, prefixes; no key, no limits, no call."""
    one = OpenAIEmbedder(
        id="e-1", base_url="https://models.example/v1/", dimension=3, key=Secret(KEY), params={"x": 0.5}, batch=7
    )
    described = one.describe()
    assert canon.canonical(described)
    assert described == {
        "kind": "openai",
        "id": "e-1",
        "base_url": "https://models.example/v1",
        "params": {"x": "0.5"},
        "dimension": 3,
        "normalised": True,
        "prefix": {"document": "", "query": ""},
        "weights": None,
        "token_limit": None,
    }


def test_every_problem_of_the_parameters_is_named() -> None:
    """What is missing, out of range, of a wrong type or unknown is listed at once."""
    with pytest.raises(InputError) as caught:
        OpenAIEmbedder(requests_per_minute=0, tokens_per_minute="1")  # type: ignore[arg-type]
    assert [problem.partition(" ")[0] for problem in caught.value.problems][-2:] == [
        "requests_per_minute",
        "tokens_per_minute",
    ]
    with pytest.raises(InputError) as caught:
        OpenAIEmbedder(batch=0, concurrency=True, params={"input": 1, "model": 2}, query_prefix=1, normalise=1, x=1)  # type: ignore[arg-type]
    assert len(caught.value.problems) == 10


def test_the_thread_ends_with_the_embedder() -> None:
    """Closed twice, used again, or forgotten: no thread stays behind."""
    with ProviderServer(small) as server:
        one = embedder(server)
        one.close()
        one.embed(["x"], "query")
        one.close()
        one.close()
        one.embed(["x"], "query")
        del one
        gc.collect()
        assert [thread for thread in threading.enumerate() if thread.name == "ragassay-http"] == []


@pytest.mark.parametrize("size", [1, 5])
def test_rows_keep_the_order_of_the_texts(size: int) -> None:
    """Whatever order the entries come in, row n is the vector under index n."""
    entries = [{"index": at, "embedding": [float(at + 1), 1.0]} for at in range(size)]
    rows = rows_of({"data": entries[::-1]}, count=size, dimension=None, normalise=False)
    assert rows[:, 0].tolist() == [at + 1 for at in range(size)]
    with pytest.raises(Malformed):
        rows_of({"data": entries}, count=size + 1, dimension=None, normalise=False)


def test_a_dense_stack_over_the_endpoint_keeps_its_rows_and_its_key(tmp_path: Any) -> None:
    """A board's stack gets the key that its embedder names; a second build embeds no chunk; a question is asked."""
    entry = {
        "kind": "dense",
        "embedder": {"kind": "openai", "id": "@cf/google/embeddinggemma-300m", "dimension": 768, "key_env": "CF_KEY"},
    }
    chunks = corpus()
    with ProviderServer(cloudflare) as server:
        entry["embedder"] |= {"base_url": server.base_url}  # type: ignore[operator]
        assert needed_keys([], [entry, {"kind": "hybrid", "of": [entry]}]) == ["CF_KEY"]

        def build() -> int:
            builder = StackBuilder(
                chunks,
                evidence={},
                cache=tmp_path,
                weights_cache=tmp_path,
                report=lambda _: ignore_progress,
                keys={"CF_KEY": Secret(KEY)},
            )
            retriever = builder.build(entry, "row 'dense'")
            found = search(
                retriever, "alpha", chunks={c.id: c for c in chunks}, owns_corpus=False, top_k=3, threshold=None
            )
            assert len(found.delivered) == 3
            return builder.embedders[0].embedded

        assert build() > 0
        assert build() == 0
        assert {asked.headers["Authorization"] for asked in server.asked} == {f"Bearer {KEY}"}


def test_an_endpoint_that_is_down_is_a_stack_that_is_down(tmp_path: Any) -> None:
    """A question whose vector does not come is a retrieval failure that names the endpoint, never an empty result."""
    down = Said(status=400, body={"error": {"message": "input must not be empty"}})

    def fails_on_questions(asked: Asked) -> Said:
        return down if asked.body["input"] == ["why?"] else small(asked)

    with ProviderServer(fails_on_questions) as server:
        entry = {"kind": "openai", "id": "e-1", "base_url": server.base_url, "dimension": DIMENSION}
        builder = StackBuilder(
            corpus(), evidence={}, cache=tmp_path, weights_cache=tmp_path, report=lambda _: ignore_progress
        )
        retriever = builder.build({"kind": "dense", "embedder": entry}, "row")
        with pytest.raises(StackError, match="must not be empty"):
            search(retriever, "why?", chunks={}, owns_corpus=False, top_k=3, threshold=None)
