"""A BEIR folder that was exported comes back as the same questions over the same texts."""

from __future__ import annotations

import json
from pathlib import Path

from ragassay.corpus import read_corpus, store_corpus
from ragassay.corpus.stream import StoredCorpus
from ragassay.export.beir import write_beir
from ragassay.export.out import new_folder
from ragassay.question import load_benchmark, match_evidence
from ragassay.records import Benchmark, Question
from ragassay.run.build import make_chunker
from ragassay.run.question_sets.import_read import ImportOptions
from ragassay.run.question_sets.import_set import import_set

PAGES = {
    "net/a b.md": "# Ports\n\nThe server of Acme listens on port 80.\n",
    "c.md": "# Logs\n\nLog files of Acme are kept for seven days.\n",
}
QUESTIONS = (
    ("q 1/x", "Which port does the server of Acme listen on?", "80.", ("The server of Acme listens on port 80.",)),
    ("q-2", "How long does Acme keep logs?", "Seven days.", ("are kept for seven days", "kept for seven days")),
    ("q-3", "What is nowhere?", "Nothing.", ()),
)
BENCHMARK = Benchmark(
    name="sample",
    questions=tuple(
        Question(id=id_, input=asked, target=target, claims=(), evidence=evidence, topic="t")
        for id_, asked, target, evidence in QUESTIONS
    ),
)


def exported(root: Path) -> Path:
    """Export two pages and three questions."""
    for name, text in PAGES.items():
        path = root / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    corpus = read_corpus(root / "docs", make_chunker({"kind": "heading"}))
    with new_folder(root / "beir", force=False) as folder:
        write_beir(StoredCorpus(store_corpus(corpus, root / "corpus")), BENCHMARK, folder, "chunks")
    return root / "beir"


def test_questions_come_back(tmp_path: Path) -> None:
    """Ids, questions, answers, evidence and topics are the same, and the evidence stands in the pages."""
    source, out, pages = exported(tmp_path), tmp_path / "q.json", tmp_path / "pages"
    report = import_set(ImportOptions(form="beir", source=source, out=out, corpus=pages))
    assert report.queries == {"seen": 3, "questions": 3, "worksheet": 0, "leftOut": 0}
    assert report.whole
    assert report.not_taken == {"document.metadata": 2}
    back = load_benchmark(out)
    assert [(q.id, q.input, q.target, q.evidence, q.topic) for q in back.questions] == [
        (*question, "t") for question in QUESTIONS
    ]
    corpus = read_corpus(pages, make_chunker({"kind": "heading"}))
    assert [finding.state for finding in match_evidence(back, corpus.pages)] == ["exact", "exact", "exact", "none"]
    assert [question.page in {page.id for page in corpus.pages} for question in back.questions] == [True, True, False]


def test_an_altered_export_is_a_fault_or_another_set(tmp_path: Path) -> None:
    """A query without what an export writes is a fault; without `export.json` the folder is any BEIR set."""
    source = exported(tmp_path)
    lines = (source / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    broken = json.loads(lines[0])
    del broken["metadata"]["reference"]
    (source / "queries.jsonl").write_text("\n".join([json.dumps(broken), *lines[1:]]) + "\n", encoding="utf-8")
    options = ImportOptions(form="beir", source=source, out=tmp_path / "q.json", skip_faulty=True)
    report = import_set(options)
    assert report.queries == {"seen": 3, "questions": 2, "worksheet": 0, "leftOut": 1}
    (source / "export.json").write_text("{", encoding="utf-8")
    plain = import_set(ImportOptions(form="beir", source=source, out=tmp_path / "r.json"))
    assert plain.queries == {"seen": 3, "questions": 0, "worksheet": 2, "leftOut": 1}
