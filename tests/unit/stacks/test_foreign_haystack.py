"""Haystack's components and pipelines: what takes the question, where k goes, and that nothing is sent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("haystack", reason="pip install 'ragassay[haystack]'")

from foreign_factory import built, chunks, written

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.foreign.haystack import Haystack

CODE = """
    from haystack import Document, Pipeline, component
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack.utils import Secret

    @component
    class Of:
        def __init__(self, documents, api_key=Secret.from_token("sk-fake-0123456789abcdef")):
            self.documents, self.api_key, self.warm, self.open = documents, api_key, False, True
        def warm_up(self):
            self.warm = True
        def close(self):
            self.open = False
        @component.output_types(documents=list[Document])
        def run(self, query: str):
            if not self.warm:
                raise RuntimeError("cold")
            if query == "down":
                raise ConnectionError(f"refused {self.api_key.resolve_value()}")
            return {"documents": self.documents}
    @component
    class Best:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document], top_k: int = 2):
            return {"documents": documents[:top_k]}
    @component
    class Titled:
        @component.output_types(documents=list[Document])
        def run(self, query: str, title: str):
            return {"documents": []}
    @component
    class Words:
        @component.output_types(words=list[str])
        def run(self, query: str):
            return {"words": query.split()}

    def store(documents):
        found = InMemoryDocumentStore()
        found.write_documents(documents)
        return found
    def of(documents): return Of(documents)
    def bm25(documents): return InMemoryBM25Retriever(store(documents))
    def embedding(documents): return InMemoryEmbeddingRetriever(store(documents))
    def titled(documents): return Titled()
    def words(documents): return Words()
    def cut_off(documents):
        pipeline = Pipeline()
        pipeline.add_component("of", Of(documents))
        return pipeline
    def best(documents):
        pipeline = cut_off(documents)
        pipeline.add_component("best", Best())
        pipeline.connect("of", "best")
        return pipeline
    def two(documents):
        pipeline = best(documents)
        pipeline.add_component("bm25", bm25(documents))
        return pipeline
    def lost(documents):
        pipeline = Pipeline()
        pipeline.add_component("best", Best())
        return pipeline
    def no_documents(documents):
        pipeline = Pipeline()
        pipeline.add_component("words", Words())
        return pipeline
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A board's folder."""
    return written(tmp_path, "of_haystack", CODE)


@pytest.mark.parametrize(
    ("path", "params", "how", "count"),
    [
        ("of", {}, "cut", 3),
        ("bm25", {}, "top_k", 2),
        ("cut_off", {}, "cut", 3),
        ("best", {}, "top_k of best", 3),
        ("two", {"component": "best"}, "top_k of best", 3),
        ("two", {"component": "of"}, "cut", 3),
        ("two", {"component": "bm25"}, "top_k of bm25", 2),
    ],
)
def test_k_goes_to_the_component_whose_documents_are_taken(
    folder: Path, path: str, params: dict[str, str], how: str, count: int
) -> None:
    """Every other component keeps what its owner set; one that takes no `top_k` is cut."""
    scores = "own" if "bm25" in (path, params.get("component")) else "rank"
    retriever = built("haystack", folder, f"of_haystack:{path}", scores=scores, **params)
    assert len(retriever.search("fox", 3)) == count
    assert len(retriever.search("fox", 1)) == 1
    assert retriever.describe()["k"] == how


@pytest.mark.parametrize(
    ("path", "params", "said"),
    [
        (
            "embedding",
            {},
            "InMemoryEmbeddingRetriever needs query_embedding; a row gives the question alone .* pipeline",
        ),
        ("titled", {}, "Titled needs query, title"),
        ("lost", {}, "the pipeline's component 'best' needs documents"),
        (
            "two",
            {},
            r"2 components end the pipeline with documents; name the one .*those with documents: of, best, bm25",
        ),
        ("no_documents", {}, r"0 components end the pipeline with documents; .*\(those with documents: none\)"),
        ("two", {"component": "words"}, "component = 'words' is no component of the pipeline with documents"),
        ("of", {"component": "of"}, "component = 'of' is for a pipeline, and this is one component"),
        ("Of", {}, None),
    ],
)
def test_what_cannot_be_asked_with_a_question_alone_is_refused_when_it_is_built(
    folder: Path, path: str, params: dict[str, str], said: str | None
) -> None:
    """With what it needs, and what to do; a class of one's own that takes the documents is as good as a factory."""
    if said is None:
        assert built("haystack", folder, f"of_haystack:{path}", scores="rank").search("fox", 1)
        return
    with pytest.raises(InputError, match=said):
        built("haystack", folder, f"of_haystack:{path}", **params)


@pytest.mark.parametrize("path", ["words", "of"])
def test_no_documents_and_no_scores_are_errors(folder: Path, path: str) -> None:
    """A component that returns something else, and one whose documents have no score."""
    said = "returned no list under 'documents'" if path == "words" else "gave hit 1 no score"
    with pytest.raises(StackError, match=said):
        built("haystack", folder, f"of_haystack:{path}").search("fox", 1)


def test_a_token_is_not_recorded_or_repeated(folder: Path) -> None:
    """Neither from a component that cannot be written out, because it holds one, nor from a pipeline of it."""
    for path in ("of", "cut_off"):
        retriever = built("haystack", folder, f"of_haystack:{path}", scores="rank")
        with pytest.raises(StackError, match=r"refused \(not recorded\)") as caught:
            retriever.search("down", 1)
        assert "sk-fake" not in json.dumps(retriever.describe()) + str(caught.value)
    assert built("haystack", folder, "of_haystack:of").describe()["settings"]["api_key"] == "(not recorded)"


def test_a_refused_connection_may_be_asked_again(folder: Path) -> None:
    """Whether the component is asked itself or in a pipeline, which wraps its errors."""
    for path in ("of", "cut_off"):
        with pytest.raises(StackError) as caught:
            built("haystack", folder, f"of_haystack:{path}", scores="rank").search("down", 1)
        assert caught.value.retryable


def test_documents_hold_the_chunks() -> None:
    """Id, text and place on the page."""
    first = Haystack(retriever="a:b").documents(chunks())[0]
    assert (first.id, first.content, first.meta["chunk"]) == ("page-0.md#0", chunks()[0].text, "page-0.md#0")


def test_nothing_is_sent_and_nothing_is_written_at_home(tmp_path: Path) -> None:
    """Haystack's telemetry is off however the environment is set, also where it was imported with it before."""
    written(tmp_path, "of_haystack", CODE)
    code = f"""
import sys, posthog
sent = []
posthog.capture = lambda *args, **named: sent.append(named)
sys.path.insert(0, {str(Path(__file__).parent)!r})
if sys.argv[1] == "before":
    import haystack.telemetry
    assert haystack.telemetry._telemetry.telemetry is not None
from pathlib import Path
from foreign_factory import built
retriever = built("haystack", Path({str(tmp_path)!r}), "of_haystack:best", scores="rank")
assert len(retriever.search("fox", 3)) == 3
import os, haystack.telemetry._telemetry as telemetry
assert telemetry.telemetry is None and sent == [], sent
print(os.environ["HAYSTACK_TELEMETRY_ENABLED"], Path.home().joinpath(".haystack").exists())
"""
    for when, written_at_home in (("after", "False"), ("before", "True")):
        home = tmp_path / f"home-{when}"
        home.mkdir()
        environment = {**os.environ, "HOME": str(home), "HAYSTACK_TELEMETRY_ENABLED": "true"}
        told = subprocess.run(
            [sys.executable, "-c", code, when], env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert told.stdout.split() == ["true", written_at_home], told.stderr
