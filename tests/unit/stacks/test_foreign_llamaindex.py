"""LlamaIndex's retrievers: nodes, scores, settings, and what they leave alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("llama_index.core", reason="pip install 'ragassay[llamaindex]'")

from foreign_factory import built, chunks, written
from llama_index.core import Settings as Globals
from llama_index.core.schema import MetadataMode

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.foreign.llamaindex import LlamaIndex

CODE = """
    from llama_index.core import VectorStoreIndex
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.schema import NodeWithScore, TextNode
    from llama_index.core.postprocessor import SimilarityPostprocessor

    class Scored(BaseRetriever):
        def __init__(self, nodes, scores, similarity_top_k=2, api_key="sk-fake-0123456789abcdef"):
            self._nodes, self._scores, self._api_key = nodes, scores, api_key
            self.similarity_top_k = similarity_top_k
            super().__init__()
        def _retrieve(self, query_bundle):
            found = [NodeWithScore(node=one, score=score) for one, score in zip(self._nodes, self._scores)]
            return found[: self.similarity_top_k]
    class Lists(BaseRetriever):
        def _retrieve(self, query_bundle):
            return []
        def retrieve(self, text):
            return "text"

    def falling(nodes): return Scored(nodes, [0.9, 0.5, 0.5, 0.1])
    def rising(nodes): return Scored(nodes, [0.1, 0.2, 0.3, 0.4])
    def without(nodes): return Scored(nodes, [None] * 4)
    def one_without(nodes): return Scored(nodes, [0.5, None, 0.3, 0.2])
    def no_number(nodes): return Scored(nodes, [0.5, float("nan"), 0.3, 0.2])
    def words(nodes): return Lists()
    def index(nodes): return VectorStoreIndex(nodes, embed_model=MockEmbedding(3))
    def retriever(nodes): return index(nodes).as_retriever()
    def own(): return Scored([TextNode(id_="mine", text="the fox", metadata={"author": "x"})], [0.7])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A board's folder."""
    return written(tmp_path, "of_llamaindex", CODE)


def test_scores_are_the_retrievers_own_and_k_is_set_on_a_copy(folder: Path) -> None:
    """A larger k than its owner's is asked for."""
    retriever = built("llamaindex", folder, "of_llamaindex:falling")
    assert [hit.score for hit in retriever.search("fox", 3)] == [0.9, 0.5, 0.5]
    assert [hit.score for hit in retriever.search("fox", 1)] == [0.9]
    told = retriever.describe()
    assert (told["k"], told["scores"], told["settings"]["similarity_top_k"]) == ("similarity_top_k", "own", 2)
    assert told["settings"]["api_key"] == "(not recorded)"
    assert "sk-fake" not in json.dumps(told)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("rising", r"the score rises from 0.1 at rank 1 to 0.2 at rank 2, and a higher score is better; set scores ="),
        ("without", "gave hit 1 no score; set scores = "),
        ("one_without", "gave hit 2 no score"),
        ("no_number", "gave hit 2 the score nan, which is no number"),
    ],
)
def test_scores_that_say_nothing_are_refused_or_replaced_by_the_rank(folder: Path, path: str, said: str) -> None:
    """Nothing is sorted in silence: the row either stops, or records 1/rank and says so."""
    with pytest.raises(StackError, match=said):
        built("llamaindex", folder, f"of_llamaindex:{path}").search("fox", 4)
    ranked = built("llamaindex", folder, f"of_llamaindex:{path}", scores="rank")
    assert [hit.score for hit in ranked.search("fox", 4)] == [1.0, 0.5, 1 / 3, 0.25]
    assert ranked.describe()["scores"] == "rank"


def test_the_metadata_of_a_chunk_are_not_embedded() -> None:
    """The text that is embedded and shown is the chunk's text and nothing else, as for every other stack."""
    node = LlamaIndex(retriever="a:b").documents(chunks())[0]
    for mode in MetadataMode:
        expected = chunks()[0].text
        assert (node.get_content(metadata_mode=mode) == expected) is (mode != MetadataMode.ALL)
    assert node.node_id == node.metadata["chunk"] == "page-0.md#0"


def test_a_passage_of_its_own_is_returned_without_its_metadata(folder: Path) -> None:
    """As the text stands in the index."""
    hit = built("llamaindex", folder, "of_llamaindex:own", corpus="own").search("fox", 4)[0]
    assert (hit.chunk, hit.text, hit.score) == ("mine", "the fox", 0.7)


def test_an_index_is_answered_with_the_method_that_makes_a_retriever(folder: Path) -> None:
    """It is what most people have at hand."""
    with pytest.raises(InputError, match=r"an object of VectorStoreIndex where .*; return index.as_retriever\(\)"):
        built("llamaindex", folder, "of_llamaindex:index")
    with pytest.raises(StackError, match="returned str, not a list of nodes"):
        built("llamaindex", folder, "of_llamaindex:words").search("fox", 2)


def test_the_vector_store_and_the_embedding_are_recorded(folder: Path) -> None:
    """What the constructor of a retriever does not name."""
    told = built("llamaindex", folder, "of_llamaindex:retriever").describe()["settings"]
    assert told["vector_store"]["class"].endswith(".SimpleVectorStore")
    assert told["embed_model"]["embed_dim"] == 3


def test_nothing_global_is_set(folder: Path) -> None:
    """No model, embedding or handler of LlamaIndex's global settings is touched."""
    built("llamaindex", folder, "of_llamaindex:retriever").search("fox", 2)
    assert (Globals._llm, Globals._embed_model) == (None, None)
