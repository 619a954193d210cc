"""What `questions check` and `questions lint` print, as text for a terminal and as plain values for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ragassay.question.evidence import EvidenceFinding, Place
from ragassay.question.printable import plural, printable
from ragassay.question.repairs import Repair
from ragassay.question.rules import RULES, LintFinding
from ragassay.records import to_json

MAX_PLACES = 5
"""How many places of one finding are printed; the rest is counted."""

MAX_NAMED = 2
"""Questions of one finding that are named; a finding of more is about the whole set."""


def evidence_counts(findings: Sequence[EvidenceFinding]) -> dict[str, int]:
    """Return how many findings are exact, folded, missing and none."""
    counts = Counter(finding.state for finding in findings)
    return {state: counts.get(state, 0) for state in ("exact", "folded", "missing", "none")}


def evidence_lines(findings: Sequence[EvidenceFinding], pages: int) -> Iterator[str]:
    """Yield the counts, then one line per evidence text: state, question, place, folds, other places."""
    counts = evidence_counts(findings)
    texts = len(findings) - counts["none"]
    yield (
        f"{plural(texts, 'evidence text')} in {plural(pages, 'page')}: {counts['exact']} exact, "
        f"{counts['folded']} folded, {counts['missing']} missing; {plural(counts['none'], 'question')} without evidence"
    )
    width = max((len(printable(finding.question)) for finding in findings), default=0)
    for finding in findings:
        if finding.state != "none":
            yield f"  {finding.state:<7}  {printable(finding.question):<{width}}  {_where(finding)}"


def lint_lines(findings: Sequence[LintFinding], checked: str) -> Iterator[str]:
    """Yield one line per finding with its places below, errors first, waived ones last, and the counts.

    `checked` says of what.
    """
    standing = [finding for finding in findings if finding.waived is None]
    errors = [finding for finding in standing if finding.severity == "error"]
    warnings = [finding for finding in standing if finding.severity == "warning"]
    waived = [finding for finding in findings if finding.waived is not None]
    for finding in (*errors, *warnings, *waived):
        yield f"  {_how(finding)}  {finding.rule}  {_of(finding.questions)}: {printable(finding.message)}"
        if finding.waived is not None:
            yield f"      waived: {printable(finding.waived)}"
        yield from (f"      at {span(place)}" for place in finding.places[:MAX_PLACES])
        if len(finding.places) > MAX_PLACES:
            yield f"      and at {len(finding.places) - MAX_PLACES} more places"
    more = f", {len(waived)} waived" if waived else ""
    yield f"{checked}: {plural(len(errors), 'error')}, {plural(len(warnings), 'warning')}{more}"


def rule_lines() -> Iterator[str]:
    """Yield one line per rule: name, severity, what it needs, what is wrong."""
    width = max(len(rule.name) for rule in RULES)
    for rule in RULES:
        needs = f" (needs {'a corpus' if rule.needs == 'corpus' else 'an embedder'})" if rule.needs else ""
        mild = f"; a warning {rule.mild}" if rule.mild else ""
        yield f"{rule.name:<{width}}  {rule.severity:<7}  {rule.meaning}{mild}{needs}"


def repair_lines(repairs: Sequence[Repair]) -> Iterator[str]:
    """Yield one line per text that was mended, and how many there are."""
    for repair in repairs:
        yield f"  fixed  {repair.key}  {printable(repair.question)}: {printable(repair.after)}"
    if repairs:
        yield f"{plural(len(repairs), 'text')} mended in the file; its digest has changed"


def to_values(findings: Sequence[EvidenceFinding] | Sequence[LintFinding] | Sequence[Repair]) -> list[Any]:
    """Return the findings as plain values."""
    return [to_json(finding) for finding in findings]


def span(place: Place) -> str:
    """Return a place as page, half-open span and folds."""
    folds = f" (folds: {', '.join(place.folds)})" if place.folds else ""
    return f"{printable(place.page)} [{place.start}, {place.end}){folds}"


def _how(finding: LintFinding) -> str:
    return finding.severity if finding.waived is None else "waived"


def _of(questions: Sequence[str]) -> str:
    if len(questions) > MAX_NAMED:
        return f"all {len(questions)} questions"
    return ", ".join(map(printable, questions))


def _where(finding: EvidenceFinding) -> str:
    alternative = f", alternative {finding.alternative}" if finding.alternative else ""
    if finding.page is None or finding.start is None or finding.end is None:
        declared = f"declared on {printable(finding.declared)}" if finding.declared else "no page declared"
        return f"{declared}{alternative}"
    here = span(Place(page=finding.page, start=finding.start, end=finding.end, folds=finding.folds))
    again = f", {finding.repeats} more on this page" if finding.repeats else ""
    elsewhere = f", also on {plural(len(finding.others), 'other page')}" if finding.others else ""
    return f"{here}{alternative}{again}{elsewhere}"
