"""A stored corpus reads back equal, and any change of any byte is noticed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragassay.corpus import load_corpus, read_corpus, store_corpus
from ragassay.errors import InputError
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.records import Corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """A corpus of three pages, one of them empty."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_bytes("# A\n\nשלום \u2028 line separator\n".encode())
    (docs / "b.html").write_bytes(b"<h1>B</h1><p>text</p>")
    (docs / "empty.md").write_bytes(b"")
    return read_corpus(docs, HeadingChunker())


def test_what_is_stored_reads_back_equal(corpus: Corpus, tmp_path: Path) -> None:
    """The folder is named by the digest and holds the three files."""
    folder = store_corpus(corpus, tmp_path / "out")
    assert folder == tmp_path / "out" / corpus.digest()
    assert sorted(path.name for path in folder.iterdir()) == ["chunks.jsonl", "corpus.json", "pages.jsonl"]
    assert load_corpus(folder) == corpus
    assert [path.name for path in (tmp_path / "out").iterdir()] == [corpus.digest()]


def test_corpus_json_says_what_made_it(corpus: Corpus, tmp_path: Path) -> None:
    """Counts, digests, chunker, extractor and source are all there."""
    described = json.loads((store_corpus(corpus, tmp_path / "out") / "corpus.json").read_bytes())
    assert described["digest"] == corpus.digest()
    assert described["pages"]["count"] == 3
    assert described["chunks"]["count"] == 2
    assert described["extractor"] == "blocks/2"
    assert described["chunker"]["max_tokens"] == 256
    assert described["source"]["emptyPages"] == ["empty.md"]


def test_storing_again_leaves_the_files_alone(corpus: Corpus, tmp_path: Path) -> None:
    """The same corpus is not written twice."""
    folder = store_corpus(corpus, tmp_path / "out")
    before = {path: path.stat().st_ino for path in folder.iterdir()}
    assert store_corpus(corpus, tmp_path / "out") == folder
    assert {path: path.stat().st_ino for path in folder.iterdir()} == before


def test_a_damaged_store_is_written_anew(corpus: Corpus, tmp_path: Path) -> None:
    """Storing over a damaged folder repairs it."""
    folder = store_corpus(corpus, tmp_path / "out")
    (folder / "pages.jsonl").write_bytes(b"")
    assert load_corpus(store_corpus(corpus, tmp_path / "out")) == corpus


@pytest.mark.parametrize("name", ["pages.jsonl", "chunks.jsonl", "corpus.json"])
def test_every_flipped_byte_is_noticed(corpus: Corpus, tmp_path: Path, name: str) -> None:
    """Flipping any single byte of any file makes loading fail with an InputError."""
    folder = store_corpus(corpus, tmp_path / "out")
    data = (folder / name).read_bytes()
    for at in range(len(data) - 1):
        changed = bytearray(data)
        changed[at] ^= 1
        (folder / name).write_bytes(changed)
        try:
            loaded = load_corpus(folder)
        except InputError:
            continue
        assert name == "corpus.json"
        assert loaded.source != corpus.source, f"byte {at} of {name}"
        assert loaded.digest() == corpus.digest()


@pytest.mark.parametrize("name", ["pages.jsonl", "chunks.jsonl", "corpus.json"])
def test_a_missing_file_is_named(corpus: Corpus, tmp_path: Path, name: str) -> None:
    """The error names the file and the command that makes it."""
    folder = store_corpus(corpus, tmp_path / "out")
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"{name} is missing.*ragassay corpus build"):
        load_corpus(folder)


def test_a_folder_that_cannot_be_written_is_an_input_error(corpus: Corpus, tmp_path: Path) -> None:
    """A file where the folder should be is named, without a traceback."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be written"):
        store_corpus(corpus, tmp_path / "file" / "out")


def test_digest_does_not_depend_on_titles_or_source(corpus: Corpus) -> None:
    """Where a corpus came from is recorded and not hashed."""
    import msgspec

    assert msgspec.structs.replace(corpus, source={"kind": "elsewhere"}).digest() == corpus.digest()
    assert msgspec.structs.replace(corpus, extractor="other/1").digest() != corpus.digest()
    assert msgspec.structs.replace(corpus, chunker={"kind": "x"}).digest() != corpus.digest()
    assert msgspec.structs.replace(corpus, chunks=corpus.chunks[:1]).digest() != corpus.digest()
