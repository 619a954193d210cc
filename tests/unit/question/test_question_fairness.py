"""Evidence against the texts that a row searches: there, folded, absent, unknowable; over the edge of a chunk."""

from __future__ import annotations

from collections.abc import Callable

from ragassay import canon
from ragassay.question import match_evidence
from ragassay.question.fairness import SearchedChunks, fairness_of, searched_by
from ragassay.records import Benchmark, Chunk, Claim, Corpus, Fairness, Page, Question

PAGES = {
    "a.md": "The server listens on port 8080. The client waits for ten seconds.",
    "b.md": "It logs to\nserver.log and never to the console.",
}


def _chunk(page: str, number: int, start: int, end: int) -> Chunk:
    text = PAGES[page][start:end]
    return Chunk(id=f"{page}#{number}", page=page, start=start, end=end, text=text, sha256=canon.sha256(text.encode()))


def _corpus(size: int) -> Corpus:
    pages = tuple(
        Page(id=name, title=name, text=text, format="markdown", sha256=canon.sha256(text.encode()), source_sha256="0")
        for name, text in PAGES.items()
    )
    chunks = tuple(
        _chunk(name, number, start, min(start + size, len(text)))
        for name, text in PAGES.items()
        for number, start in enumerate(range(0, len(text), size))
    )
    return Corpus(pages=pages, chunks=chunks, chunker={}, extractor="1", source={})


def _questions(**evidence: tuple[str, ...]) -> Benchmark:
    claims = (Claim(id=1, text="Yes.", central=True),)
    return Benchmark(
        name="set",
        questions=tuple(
            Question(id=name, input=f"{name}?", target="Yes.", claims=claims, evidence=texts)
            for name, texts in evidence.items()
        ),
    )


ASKED = _questions(
    port=("listens on port 8080",),
    log=("It logs to server.log",),
    gone=("port 9090",),
    bare=(),
    either=("port 9090", "waits for ten seconds"),
)


def _found(
    size: int = 1_000, searched: SearchedChunks | None = None, reads: Callable[[str], bool] | None = None
) -> Fairness:
    corpus = _corpus(size)
    findings = match_evidence(ASKED, corpus.pages)
    return fairness_of(ASKED, corpus, findings, searched=searched or SearchedChunks(), reads=reads)


def test_each_question_is_there_folded_absent_or_unknowable() -> None:
    """One alternative suffices; a question without evidence is unknowable and never called there or absent."""
    assert _found() == Fairness(folded=("log",), absent=("gone",), unknowable=("bare",))


def test_evidence_over_the_edge_of_a_chunk_is_there_and_split() -> None:
    """The texts hold it, no single chunk does."""
    found = _found(25)
    assert (found.folded, found.absent) == (("log",), ("gone",))
    assert found.split == ("port", "either")
    assert _found(17).split == ("port", "log", "either")


def test_what_a_filter_keeps_out_is_absent() -> None:
    """A chunk that no search sees counts as not there; evidence that is half in it is not there either."""
    everything_of_a = frozenset(chunk.id for chunk in _corpus(25).chunks if chunk.page == "a.md")
    assert _found(25, SearchedChunks(left_out=everything_of_a)).absent == ("port", "gone", "either")
    assert _found(25, SearchedChunks(left_out=frozenset({"a.md#0"}))).absent == ("port", "gone")


def test_what_may_be_searched_is_unknowable_and_what_the_corpus_lacks_is_absent() -> None:
    """Where a stack cannot say what it indexed, only evidence that no page holds is absent."""
    every = searched_by(_corpus(1_000).chunks, [None])
    assert _found(searched=every) == Fairness(absent=("gone",), unknowable=("port", "log", "bare", "either"))


def test_a_chunk_that_one_stack_sees_is_seen() -> None:
    """Two stacks see together what either sees; an unknown one adds doubt and takes nothing away."""
    chunks = _corpus(25).chunks
    assert searched_by(chunks, [frozenset({"a.md#0"}), frozenset()]) == SearchedChunks()
    assert searched_by(chunks, [frozenset(), None]) == SearchedChunks(unsure=True)
    assert _found(25, SearchedChunks(unsure=True)).absent == ("gone",)


def test_evidence_behind_what_embedders_read_is_told() -> None:
    """Up to its end, the text of one chunk must be read; without an embedder it is not asked."""
    assert _found().unread is None
    assert _found(reads=lambda text: len(text) < 40).unread == ("either",)
    assert _found(reads=lambda _: True).unread == ()
    assert _found(17, reads=lambda _: False).unread == ()
