"""Waivers meet findings: what is waived keeps its reason, and a waiver that is wrong or idle is a finding itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ragassay.question.rules.finding import LintFinding, broken
from ragassay.question.rules.material import Material
from ragassay.question.rules.table import BY_NAME
from ragassay.question.waivers import ALL, Waiver

NOT_WAIVED = ("waiver-wrong", "waiver-unused")
"""Rules about the waivers themselves."""
SET_WIDE = 3
"""From so many questions on, a finding is about the whole set and waived by `*`."""


def waiver_of(rule: str, questions: Sequence[str], reason: str) -> Waiver:
    """Return the waiver of a finding about these questions: `*` where the finding is about the whole set."""
    return Waiver(rule=rule, questions=_named(questions), reason=reason)


def _named(questions: Sequence[str]) -> tuple[str, ...]:
    return tuple(questions) if len(questions) < SET_WIDE else (ALL,)


def waive(findings: Sequence[LintFinding], waivers: Sequence[Waiver], material: Material) -> list[LintFinding]:
    """Return the findings, those that a sound waiver names with its reason, and what is wrong with the waivers."""
    wrong = {waiver: message for waiver in waivers if (message := _wrong(waiver, material))}
    reasons = {(w.rule, frozenset(w.questions)): w.reason for w in waivers if w not in wrong}
    used: set[tuple[str, frozenset[str]]] = set()
    made: list[LintFinding] = []
    for finding in findings:
        key = finding.rule, frozenset(_named(finding.questions))
        used.add(key)
        made.append(msgspec.structs.replace(finding, waived=reasons.get(key)))
    made += [broken("waiver-wrong", waiver.questions, _line(waiver, message)) for waiver, message in wrong.items()]
    return made + list(_idle([waiver for waiver in waivers if waiver not in wrong], used, material))


def _idle(
    waivers: Sequence[Waiver], used: set[tuple[str, frozenset[str]]], material: Material
) -> Iterator[LintFinding]:
    for waiver in waivers:
        needs = BY_NAME[waiver.rule].needs
        unknown = (needs == "corpus" and not material.has_corpus) or (needs == "embedder" and material.similar is None)
        if not unknown and (waiver.rule, frozenset(waiver.questions)) not in used:
            message = f"no finding {waiver.rule} of {', '.join(waiver.questions)}; take the waiver out"
            yield broken("waiver-unused", waiver.questions, _line(waiver, message))


def _wrong(waiver: Waiver, material: Material) -> str | None:
    if waiver.rule not in BY_NAME or waiver.rule in NOT_WAIVED:
        return f"there is no rule {waiver.rule!r} to waive; --list-rules names them"
    unknown = [name for name in waiver.questions if name != ALL and name not in material.questions]
    if unknown or (ALL in waiver.questions and len(waiver.questions) > 1):
        return f"there is no question {', '.join(map(repr, unknown or [ALL]))}"
    if not waiver.reason.strip():
        return "has no reason; write one behind `#`"
    return None


def _line(waiver: Waiver, message: str) -> str:
    return message if waiver.line is None else f"line {waiver.line} of the waivers: {message}"
