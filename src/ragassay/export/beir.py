"""A stored corpus with the questions of a board as a BEIR folder: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`.

A document is relevant to a question when its text holds accepted evidence. Ids are escaped as in the run files of
`export.trec`, so that those can be evaluated on these qrels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TextIO, TypeAlias

import msgspec

from ragassay.corpus.stream import StoredCorpus
from ragassay.export.about import about, write_about
from ragassay.export.holding import Holding
from ragassay.export.trec_lines import escaped
from ragassay.records import JSON, Benchmark, Chunk, Page, Question, Record, to_json

Documents: TypeAlias = Literal["chunks", "pages"]


class BeirWritten(Record, frozen=True):
    """What was written; a question is in the qrels, or in exactly one of the three lists of ids."""

    corpus: str
    benchmark: str
    questions: str
    """The digest of the question set."""
    documents: int
    queries: int
    in_qrels: int
    pairs: int
    without_evidence: tuple[str, ...]
    split: tuple[str, ...]
    """Evidence that stands on a page, but whole in no single chunk."""
    absent: tuple[str, ...]
    """Evidence that stands in no document."""


def write_beir(corpus: StoredCorpus, benchmark: Benchmark, folder: Path, documents: Documents) -> BeirWritten:
    """Write the folder's files page by page; raises `InputError` where the stored corpus is damaged."""
    (folder / "qrels").mkdir()
    questions = benchmark.questions
    with _new(folder / "queries.jsonl") as file:
        file.writelines(_line(_query(question)) for question in questions)
    holding = Holding(questions)
    held, paged = [0] * len(questions), [0] * len(questions)
    count = 0
    with _new(folder / "corpus.jsonl") as texts, _new(folder / "qrels" / "test.tsv") as qrels:
        qrels.write("query-id\tcorpus-id\tscore\n")
        for page, chunks in corpus.pages():
            for at in holding.of(page.text):
                paged[at] += 1
            for name, text, document in _documents(page, chunks, documents):
                texts.write(_line(document))
                count += 1
                for at in holding.of(text):
                    held[at] += 1
                    qrels.write(f"{escaped(questions[at].id)}\t{escaped(name)}\t1\n")
    written = BeirWritten(
        corpus=corpus.digest,
        benchmark=f"{benchmark.name} {benchmark.version}",
        questions=benchmark.digest(),
        documents=count,
        queries=len(questions),
        in_qrels=sum(map(bool, held)),
        pairs=sum(held),
        **_unheld(questions, held, paged),
    )
    write_about(folder, about("beir", **{**to_json(written), "as": documents}))
    return written


def _unheld(questions: Sequence[Question], held: Sequence[int], paged: Sequence[int]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {"without_evidence": [], "split": [], "absent": []}
    for question, documents, pages in zip(questions, held, paged, strict=True):
        if not any(text.strip() for text in question.evidence):
            found["without_evidence"].append(question.id)
        elif not documents:
            found["split" if pages else "absent"].append(question.id)
    return {name: tuple(ids) for name, ids in found.items()}


def _documents(page: Page, chunks: Sequence[Chunk], documents: Documents) -> Iterator[tuple[str, str, JSON]]:
    """Yield id, text and BEIR form of each document of a page."""
    if documents == "pages":
        yield page.id, page.text, _document(page.id, page.title, page.text, {"id": page.id})
        return
    for chunk in chunks:
        place = {"id": chunk.id, "page": page.id, "start": chunk.start, "end": chunk.end}
        yield chunk.id, chunk.text, _document(chunk.id, page.title, chunk.text, place)


def _document(name: str, title: str, text: str, metadata: JSON) -> JSON:
    return {"_id": escaped(name), "title": title, "text": text, "metadata": metadata}


def _query(question: Question) -> JSON:
    known = {
        "id": question.id,
        "reference": question.target,
        "evidence": list(question.evidence),
        "topic": question.topic,
        "page": question.page,
    }
    return {"_id": escaped(question.id), "text": question.input, "metadata": known}


def _new(path: Path) -> TextIO:
    return path.open("w", encoding="utf-8", newline="\n")


def _line(value: JSON) -> str:
    return msgspec.json.encode(value).decode("utf-8") + "\n"
