"""What tantivy's index finds: plain words, in an order that no segment, thread or `top_k` changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tantivy", reason="pip install 'ragassay[tantivy]'")

import tantivy

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.tantivy import Tantivy
from ragassay.plugins.stacks.tantivy.scoring import explained, kept_length
from ragassay.plugins.stacks.tantivy.search import TantivyIndex
from ragassay.plugins.stacks.tantivy.settings import LANGUAGES, STEMMERS, read_settings
from ragassay.plugins.stacks.tantivy.writing import POSITION, TEXT, opened, write_index
from ragassay.records import Chunk
from ragassay.testing.stack_contract import corpus, ignore_progress


def build(texts: Sequence[str], **params: Any) -> TantivyIndex:
    """Return the index of chunks with these texts."""
    return Tantivy(**params).build(corpus(texts), {}, ignore_progress)


def found(index: TantivyIndex, question: str, k: int = 10) -> list[int]:
    """Return the places of the hits."""
    return [int(hit.chunk.removeprefix("page-").partition(".")[0]) for hit in index.search(question, k)]


def drawn(count: int, *, words: int = 40, seed: int = 1) -> list[str]:
    """Return texts of 5 to 12 words out of few, so that very many scores are equal or nearly so."""
    random = np.random.default_rng(seed)
    return [" ".join(f"w{word}" for word in random.integers(0, words, random.integers(5, 13))) for _ in range(count)]


QUESTIONS = ["w1", "w1 w2", "w3 w1 w4 w1 w5", "w7 w8 w9 w10 w11 w12 w13", " ".join(f"w{at}" for at in range(40))]


@pytest.mark.parametrize(
    "question",
    [
        "river AND fox",
        "river OR fox",
        "NOT river fox",
        '"river" "fox',
        "(river fox",
        "[river TO fox]",
        "{river fox}",
        "text:river position:fox",
        "+river -fox",
        "river^2 fox~1",
        "river* fox?",
        "/river/ fox",
        "river \\ fox",
        "IN [river, fox]",
        "river\x00fox",
        "river \ud800 fox",
        "river: fox!",
        "<b>river</b>fox",
    ],
)
def test_nothing_in_a_question_is_an_operator(question: str) -> None:
    """Whatever stands around the words, the chunks that hold one are found, and no other."""
    index = build(["a river bends", "a quick fox", "the hill", "river and fox"], stopwords=["and", "b", "to", "text"])
    assert sorted(found(index, question)) == [0, 1, 3]
    assert found(index, question)[0] == 3
    index.close()


@pytest.mark.parametrize("question", ["", "   ", "?!", "the of and", "unheard words", "\ud800", "title:nothing"])
def test_a_question_that_no_word_of_the_corpus_stands_in_finds_nothing(question: str) -> None:
    """An empty list, and no error."""
    index = build(["a river bends", "a quick fox"])
    assert index.search(question, 5) == []
    index.close()


def test_empty_chunks_are_counted_and_never_found() -> None:
    """They have no word to share, and keep their places."""
    index = build(["", "river", " \n", "river fox", "the"])
    assert index.count() == 5
    assert found(index, "river") == [1, 3]
    index.close()
    nothing = build(["", " "])
    assert (nothing.count(), nothing.search("river", 5)) == (2, [])
    nothing.close()


def test_equal_chunks_keep_the_order_of_the_corpus() -> None:
    """Also where a hundred of them are equal and five are wanted."""
    index = build(["fox", *["the river bends"] * 100, "river"])
    assert found(index, "river", 5) == [101, 1, 2, 3, 4]
    assert found(index, "fox river", 4) == [0, 101, 1, 2]
    index.close()


@pytest.mark.parametrize("k", [1, 3, 10, 57, 400])
def test_fewer_hits_begin_more(k: int) -> None:
    """With scores, for questions of one word and of forty."""
    index = build(drawn(400))
    for question in QUESTIONS:
        every = index.search(question, 10**9)
        assert index.search(question, k) == every[:k]
        assert [hit.score for hit in every] == sorted((hit.score for hit in every), reverse=True)
    index.close()


def _in_segments(folder: Path, chunks: Sequence[Chunk], sizes: Sequence[int], order: Sequence[int]) -> None:
    """Write the chunks in this order, a segment for each size."""
    settings = read_settings(Parameters("tantivy", {}))
    write_index(folder, [], settings, ignore_progress)
    index = tantivy.Index.open(str(folder))
    index.register_tokenizer("ragassay", settings.analyzer())
    writer, left = index.writer(num_threads=1, heap_size=15_000_000), list(order)
    for size in sizes:
        for at in left[:size]:
            document = tantivy.Document()
            document.add_unsigned(POSITION, at)
            document.add_text(TEXT, chunks[at].text)
            writer.add_document(document)
        left = left[size:]
        writer.commit()
    writer.wait_merging_threads()


def test_segments_change_neither_scores_nor_order(tmp_path: Path) -> None:
    """One segment, five, and five in another order: every list is the same, ties across segments included."""
    chunks = corpus(drawn(600))
    backwards = list(reversed(range(600)))
    ways = {"one": ([600], range(600)), "five": ([10, 300, 90, 150, 50], range(600)), "back": ([200] * 3, backwards)}
    lists: list[list[Any]] = []
    for name, (sizes, order) in ways.items():
        (tmp_path / name).mkdir()
        _in_segments(tmp_path / name, chunks, sizes, order)
        opened_index = opened(tmp_path / name, 600)
        assert opened_index.searcher().num_segments == len(sizes)
        index = TantivyIndex(chunks, read_settings(Parameters("tantivy", {})), opened_index)
        lists.append([index.search(question, k) for question in QUESTIONS for k in (1, 10, 100, 600)])
    assert lists[0] == lists[1] == lists[2]


def test_threads_change_neither_scores_nor_order(tmp_path: Path) -> None:
    """An index that four threads wrote is searched as one that a single thread wrote."""
    chunks, settings = corpus(drawn(3000)), read_settings(Parameters("tantivy", {}))
    lists: list[list[Any]] = []
    for threads in (1, 4, 4):
        folder = tmp_path / str(len(lists))
        folder.mkdir()
        write_index(folder, chunks, settings, ignore_progress, threads=threads, heap=15_000_000 * threads)
        index = TantivyIndex(chunks, settings, opened(folder, 3000))
        lists.append([index.search(question, 20) for question in QUESTIONS])
    assert lists[0] == lists[1] == lists[2]


def test_the_order_of_a_question_changes_nothing_and_a_repeated_word_weighs_more() -> None:
    """Words are added up exactly, whatever their order."""
    index = build(drawn(300))
    assert index.search("w1 w2 w3 w4 w5", 50) == index.search("w5 w3 w1 w4 w2", 50)
    once, twice = index.search("w1", 1)[0], index.search("w1 w1", 1)[0]
    assert twice.score == pytest.approx(2 * once.score, rel=1e-6)
    index.close()


@pytest.fixture(scope="module")
def lengths(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, list[int]]:
    """An index of chunks of very many lengths, and the lengths."""
    many = [*range(1, 70), 71, 72, 87, 88, 89, 120, 151, 152, 279, 280, 281, 1000, 1023, 1024, 1048, 5000, 20_000]
    folder = tmp_path_factory.mktemp("lengths")
    settings = read_settings(Parameters("tantivy", {}))
    write_index(folder, corpus(["river " * count for count in many]), settings, ignore_progress)
    return opened(folder, len(many)), many


def test_a_length_is_kept_as_tantivy_keeps_it(lengths: tuple[Any, list[int]]) -> None:
    """The length and the average that we score with are those of tantivy's own explanation."""
    index, many = lengths
    searcher = index.searcher()
    query = tantivy.Query.term_query(index.schema, TEXT, "river", index_option="freq")
    for _, address in searcher.search(query, len(many)).hits:
        (place,) = searcher.fast_field_values(POSITION, [address])
        told = query.explain(searcher, address).to_json()
        assert explained(told, "dl") == kept_length(many[place])
        assert explained(told, "avgdl") == pytest.approx(sum(many) / len(many), rel=1e-6)


def test_an_explanation_without_an_average_is_told() -> None:
    """A version of tantivy that words it in another way is no silent 1."""
    told = json.dumps({"value": 1.0, "description": "x", "details": [{"value": 2.0, "description": "y"}]})
    assert explained(told, "avgdl") is None


def test_scores_are_those_of_tantivy() -> None:
    """Rounding aside: the search would fail otherwise, and this says so for every chunk."""
    texts = drawn(200, words=90)
    index = build(texts)
    searcher: Any = index._searcher
    theirs = {
        place: score
        for score, address in searcher.search(index._query({"w1": 1, "w2": 2, "w3": 1}), 200).hits
        for place in searcher.fast_field_values(POSITION, [address])
    }
    ours = {int(hit.chunk[5:].partition(".")[0]): hit.score for hit in index.search("w1 w2 w3 w2", 200)}
    assert ours.keys() == theirs.keys()
    assert all(ours[at] == pytest.approx(theirs[at], rel=1e-5) for at in ours)
    index.close()


def test_an_index_of_other_chunks_is_not_searched_in_silence(tmp_path: Path) -> None:
    """A score that a hit's text does not give is an error that names the chunk."""
    settings = read_settings(Parameters("tantivy", {}))
    write_index(tmp_path, corpus(["river fox", "hill", "fox den"]), settings, ignore_progress)
    index = TantivyIndex(corpus(["hill", "fox den", "river fox"]), settings, opened(tmp_path, 3))
    with pytest.raises(StackError, match=r"does not hold these chunks; was it altered\?"):
        index.search("river", 3)


def test_an_index_that_lacks_chunks_is_not_opened(tmp_path: Path) -> None:
    """It says how many it holds."""
    write_index(tmp_path, corpus(["river"]), read_settings(Parameters("tantivy", {})), ignore_progress)
    with pytest.raises(StackError, match="tantivy holds 1 of 2 chunks"):
        opened(tmp_path, 2)


def test_a_long_word_is_neither_indexed_nor_searched() -> None:
    """Of the length that is named it still is."""
    index = build(["river " + "x" * 8, "river " + "x" * 9, "é" * 4 + " fox", "é" * 5 + " fox"], longest_word=8)
    assert found(index, "x" * 8) == [0]
    assert found(index, "x" * 9) == []
    assert found(index, "É" * 4) == [2]
    assert found(index, "é" * 5) == []
    index.close()


@pytest.mark.parametrize(
    ("params", "question", "places"),
    [
        ({}, "RIVERS", []),
        ({"stemmer": "english"}, "RIVERS", [0]),
        ({}, "emile", []),
        ({"ascii_folding": True}, "emile", [1]),
        ({"ascii_folding": True, "stemmer": "french", "stopwords": "french"}, "ÉMILE", [1]),
        ({}, "cache_dir", [2]),
        ({"tokenizer": "words"}, "cache", []),
        ({"tokenizer": "words"}, "cache_dir", [2]),
        ({"tokenizer": "whitespace"}, "cache_dir", []),
        ({"tokenizer": "whitespace"}, "--cache_dir=x", [2]),
        ({"stopwords": "none"}, "the", [0]),
        ({"stopwords": ["River"]}, "river", []),
        ({}, "日本語", []),
        ({"tokenizer": "ngram"}, "日本語", [3]),
        ({"tokenizer": "ngram", "min_gram": 4, "max_gram": 4}, "日本語", []),
    ],
)
def test_each_parameter_has_its_effect(params: dict[str, Any], question: str, places: list[int]) -> None:
    """What a question finds follows from how words are cut."""
    index = build(["the river", "Émile wrote", "--cache_dir=x", "これは日本語の文です"], **params)
    assert found(index, question) == places
    index.close()


@pytest.mark.parametrize("name", STEMMERS)
def test_each_language_has_its_words(name: str) -> None:
    """Every stemmer, and every list of stop words that is offered, is one that tantivy has."""
    params = {"stemmer": name, "stopwords": name if name in LANGUAGES else "none"}
    assert read_settings(Parameters("tantivy", params)).analyzer().analyze("river")


def test_every_wrong_parameter_is_told_at_once() -> None:
    """What tantivy fixes cannot be set to something else, and what goes with no grams not beside them."""
    with pytest.raises(InputError) as refused:
        Tantivy(k1="1.5", b=0.4, min_gram=3, max_gram=2, stemmer="klingon", longest_word=0, stopwords="greek")
    told = "\n".join(refused.value.problems)
    for part in (
        "k1 = 1.5: tantivy has 1.2",
        "b = 0.4: tantivy has 0.75",
        "min_gram = 3 must be at most max_gram = 2",
        "min_gram and max_gram must be left out",
        "stemmer = 'klingon' must be one of none, arabic",
        "longest_word = 0 must be an integer from 1",
        "stopwords = 'greek' must be",
    ):
        assert part in told
    with pytest.raises(InputError, match="stopwords and stemmer must be 'none'"):
        Tantivy(tokenizer="ngram", stemmer="english")
    assert Tantivy(k1=1.2, b="0.75").build([], {}, ignore_progress).describe()["k1"] == "1.2"


def test_an_index_that_was_closed_is_not_searched() -> None:
    """It says so."""
    index = build(["river"])
    index.close()
    with pytest.raises(StackError, match="tantivy was asked after it was closed"):
        index.search("river", 1)
    with pytest.raises(StackError, match="tantivy was asked after it was closed"):
        index.count()


def test_a_very_long_question_is_searched_plainly() -> None:
    """Five thousand different words, of which the corpus knows forty."""
    index = build(drawn(300))
    assert index.search(" ".join(f"w{at}" for at in range(5000)), 20) == index.search(QUESTIONS[-1], 20)
    index.close()
