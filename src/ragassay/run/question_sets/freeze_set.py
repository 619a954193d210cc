"""A reviewed question set and its documentation become a frozen file and its signed item manifest. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from ragassay import __version__, canon
from ragassay.manifest import Signer
from ragassay.manifest.item_set import MAX_ITEMS, counted, declared, pages_digest, sign_items
from ragassay.manifest.item_statement import (
    EvidenceRef,
    ItemRef,
    LintSummary,
    LintWaived,
    PagesRef,
    PreviousSet,
    QuestionSetPredicate,
    SetRef,
)
from ragassay.manifest.statement import Digest, Evaluator
from ragassay.question import EvidenceFinding, LintFinding, lint, match_evidence
from ragassay.question.freezing import Applied, checked
from ragassay.question.waivers import Waiver
from ragassay.records import Benchmark, Page, Provenance, Question

RULES = f"ragassay {__version__}"
"""What the item manifest calls the version of the lint rules."""


class Docs(msgspec.Struct, frozen=True, kw_only=True):
    """The documentation that a set is frozen over: its pages, what made their texts, and what it is called."""

    pages: Sequence[Page]
    extractor: str
    name: str
    url: str | None = None


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A set that was held against documentation and rules; `problems` are all reasons against freezing it."""

    applied: Applied
    docs: Docs
    evidence: Sequence[EvidenceFinding]
    lint: Sequence[LintFinding]
    problems: tuple[str, ...]

    @property
    def benchmark(self) -> Benchmark:
        """The set as it will be frozen."""
        return self.applied.benchmark


def check_set(applied: Applied, docs: Docs, waivers: Sequence[Waiver]) -> Checked:
    """Look up the evidence, run the rules, and gather every reason against freezing."""
    evidence = match_evidence(applied.benchmark, docs.pages)
    broken = lint(applied.benchmark, docs.pages, evidence, waivers=waivers)
    problems = (*applied.problems, *checked(applied.benchmark, evidence, broken))
    if len(applied.benchmark.questions) > MAX_ITEMS:
        problems += (f"there are more than {MAX_ITEMS} questions; split the set",)
    return Checked(applied=applied, docs=docs, evidence=evidence, lint=broken, problems=problems)


def seal_set(
    found: Checked, version: str, signer: Signer, *, now: int, previous: PreviousSet | None = None
) -> tuple[bytes, bytes]:
    """Return the bytes of the frozen file and of its item manifest; `now` is in Unix seconds.

    Raises `ValueError` where problems stand: `check_set` names them.
    """
    if found.problems:
        raise ValueError("a set with problems cannot be frozen")
    benchmark = msgspec.structs.replace(found.benchmark, version=version)
    items = item_refs(found)
    predicate = QuestionSetPredicate(
        benchmark=SetRef(
            name=benchmark.name,
            version=version,
            items=len(items),
            digest=Digest(sha256=benchmark.digest()),
            item_set=Digest(sha256=benchmark.item_set_digest()),
        ),
        corpus=PagesRef(
            name=found.docs.name,
            url=found.docs.url,
            pages=len(found.docs.pages),
            digest=Digest(sha256=pages_digest(found.docs.pages)),
            extractor=found.docs.extractor,
        ),
        tool=Evaluator(name="ragassay", version=__version__),
        created=now,
        declaration=declared(items, by_signer=len(found.applied.by_signer)),
        lint=_summary(found.lint),
        review=counted(items, found.applied.dropped),
        previous=previous,
        items=items,
        signer=signer.ref(),
    )
    return benchmark.full_form(), sign_items(predicate, signer)


def item_refs(found: Checked) -> tuple[ItemRef, ...]:
    """Return what the manifest says of each question, in the order of the set."""
    pages = {page.id: page for page in found.docs.pages}
    places: dict[str, list[EvidenceFinding]] = {}
    for one in found.evidence:
        places.setdefault(one.question, []).append(one)
    return tuple(
        _item(question, places[question.id], pages, found.applied.at) for question in found.benchmark.questions
    )


def source_pages(found: Checked) -> dict[str, str]:
    """Return, for each question whose evidence was found, the SHA-256 of its page as it was received."""
    pages = {page.id: page.source_sha256 for page in found.docs.pages}
    places: dict[str, str] = {}
    for one in found.evidence:
        if one.page is not None:
            places.setdefault(one.question, pages[one.page])
    return places


def _item(
    question: Question, places: Sequence[EvidenceFinding], pages: Mapping[str, Page], at: Mapping[str, int]
) -> ItemRef:
    given = question.provenance or Provenance()
    first = places[0].page
    assert first is not None
    assert given.author is not None
    assert given.derived_from_system is not None
    return ItemRef(
        id=question.id,
        material=question.material(),
        author=given.author,
        created=given.created,
        tool=given.tool,
        page=first,
        page_sha256=pages[first].source_sha256,
        evidence=tuple(
            EvidenceRef(
                sha256=canon.sha256(text.encode("utf-8")),
                matched="folded" if one.folds else "exact",
                folds=one.folds,
            )
            for text, one in zip(question.evidence, places, strict=True)
        ),
        reviewer=given.reviewed_by,
        reviewed_at=at.get(question.id),
        derived_from_system=given.derived_from_system,
    )


def _summary(broken: Sequence[LintFinding]) -> LintSummary:
    warned = Counter(one.rule for one in broken if one.severity == "warning" and one.waived is None)
    waived = [
        LintWaived(rule=one.rule, questions=one.questions, reason=one.waived)
        for one in broken
        if one.waived is not None
    ]
    return LintSummary(rules=RULES, errors=0, warnings=dict(sorted(warned.items())), waivers=tuple(waived))
