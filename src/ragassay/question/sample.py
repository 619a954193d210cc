"""One written sample becomes one question, or a list of problems."""

from __future__ import annotations

from typing import Any

from ragassay.question.tree import join
from ragassay.question.written import (
    WrittenClaim,
    WrittenProvenance,
    WrittenSample,
    fields,
    name_problem,
    text_problem,
)
from ragassay.records import Claim, Provenance, Question


def read_sample(value: object, place: str, generated_id: str, problems: list[str]) -> Question | None:
    """Return the question that `value` says, or None after adding every problem with its place.

    An item without claims has one: its target, marked unsplit. An absent id is `generated_id`.
    """
    before = len(problems)
    taken = fields(value, WrittenSample, place, problems)
    if taken is None:
        return None
    found = _Found(taken, place, problems)
    identity = taken.get("id")
    identity = generated_id if identity is None else identity
    found.check("id", name_problem(identity))
    for key in ("input", "target", "page", "topic"):
        if isinstance(taken.get(key), str):
            found.check(key, text_problem(taken[key]))
    evidence = _evidence(found)
    claims, unsplit = _claims(found)
    provenance = _provenance(found)
    if len(problems) > before:
        return None
    return Question(
        id=identity,
        input=taken["input"],
        target=taken["target"],
        claims=claims,
        page=taken.get("page"),
        topic=taken.get("topic"),
        evidence=evidence,
        provenance=provenance,
        unsplit=unsplit,
    )


class _Found:
    """The converted keys of one sample, and where to complain."""

    def __init__(self, taken: dict[str, Any], place: str, problems: list[str]) -> None:
        self.taken = taken
        self.place = place
        self.problems = problems

    def check(self, key: str, problem: str | None) -> None:
        if problem:
            self.problems.append(f"{join(self.place, key)}: {problem}")


def _evidence(found: _Found) -> tuple[str, ...]:
    written = found.taken.get("evidence")
    if written is None:
        return ()
    alternatives: tuple[str, ...] = (written,) if isinstance(written, str) else written
    for index, text in enumerate(alternatives):
        key = "evidence" if isinstance(written, str) else f"evidence[{index}]"
        found.check(key, text_problem(text, what="; leave it out where there is none"))
        found.check(key, "stands twice" if text in alternatives[:index] else None)
    return alternatives


def _claims(found: _Found) -> tuple[tuple[Claim, ...], bool]:
    written, unsplit, target = found.taken.get("claims"), found.taken.get("unsplit"), found.taken.get("target")
    if not written:
        whole = Claim(id=1, text=target if isinstance(target, str) else "", central=True)
        found.check("unsplit", "is false, but there are no claims" if unsplit is False else None)
        return (whole,), True
    claims = [_claim(value, index, found) for index, value in enumerate(written)]
    if all(isinstance(value, dict) and value.get("central") is False for value in written):
        found.check("claims", "none is central; set `central` to true on the one that answers the question")
    kept = tuple(claim for claim in claims if claim is not None)
    if len(kept) < len(claims):
        return (), False
    if unsplit and kept != (Claim(id=1, text=target or "", central=True),):
        found.check("unsplit", "is true, which says that the one claim is the target itself; here it is not")
    return kept, bool(unsplit)


def _claim(value: object, index: int, found: _Found) -> Claim | None:
    place = join(found.place, f"claims[{index}]")
    before = len(found.problems)
    taken = fields(value, WrittenClaim, place, found.problems)
    if taken is None:
        return None
    inner = _Found(taken, place, found.problems)
    if isinstance(taken.get("text"), str):
        inner.check("text", text_problem(taken["text"]))
    if taken.get("id") is not None and taken["id"] != index + 1:
        inner.check("id", f"is {taken['id']}; ids count the claims from 1 in their order, so this one is {index + 1}")
    for at, literals in enumerate(taken.get("must", ())):
        inner.check(f"must[{at}]", "is an empty list, which no answer could hit" if not literals else None)
        for i, literal in enumerate(literals):
            inner.check(f"must[{at}][{i}]", text_problem(literal))
    for i, literal in enumerate(taken.get("must_not", ())):
        inner.check(f"must_not[{i}]", text_problem(literal))
    if len(found.problems) > before:
        return None
    return Claim(**{**taken, "id": index + 1})


def _provenance(found: _Found) -> Provenance | None:
    written = found.taken.get("provenance")
    if written is None:
        return None
    taken = fields(written, WrittenProvenance, join(found.place, "provenance"), found.problems)
    return None if taken is None else Provenance(**taken)
