"""Parameters are checked when a stack is constructed, all problems at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ragassay import canon, plugins
from ragassay.errors import InputError
from ragassay.plugins.declared import declared
from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.hybrid import Hybrid
from ragassay.plugins.stacks.qdrant import Qdrant
from ragassay.run.build import split_entry

KINDS = sorted(plugins.BUILT_IN["stacks"])
NEEDED: Mapping[str, Mapping[str, Any]] = {
    "elasticsearch": {"url": "http://127.0.0.1:9200"},
    "haystack": {"retriever": "my_retriever:make"},
    "http": {"url": "http://127.0.0.1:8000/search"},
    "langchain": {"retriever": "my_retriever:make"},
    "llamaindex": {"retriever": "my_retriever:make"},
    "opensearch": {"url": "http://127.0.0.1:9200"},
    "pgvector": {"url": "postgresql://reader@127.0.0.1:5432/docs"},
    "rerank": {"method": "llm"},
    "vectorize": {"account_id": "0123456789abcdef0123456789abcdef", "key_env": "CLOUDFLARE_API_TOKEN"},
    "vertex": {"project": "my-project-1"},
    "weaviate": {"url": "http://127.0.0.1:8080"},
}
"""What a stack cannot be constructed without."""

OWN_CORPUS = ("http",)


def _skip_where_missing(kind: str) -> None:
    about = next(one for one in declared("stacks") if one.kind == kind)
    if about.missing:
        pytest.skip(f"pip install 'ragassay[{','.join(about.extras)}]'")


@pytest.mark.parametrize("kind", KINDS)
def test_every_built_in_stack_loads_by_kind(kind: str) -> None:
    """The registry's names are right, and a stack with what it needs alone can be constructed."""
    _skip_where_missing(kind)
    stack = plugins.load("stacks", kind)(**NEEDED.get(kind, {}))
    assert stack.owns_corpus is (kind in OWN_CORPUS)
    assert all("kind" in table for table in stack.default_parts.values())


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_parameter_is_refused(kind: str) -> None:
    """A typo never passes as a default."""
    _skip_where_missing(kind)
    with pytest.raises(InputError, match="unknown parameter 'topk'"):
        plugins.load("stacks", kind)(topk=3)


def test_all_problems_are_listed_at_once() -> None:
    """Each with its value and what it must be."""
    with pytest.raises(InputError) as caught:
        BM25(k1=-1, b="2", delta=None, method="bm26", stopwords=[1], spare=0, another="x")
    assert len(caught.value.problems) == 7
    assert "b = '2' must be a number from 0 to 1" in caught.value.problems
    assert "method = 'bm26' must be one of lucene, robertson, atire, bm25l, bm25+" in caught.value.problems


@pytest.mark.parametrize("value", [True, "x", "nan", "inf", float("nan"), float("inf"), [], {}, b"1", -0.1])
def test_a_number_must_be_a_finite_number_in_its_range(value: Any) -> None:
    """Booleans, words and infinities are no numbers."""
    with pytest.raises(InputError, match="k1 = "):
        BM25(k1=value)


@pytest.mark.parametrize("value", [True, "60", 1.0, -1, 1_000_001, None])
def test_a_whole_number_must_be_an_integer_in_its_range(value: Any) -> None:
    """A string or a float is not silently converted."""
    with pytest.raises(InputError, match="rrf_k = "):
        Hybrid(rrf_k=value)


@pytest.mark.parametrize(
    ("value", "recorded"), [("1.20", "1.2"), (1.2, "1.2"), (1, "1"), ("0.90", "0.9"), (1e-7, "0.0000001")]
)
def test_numbers_are_recorded_as_their_shortest_decimal(value: Any, recorded: str) -> None:
    """The same value written differently is the same row."""
    described = BM25(k1=value).build([], {}, lambda done, total: None).describe()
    assert described["k1"] == recorded
    canon.canonical(described)


def test_a_flag_must_be_a_boolean() -> None:
    """0 and "false" are not taken for false."""
    for value in (0, "false", None):
        with pytest.raises(InputError, match=r"exact = .* must be true or false"):
            Qdrant(exact=value)


def test_default_parts_may_depend_on_the_parameters() -> None:
    """Full-text search builds no embedder, whose weights nobody may have; vector search does."""
    pytest.importorskip("lancedb", reason="pip install 'ragassay[lancedb]'")
    assert split_entry({"kind": "lancedb", "search": "text"}, "x") == ({}, {"kind": "lancedb", "search": "text"})
    assert split_entry({"kind": "lancedb"}, "x") == ({"embedder": {"kind": "minilm-l6-v2-int8"}}, {"kind": "lancedb"})


def test_a_long_value_is_repeated_in_part() -> None:
    """A file pasted into a parameter does not fill the screen."""
    with pytest.raises(InputError) as raised:
        BM25(method="x" * 100_000, **{"y" * 100_000: 1})
    assert len(str(raised.value)) < 1000
    assert all("…" in problem for problem in raised.value.problems)
