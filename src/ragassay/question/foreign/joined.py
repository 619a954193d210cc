"""Queries, judgements and documents become questions, and rows of a worksheet where a question lacks its answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from ragassay import canon
from ragassay.question.foreign.answers import Answer, Row, answer_of
from ragassay.question.foreign.pages import page_name, page_text, passage
from ragassay.question.foreign.seen import ForeignDocument, ForeignQuery, Judgement, Seen
from ragassay.question.written import name_problem, text_problem
from ragassay.records import Claim, Provenance, Question, Record
from ragassay.score.reach import count_tokens

What = Literal["target", "evidence", "claims"]
_LONE = re.compile("[\ud800-\udfff]")
MAX_EVIDENCE = 256
"""Tokens of a page up to which a whole document is evidence, where nobody says otherwise: what a chunk may have."""
NEXT: dict[What, str] = {
    "target": "fill in its `target` on the worksheet and import again with --answers",
    "evidence": "copy the passage that answers it into `evidence`, word for word",
    "claims": "ragassay claims freeze",
}


class Lack(Record, frozen=True):
    """What one query lacks to be a whole question, and why."""

    what: What
    why: str

    @property
    def next(self) -> str:
        """What to do about it."""
        return NEXT[self.what]


class Joined(Record, frozen=True):
    """One query: a question where it has an answer, else a row of the worksheet; and all that it lacks."""

    id: str
    place: str
    question: Question | None
    row: Row | None
    lacks: tuple[Lack, ...]


class Rules(Record, frozen=True):
    """How queries become questions."""

    origin: str
    """What made the set, where a query does not say it: `BEIR`, `TREC`, `ragas`."""
    max_evidence: int = MAX_EVIDENCE
    """Tokens of a page up to which the whole document is evidence: a longer one would stand in no chunk."""
    any_context: bool = False
    """Whether each of several contexts of one sample is evidence that suffices alone."""
    judged: bool = False
    """Whether there are judgements, without one of which a query is left out."""
    documents: bool = False
    """Whether there are documents."""
    context_pages: bool = False
    """Whether each context stands on a page of its own."""


def usable(queries: Sequence[ForeignQuery], judged: Mapping[str, object] | None, seen: Seen) -> list[ForeignQuery]:
    """Return the queries that may become questions; the others are left out with the reason."""
    ids: dict[str, str] = {}
    inputs: dict[str, str] = {}
    kept: list[ForeignQuery] = []
    for query in queries:
        text = query.input.strip()
        if (problem := name_problem(query.id)) or (_LONE.search(query.id) and (problem := "holds half a character")):
            seen.leave("query", query.place, f"its id {problem}", id_=query.id, fault=True)
        elif query.id in ids:
            seen.leave(
                "query", query.place, f"the id {query.id!r} stands already at {ids[query.id]}", id_=query.id, fault=True
            )
        elif problem := text_problem(query.input):
            seen.leave("query", query.place, f"its text {problem}", id_=query.id, fault=True)
        elif judged is not None and query.id not in judged:
            seen.leave("query", query.place, "is not judged in the qrels that were read", id_=query.id)
        elif text in inputs:
            seen.leave("query", query.place, f"asks word for word what {inputs[text]} asks", id_=query.id)
        else:
            kept.append(query)
            inputs[text] = query.place
        ids.setdefault(query.id, query.place)
    return kept


def relevant(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Return the judgements that say relevant, the most relevant first, equal ones in the order of the file."""
    return sorted((one for one in judgements if one.relevance > 0), key=lambda one: -one.relevance)


def joined(
    queries: Sequence[ForeignQuery],
    judged: Mapping[str, Sequence[Judgement]],
    documents: Mapping[str, ForeignDocument],
    answers: dict[str, Answer],
    rules: Rules,
) -> Iterator[Joined]:
    """Yield each query as a question, or as a row of the worksheet."""
    for query in queries:
        found = [documents[one.document] for one in judged.get(query.id, ()) if one.document in documents]
        written = answer_of(answers, query.id)
        target = written.target if written else query.target
        evidence, lacks = _evidence(query, found, written, rules)
        if target is None:
            why = next(iter(query.lacks), f"{rules.origin} has no reference answer to it")
            page = _page(query, found, rules) or ""
            text = passage(found[0]) if found else next(iter(query.contexts), "")
            row = Row(id=query.id, input=query.input, page=page, document=text)
            yield Joined(
                id=query.id,
                place=query.place,
                question=None,
                row=row,
                lacks=(Lack(what="target", why=why), *lacks),
            )
            continue
        question = Question(
            id=query.name or query.id,
            input=query.input,
            target=target,
            claims=(Claim(id=1, text=target, central=True),),
            page=_page(query, found, rules),
            topic=query.topic,
            evidence=evidence,
            provenance=Provenance(tool=query.tool or f"imported from {rules.origin}"),
            unsplit=True,
        )
        claims = Lack(what="claims", why="its answer counts as one claim, which nobody split or reviewed")
        yield Joined(id=query.id, place=query.place, question=question, row=None, lacks=(*lacks, claims))


def context_documents(query: ForeignQuery) -> list[ForeignDocument]:
    """Return a document per context of a sample, under the id that the source gives it, else under its digest."""
    ids = query.context_ids if len(query.context_ids) == len(query.contexts) else ()
    named = ids or [f"context-{canon.sha256(text.encode('utf-8', 'replace'))[:16]}" for text in query.contexts]
    return [
        ForeignDocument(id=id_, text=text, place=query.place) for id_, text in zip(named, query.contexts, strict=True)
    ]


def _page(query: ForeignQuery, found: Sequence[ForeignDocument], rules: Rules) -> str | None:
    pages = found or (context_documents(query) if rules.context_pages else [])
    return page_name(pages[0].id) if pages else None


def _evidence(
    query: ForeignQuery, found: Sequence[ForeignDocument], written: Answer | None, rules: Rules
) -> tuple[tuple[str, ...], tuple[Lack, ...]]:
    if written is not None and written.evidence is not None:
        return (written.evidence,), ()
    if len(query.contexts) > 1 and not (rules.any_context or query.suffices):
        why = f"{len(query.contexts)} contexts, of which the source does not say that each suffices alone"
        return (), (Lack(what="evidence", why=f"{why}; --any-context takes each as such"),)
    if query.contexts:
        return query.contexts, ()
    short = [one for one in found if count_tokens(page_text(one)) <= rules.max_evidence]
    texts = tuple(dict.fromkeys(passage(one) for one in short))
    if texts and len(short) < len(found):
        why = f"{len(found) - len(short)} of {len(found)} documents judged relevant are too long to be evidence"
        return texts, (Lack(what="evidence", why=f"{why}: what is delivered from them counts as not reached"),)
    if texts:
        return texts, ()
    return (), (Lack(what="evidence", why=_no_evidence(query, found, rules)),)


def _no_evidence(query: ForeignQuery, found: Sequence[ForeignDocument], rules: Rules) -> str:
    if found:
        least = min(count_tokens(page_text(one)) for one in found)
        return (
            f"the judged evidence is a whole document of {least:,} tokens or more, which no chunk of "
            f"{rules.max_evidence} holds"
        )
    if query.lacks and not rules.judged:
        return query.lacks[0]
    if rules.judged:
        return "no document is judged relevant to it" if rules.documents else "there are judgements and no documents"
    return f"{rules.origin} names no document or context for it"
