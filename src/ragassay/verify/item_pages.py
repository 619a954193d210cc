"""The items of a frozen set against documentation: are pages and evidence there as they were signed? Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.manifest.item_set import pages_digest
from ragassay.manifest.item_statement import ItemRef, QuestionSetPredicate
from ragassay.occurrence import Searched
from ragassay.records import Benchmark, Page
from ragassay.verify.report import Findings

CORPUS = "the documentation"


def check_pages(
    predicate: QuestionSetPredicate, benchmark: Benchmark | None, pages: Sequence[Page], findings: Findings
) -> None:
    """Check the digest over all pages, each item's page, and that its evidence stands in the text as was signed.

    Without `benchmark` there is no evidence text to be looked for.
    """
    if (len(pages), pages_digest(pages)) != (predicate.corpus.pages, predicate.corpus.digest.sha256):
        message = f"its {len(pages)} pages are not the {predicate.corpus.pages} over which the set was frozen"
        findings.add("ITEM_EVIDENCE", message, CORPUS)
    by_id = {page.id: page for page in pages}
    for item in predicate.items:
        page = by_id.get(item.page)
        if page is None:
            findings.add("ITEM_EVIDENCE", f"there is no page {item.page[:200]!r}", _place(item))
        elif page.source_sha256 != item.page_sha256:
            findings.add("ITEM_EVIDENCE", f"the page {item.page[:200]!r} is not the one that was signed", _place(item))
    findings.made("pages")
    if benchmark is None:
        findings.not_made("evidence in the documentation", "the question file cannot be read")
    else:
        _check_evidence(predicate, benchmark, pages, findings)


def _check_evidence(
    predicate: QuestionSetPredicate, benchmark: Benchmark, pages: Sequence[Page], findings: Findings
) -> None:
    """Look every evidence text up as it was when the set was frozen: on the question's own page first."""
    searched = {page.id: Searched(page.text) for page in pages}
    asked = {question.id: question for question in benchmark.questions}
    for item in predicate.items:
        question = asked.get(item.id)
        if question is None:
            continue  # that it is missing is told elsewhere
        order = sorted(searched, key=lambda page, own=question.page: page != own)  # type: ignore[misc]
        for index, (text, signed) in enumerate(zip(question.evidence, item.evidence, strict=False)):
            found = next(((page, match.folds) for page in order if (match := searched[page].find(text).first)), None)
            if found is None:
                findings.add("ITEM_EVIDENCE", "an evidence text stands nowhere in the documentation", _place(item))
            elif found[1] != signed.folds:
                message = f"an evidence text stands there {_word(found[1])}, and {_word(signed.folds)} was signed"
                findings.add("ITEM_EVIDENCE", message, _place(item))
            elif index == 0 and found[0] != item.page:
                findings.add("ITEM_EVIDENCE", f"its evidence stands on the page {found[0][:200]!r}", _place(item))
    findings.made("evidence in the documentation")


def _word(folds: tuple[str, ...]) -> str:
    return f"under {', '.join(folds)}" if folds else "exactly"


def _place(item: ItemRef) -> str:
    return f"question {item.id[:200]}"
