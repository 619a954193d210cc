"""A stored corpus and a question set as a BEIR folder: relevance is that of the board, and damage is never exported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.cli.export import command
from ragassay.corpus import load_corpus, read_corpus, store_corpus
from ragassay.corpus.stream import StoredCorpus
from ragassay.errors import InputError
from ragassay.export.beir import BeirWritten, write_beir
from ragassay.export.holding import Holding
from ragassay.export.out import new_folder
from ragassay.records import Benchmark, Question
from ragassay.run.build import make_chunker
from ragassay.score import evidence_ranks

PAGES = {
    "a b.md": "# Ports\n\nThe server listens on port 80.\n\n## More\n\nThe proxy listens on port\n8080 over “TCP”.\n",
    "c.md": "# Again\n\nThe server listens on port 80. And then some more.\n",
    "d.md": "# Long\n\n" + "word " * 30 + "the very long sentence that is cut in two parts here " + "word " * 30,
    "e.md": "\n",
}
EVIDENCE = {
    "q 1": ("The server listens on port 80.",),
    "q-2": ('port 8080 over "TCP"',),
    "q-3": (),
    "q-4": ("nowhere at all to be found",),
    "q-5": ("the very long sentence that is cut in two parts here",),
    "q-6": ("80",),
    "q-7": ("port 8",),
}


def _question(name: str, evidence: tuple[str, ...]) -> Question:
    return Question(id=name, input=f"What of {name}?", target="It.", claims=(), evidence=evidence, topic="t")


BENCHMARK = Benchmark(name="sample", questions=tuple(_question(name, found) for name, found in EVIDENCE.items()))


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A stored corpus of four pages in small chunks, one of the pages blank."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in PAGES.items():
        (docs / name).write_text(text, encoding="utf-8")
    corpus = read_corpus(docs, make_chunker({"kind": "heading", "max_tokens": 40, "overlap": 0, "min_tokens": 1}))
    return store_corpus(corpus, tmp_path / "corpus")


def _written(stored: Path, out: Path, documents: str = "chunks") -> BeirWritten:
    with new_folder(out, force=False) as folder:
        return write_beir(StoredCorpus(stored), BENCHMARK, folder, documents)  # type: ignore[arg-type]


def test_relevance_is_that_of_the_retrieval_measures(stored: Path, tmp_path: Path) -> None:
    """A chunk is in the qrels exactly when it would be credited, delivered alone; all else is named with the reason."""
    written = _written(stored, tmp_path / "beir")
    header, *lines = (tmp_path / "beir/qrels/test.tsv").read_text(encoding="utf-8").splitlines()
    assert header == "query-id\tcorpus-id\tscore"
    wanted = {
        (question.id.replace(" ", "%20"), chunk.id.replace(" ", "%20"))
        for question in BENCHMARK.questions
        for chunk in load_corpus(stored).chunks
        if evidence_ranks(question.evidence, [chunk.text]).ranks
    }
    assert {tuple(line.split("\t")[:2]) for line in lines} == wanted
    assert len(lines) == len(wanted) == written.pairs
    assert (written.without_evidence, written.absent) == (("q-3",), ("q-4", "q-7"))
    assert written.split == ("q-5",)
    assert written.in_qrels + len(written.without_evidence + written.absent + written.split) == written.queries == 7


def test_every_document_and_question_is_written(stored: Path, tmp_path: Path) -> None:
    """Corpus and queries hold all of them with their texts, under ids that the qrels use."""
    _written(stored, tmp_path / "beir")
    documents = [json.loads(line) for line in (tmp_path / "beir/corpus.jsonl").read_text("utf-8").splitlines()]
    chunks = load_corpus(stored).chunks
    assert [(one["metadata"]["id"], one["text"]) for one in documents] == [(chunk.id, chunk.text) for chunk in chunks]
    assert documents[0]["_id"].startswith("a%20b.md")
    queries = [json.loads(line) for line in (tmp_path / "beir/queries.jsonl").read_text("utf-8").splitlines()]
    assert [query["metadata"]["id"] for query in queries] == list(EVIDENCE)
    assert queries[0]["_id"] == "q%201"


def test_pages_are_documents_too(stored: Path, tmp_path: Path) -> None:
    """Evidence that chunking split is whole on its page."""
    written = _written(stored, tmp_path / "beir", "pages")
    assert (written.documents, written.split) == (4, ())
    assert written.in_qrels == 4


@pytest.mark.parametrize("name", ["pages.jsonl", "chunks.jsonl", "corpus.json"])
def test_a_damaged_corpus_is_never_exported(stored: Path, tmp_path: Path, name: str) -> None:
    """A changed word, a missing last line or another digest is an error, and no folder appears."""
    for change in (
        lambda data: data.replace(b"server", b"sorver", 1),
        lambda data: data.rsplit(b"\n", 2)[0] + b"\n",
        lambda data: data.replace(b'"digest":"', b'"digest":"0', 1),
        lambda data: b"",
        lambda data: data + b"{}\n",
    ):
        whole = (stored / name).read_bytes()
        changed = change(whole)
        if changed == whole:
            continue
        (stored / name).write_bytes(changed)
        with pytest.raises(InputError, match="build it again"):
            _written(stored, tmp_path / "beir")
        assert not (tmp_path / "beir").exists()
        (stored / name).write_bytes(whole)
    assert _written(stored, tmp_path / "beir").corpus == stored.name


def test_a_stream_gives_what_is_stored(stored: Path) -> None:
    """Page by page it is the corpus that loading it whole gives."""
    whole = load_corpus(stored)
    streamed = list(StoredCorpus(stored).pages())
    assert tuple(page for page, _ in streamed) == whole.pages
    assert tuple(chunk for _, chunks in streamed for chunk in chunks) == whole.chunks


WORDS = st.lists(
    st.sampled_from(["a", "bee", "“c”", '"c"', "d\u00a0e", "d e", "1,000", "fi", "ﬁ", "x-", "-y"]), max_size=5
)


@given(
    evidence=WORDS.map(" ".join), text=WORDS.map(" ".join), around=st.sampled_from(["{}", "  {}\n", "w {} w", "q{}"])
)
def test_looking_once_finds_what_looking_everywhere_finds(evidence: str, text: str, around: str) -> None:
    """Seeking evidence by its words finds it exactly where the retrieval measures do."""
    for looked in (text, around.format(evidence), f"{text} {evidence}"):
        wanted = bool(evidence_ranks((evidence,), [looked]).ranks)
        assert Holding([_question("q", (evidence,))]).of(looked) == ([0] if wanted else [])


def test_the_verb_asks_which_of_several_corpora(stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With several stored corpora one has to be named; an unknown one, or none, is an error that says what to do."""
    from click.testing import CliRunner

    monkeypatch.chdir(tmp_path)
    (tmp_path / ".ragassay").mkdir()
    questions = {"name": "s", "samples": [{"id": "q", "input": "Q?", "target": "T.", "evidence": "port 80"}]}
    (tmp_path / "q.json").write_text(json.dumps(questions), encoding="utf-8")

    def run(*words: str) -> str:
        found = CliRunner().invoke(command, ["beir", "--questions", "q.json", *words])
        return found.output if found.exception is None else str(found.exception)

    assert "holds no such corpus" in run()
    (tmp_path / "corpus").rename(tmp_path / ".ragassay" / "corpus")
    corpora = tmp_path / ".ragassay" / "corpus"
    store_corpus(read_corpus(tmp_path / "docs", make_chunker({"kind": "heading"})), corpora)
    assert "holds 2 corpora; name one with --corpus" in run()
    assert "is not 6 to 64" in run("--corpus", "../../etc")
    assert run("--corpus", stored.name[:8]).startswith("wrote beir\n")
    assert "is there already" in run("--corpus", stored.name[:8])
    assert run("--corpus", stored.name[:8], "--force").startswith("wrote beir\n")
