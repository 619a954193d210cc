"""Rules that a question set must keep so that its scores mean something; each finding names its places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ragassay.question.evidence import EvidenceFinding
from ragassay.question.rules.alike import all_differ
from ragassay.question.rules.answers import answers
from ragassay.question.rules.asked import asks_well
from ragassay.question.rules.claimed import claims_fit, literals_hold
from ragassay.question.rules.elsewhere import answered_elsewhere
from ragassay.question.rules.evidenced import evidence_is_sound, evidence_stands
from ragassay.question.rules.finding import LintFinding, Similar
from ragassay.question.rules.material import Material
from ragassay.question.rules.names import subject
from ragassay.question.rules.origin import origin_is_told
from ragassay.question.rules.passages import passages_apart
from ragassay.question.rules.table import BY_NAME, RULES, Rule
from ragassay.question.rules.targets import target_is_sound
from ragassay.question.rules.waived import waive
from ragassay.question.rules.wording import stands_alone, tidy
from ragassay.question.waivers import Waiver
from ragassay.records import Benchmark, Page

__all__ = ["BY_NAME", "RULES", "LintFinding", "Rule", "Similar", "lint", "literals_hold"]

FAMILIES: tuple[Callable[[Material], Iterator[LintFinding]], ...] = (
    stands_alone,
    subject,
    asks_well,
    tidy,
    target_is_sound,
    answers,
    claims_fit,
    evidence_is_sound,
    all_differ,
    origin_is_told,
    evidence_stands,
    passages_apart,
    answered_elsewhere,
)
"""What looks at a question set; those that need a corpus yield nothing without one."""


def lint(
    benchmark: Benchmark,
    pages: Sequence[Page] | None = None,
    findings: Sequence[EvidenceFinding] | None = None,
    *,
    waivers: Sequence[Waiver] = (),
    similar: Similar | None = None,
) -> list[LintFinding]:
    """Return every broken rule, those that need no corpus first; without `pages` and `findings` only those.

    `findings` saves the search of the evidence where it was done before; the rules that read pages need `pages` all the
    same. `waivers` let findings stand with a reason, `similar` measures which questions mean the same.
    """
    material = Material(benchmark, pages, findings, similar)
    found = [finding for family in FAMILIES for finding in family(material)]
    return waive(found, waivers, material)
