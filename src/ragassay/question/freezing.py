"""A question file with its reviews becomes the set that is frozen, or every reason why it cannot be. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from ragassay.question.evidence import EvidenceFinding
from ragassay.question.printable import plural, printable
from ragassay.question.reviews import ReviewLine, reviewed, standing
from ragassay.question.rules import LintFinding
from ragassay.question.rules.waived import waiver_of
from ragassay.question.written import name_problem
from ragassay.records import Benchmark, Provenance, Question

MAX_IDS = 20
"""How many questions of one reason are named; the rest is counted."""
LOST = "evidence-missing"
"""The rule that no waiver lets pass: what is frozen stands on evidence that is there."""

_BARE = re.compile(r'[^\s"#\\]\S*')
_ESCAPED, _BACKSLASHED = re.compile(r'(["\\])'), r"\\\1"


class Standing(msgspec.Struct, frozen=True):
    """Who reviewed a question as it now is, and when (Unix seconds, None where the file alone says who)."""

    material: str
    reviewer: str
    at: int | None


class Signing(msgspec.Struct, frozen=True, kw_only=True):
    """What the person who freezes a set says of it."""

    author: str | None = None
    """Wrote every question of which the file names no author."""
    not_derived: bool = False
    """Declares that no question was derived from a system under test of which the file does not say it."""
    drop_rejected: bool = False
    """Leaves out what a reviewer rejected."""


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    """A set with its reviews and provenance, ready to be checked, and what stands against freezing it so far.

    `at` holds the times of reviews by question id, `by_signer` the ids whose derivation the signer alone declares,
    `carried` those whose review in the version before holds, `cleared` those that were reviewed there in other words.
    """

    benchmark: Benchmark
    at: Mapping[str, int]
    by_signer: tuple[str, ...]
    dropped: tuple[str, ...]
    carried: tuple[str, ...]
    cleared: tuple[str, ...]
    unreviewed: tuple[str, ...]
    problems: tuple[str, ...]


def applied(
    benchmark: Benchmark,
    lines: Sequence[ReviewLine],
    signing: Signing,
    *,
    before: Mapping[str, Standing] | None = None,
) -> Applied:
    """Return `benchmark` as its reviewers left it, with what the signer adds.

    `before` holds, for every question of the version before that was reviewed, by whom: where the question is the same
    the reviewer stands, and where it is another the name is taken out. Raises `InputError` where edits collide.
    """
    found = reviewed(benchmark, lines)
    stands = _standing(found.benchmark, lines, before or {})
    stale = [name for name in found.stale if name not in stands]
    cleared = tuple(
        question.id
        for question in found.benchmark.questions
        if question.id not in stands and _outdated(question, (before or {}).get(question.id))
    )
    questions = tuple(_completed(question, stands, cleared, signing) for question in found.benchmark.questions)
    silent = [q.id for q in found.benchmark.questions if (q.provenance or Provenance()).derived_from_system is None]
    return Applied(
        benchmark=msgspec.structs.replace(benchmark, questions=questions),
        at={name: one.at for name, one in stands.items() if one.at is not None},
        by_signer=tuple(silent) if signing.not_derived else (),
        dropped=found.rejected,
        carried=tuple(name for name, one in stands.items() if before is not None and before.get(name) is one),
        cleared=cleared,
        unreviewed=tuple(question.id for question in questions if _of(question).reviewed_by is None),
        problems=_against(questions, signing, silent=silent, stale=stale, rejected=found.rejected),
    )


def _against(
    questions: Sequence[Question],
    signing: Signing,
    *,
    silent: Sequence[str],
    stale: Sequence[str],
    rejected: Sequence[str],
) -> tuple[str, ...]:
    """Return every reason against freezing `questions` that authors, origins and reviews give."""
    problems = [
        _reason("nobody is named as the author of", [q.id for q in questions if not _of(q).author], "--author NAME"),
        _reason(
            "it is not known whether a system under test was the source of",
            [] if signing.not_derived else silent,
            "--not-derived declares that none was, under your key",
        ),
        _reason("the review is of other words than", stale, "review again: `questions review`"),
        _reason("a reviewer rejected", [] if signing.drop_rejected else rejected, "--drop-rejected leaves them out"),
        None if questions else "no question is left",
        None if signing.author is None else _name(signing.author),
    ]
    return tuple(problem for problem in problems if problem)


def checked(benchmark: Benchmark, evidence: Sequence[EvidenceFinding], broken: Sequence[LintFinding]) -> list[str]:
    """Return every reason against freezing that evidence and rules give; a waived finding is none."""
    lost = list(dict.fromkeys(one.question for one in evidence if one.state == "missing"))
    bare = [question.id for question in benchmark.questions if not question.evidence]
    problems = [
        _reason(
            "an evidence text stands nowhere in the corpus, of", lost, "correct it, or the corpus; no waiver helps"
        ),
        _reason("there is no evidence for", bare, "add the passage that answers"),
        *(
            f"{one.rule}: {', '.join(map(printable, one.questions))}: {printable(one.message)}"
            for one in broken
            if one.fails and one.rule != LOST
        ),
    ]
    return [problem for problem in problems if problem]


def waiver_line(rule: str, questions: Sequence[str], reason: str) -> str:
    """Return the waiver of a finding as a line of a file of waivers."""
    of = waiver_of(rule, questions, reason).questions
    names = [name if _BARE.fullmatch(name) else f'"{_ESCAPED.sub(_BACKSLASHED, name)}"' for name in of]
    return f"{rule} {' '.join(names)}  # {' '.join(reason.split())}"


def _standing(benchmark: Benchmark, lines: Sequence[ReviewLine], before: Mapping[str, Standing]) -> dict[str, Standing]:
    """Return whose review stands: the last decision about these very words, else that of the version before."""
    decided = standing(lines)
    found: dict[str, Standing] = {}
    for question in benchmark.questions:
        now, line, old = question.material(), decided.get(question.id), before.get(question.id)
        if line is not None and now in (line.edited.material() if line.edited else None, line.material):
            found[question.id] = Standing(now, line.reviewer, line.at)
        elif old is not None and old.material == now:
            found[question.id] = old
    return found


def _outdated(question: Question, old: Standing | None) -> bool:
    """Tell whether a question was reviewed in other words, and names nobody but who reviewed those."""
    if old is None or old.material == question.material():
        return False
    return _of(question).reviewed_by in (None, old.reviewer)


def _completed(
    question: Question, stands: Mapping[str, Standing], cleared: Sequence[str], signing: Signing
) -> Question:
    given = _of(question)
    reviewer = stands[question.id].reviewer if question.id in stands else given.reviewed_by
    derived = given.derived_from_system
    return msgspec.structs.replace(
        question,
        provenance=msgspec.structs.replace(
            given,
            author=given.author or signing.author,
            reviewed_by=None if question.id in cleared else reviewer,
            derived_from_system=False if derived is None and signing.not_derived else derived,
        ),
    )


def _of(question: Question) -> Provenance:
    return question.provenance or Provenance()


def _name(author: str) -> str | None:
    problem = name_problem(author)
    return None if problem is None else f"the author's name {problem}; give another with --author"


def _reason(what: str, ids: Sequence[str], how: str) -> str | None:
    """Return one reason with the questions that it is about, or None where it is about none."""
    if not ids:
        return None
    shown = ", ".join(map(printable, ids[:MAX_IDS])) + (f" and {len(ids) - MAX_IDS} more" if len(ids) > MAX_IDS else "")
    return f"{what} {plural(len(ids), 'question')}: {shown} ({how})"
