"""A foreign source is read: its queries, their judgements, and its documents, each of which is taken or left out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from ragassay.question.foreign.joined import MAX_EVIDENCE, context_documents, usable
from ragassay.question.foreign.seen import ForeignDocument, ForeignQuery, Judgement, Seen
from ragassay.run.question_sets.import_files import beir_folder, documents_of, judgements_of, queries_of, samples_of
from ragassay.run.question_sets.import_pages import Pages

Form = Literal["beir", "trec", "ragas"]
ORIGINS: dict[Form, str] = {"beir": "BEIR", "trec": "TREC", "ragas": "ragas"}


class ImportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the person who imports chose."""

    form: Form
    source: Path
    out: Path
    corpus: Path | None = None
    qrels: tuple[Path, ...] = ()
    documents: tuple[Path, ...] = ()
    split: tuple[str, ...] = ()
    field: str | None = None
    answer_field: str | None = None
    answers: Path | None = None
    name: str | None = None
    encoding: str = "utf-8"
    max_evidence: int = MAX_EVIDENCE
    any_context: bool = False
    skip_faulty: bool = False
    force: bool = False


class ReadSource(msgspec.Struct):
    """A source, read; `kept` holds the documents that are judged relevant, by id."""

    queries: list[ForeignQuery]
    judged: dict[str, list[Judgement]] | None
    kept: dict[str, ForeignDocument]
    pages: Pages
    not_relevant: int = 0
    relevant: int = 0
    others: tuple[str, ...] = ()
    documents: bool = False


def read_source(options: ImportOptions, seen: Seen, taken: Pages) -> ReadSource:
    """Return what a source holds; raises `InputError` where a file cannot be read at all."""
    if options.form == "ragas":
        queries = usable(list(samples_of(options.source, seen, encoding=options.encoding)), None, seen)
        read = ReadSource(queries=queries, judged=None, kept={}, pages=taken)
        if options.corpus is not None:
            _take_contexts(queries, seen, taken)
        return read
    path, qrels, documents = options.source, options.qrels, options.documents
    others: tuple[str, ...] = ()
    own = False
    if options.form == "beir":
        folder = beir_folder(options.source, options.split)
        path, qrels, documents, others = folder.queries, folder.qrels, (folder.documents,), folder.others
        own = folder.own and options.field is None and options.answer_field is None
    found = queries_of(path, seen, encoding=options.encoding, field=options.field, answer=options.answer_field, own=own)
    read = ReadSource(queries=list(found), judged=None, kept={}, pages=taken, others=others, documents=bool(documents))
    _judge(read, judgements_of(qrels, seen, encoding=options.encoding) if qrels else None, seen, unjudged=own)
    wanted = {one.document for judgements in (read.judged or {}).values() for one in judgements if one.relevance > 0}
    for document in documents_of(documents, seen, encoding=options.encoding):
        if taken.take(document) and document.id in wanted:
            read.kept[document.id] = document
    _settle(read, seen)
    return read


def _judge(read: ReadSource, judgements: Iterator[Judgement] | None, seen: Seen, *, unjudged: bool) -> None:
    """Sort the judgements by query, and keep the queries that may become questions, with `unjudged` all of them."""
    if judgements is None:
        read.queries = usable(read.queries, None, seen)
        return
    known = {query.id for query in read.queries}
    judged: dict[str, list[Judgement]] = {}
    for one in judgements:
        if one.query not in known:
            seen.leave("judgement", one.place, f"the source has no query {one.query!r}", id_=one.query)
        else:
            judged.setdefault(one.query, []).append(one)
    read.queries = usable(read.queries, None if unjudged else judged, seen)
    kept = {query.id for query in read.queries}
    for query, ones in judged.items():
        for one in ones if query not in kept else ():
            seen.leave("judgement", one.place, "its query is left out", id_=query)
    read.judged = {query: ones for query, ones in judged.items() if query in kept}


def _settle(read: ReadSource, seen: Seen) -> None:
    """Leave out the judgements that name a document which the source has not, and count the others."""
    for ones in (read.judged or {}).values():
        for one in ones:
            if read.documents and one.document not in read.pages:
                reason = f"the source has no document {one.document!r}"
                seen.leave("judgement", one.place, reason, id_=one.query)
            elif one.relevance > 0:
                read.relevant += 1
            else:
                read.not_relevant += 1


def _take_contexts(queries: list[ForeignQuery], seen: Seen, taken: Pages) -> None:
    texts: dict[str, str] = {}
    for query in queries:
        for document in context_documents(query):
            before = texts.setdefault(document.id, document.text)
            if before is not document.text and before == document.text:
                continue
            seen.saw("document")
            taken.take(document)
