"""Where questions come from: author, day, reviewer, and whether a system under test had a hand in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from ragassay.question.rules.finding import LintFinding, broken
from ragassay.question.rules.material import Material
from ragassay.records import Provenance


def origin_is_told(material: Material) -> Iterator[LintFinding]:
    """Yield what the provenance leaves open or says against the set; one finding where it is so of all questions."""
    told = [(question.id, question.provenance or Provenance()) for question in material.benchmark.questions]
    for rule, message, breaks in (
        ("author-missing", "no author is named; write one in `provenance.author`", _nobody),
        ("derived-unknown", "`provenance.derivedFromSystem` is not given; write true or false", _unknown),
        ("derived-from-system", "made from what a system under test returned, which favours that system", _derived),
        ("self-reviewed", "author and reviewer are one; let somebody else review", _self_reviewed),
        ("created-no-date", "`provenance.created` is no date such as 2026-11-30", _no_date),
    ):
        yield from each_or_all(rule, [name for name, origin in told if breaks(origin)], material, message)
    unsplit = [question.id for question in material.benchmark.questions if question.unsplit]
    yield from each_or_all("unsplit", unsplit, material, "no claims are given; `ragassay claims` splits the target")


def each_or_all(rule: str, names: Sequence[str], material: Material, message: str) -> Iterator[LintFinding]:
    """Yield one finding per question, or a single one where a rule is broken by every question of three or more."""
    total = len(material.benchmark.questions)
    if len(names) == total > 2:
        yield broken(rule, tuple(names), message)
    else:
        yield from (broken(rule, name, message) for name in names)


def _nobody(origin: Provenance) -> bool:
    return not (origin.author or "").strip()


def _unknown(origin: Provenance) -> bool:
    return origin.derived_from_system is None


def _derived(origin: Provenance) -> bool:
    return origin.derived_from_system is True


def _self_reviewed(origin: Provenance) -> bool:
    author, reviewer = (" ".join((name or "").split()).casefold() for name in (origin.author, origin.reviewed_by))
    return bool(author) and author == reviewer


def _no_date(origin: Provenance) -> bool:
    if origin.created is None:
        return False
    try:
        datetime.fromisoformat(origin.created)
    except ValueError:
        return True
    return False
