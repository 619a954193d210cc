"""Worksheets of a draft on disk: one per place, the next passage's where a person found one unsuitable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest.log_disk import read_file
from ragassay.question.draft.checks import Proposed, Site, asked_words, drafted
from ragassay.question.draft.plan import PAGES, Slot
from ragassay.question.draft.sheet import Shown, empty_sheet, read_sheet, sheet_name
from ragassay.question.printable import plural
from ragassay.records import Question
from ragassay.run.question_sets.draft_folder import MAX_BYTES
from ragassay.run.question_sets.draft_state import Candidate, candidates
from ragassay.run.workspace import write_bytes


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A question from a worksheet that passed every check, and the SHA-256 of the worksheet's bytes."""

    candidate: Candidate
    question: Question
    sheet: str


class Sheets(msgspec.Struct, kw_only=True):
    """What the worksheets hold: questions, and by file name what is half filled in; counts of all others."""

    written: int = 0
    filled: list[Written] = []
    half: dict[str, tuple[str, ...]] = {}
    """By worksheet, which of question, target and evidence are still empty."""
    empty: int = 0
    unsuitable: int = 0
    exhausted: list[int] = []
    """Places of which a person found every passage unsuitable."""


def take_sheets(folder: Path, slots: Sequence[Slot], site: Site, taken: Mapping[str, str]) -> Sheets:
    """Write the worksheets that are missing, and return what was written on the others.

    Raises `InputError` with every problem of all of them; nothing is taken then, and no worksheet is changed.
    """
    sheets = Sheets(filled=[], half={}, exhausted=[])
    problems: list[str] = []
    asked = dict(taken)
    missing: list[tuple[Path, bytes]] = []
    for slot in slots:
        missing += _take_place(folder, slot, site, asked, sheets, problems)
    if problems:
        raise InputError(
            f"the worksheets in {folder} have {plural(len(problems), 'problem')}; nothing was taken from them", problems
        )
    for path, data in missing:
        write_bytes(path, data)
        sheets.written += 1
        sheets.empty += 1
    return sheets


def sheet_pages(folder: Path, slots: Sequence[Slot]) -> set[str]:
    """Return the pages that a worksheet was written for."""
    return {
        candidate.page.page
        for slot in slots
        for number, candidate in enumerate(candidates(slot, PAGES), 1)
        if (folder / sheet_name(slot.number, number, candidate.page.page)).exists()
    }


def _take_place(
    folder: Path, slot: Slot, site: Site, asked: dict[str, str], sheets: Sheets, problems: list[str]
) -> list[tuple[Path, bytes]]:
    """Take what the worksheets of one place hold; return the one that is to be written, if any."""
    for number, candidate in enumerate(candidates(slot, PAGES), 1):
        path = folder / sheet_name(slot.number, number, candidate.page.page)
        shown = _shown(candidate, site)
        if (data := read_file(path, MAX_BYTES)) is None:
            return [(path, empty_sheet(shown))]
        own: list[str] = []
        read = read_sheet(data, shown, own)
        if read is not None and read.state == "unsuitable":
            sheets.unsuitable += 1
            continue
        if read is not None and read.state == "half":
            sheets.half[path.name] = read.lacking
        elif read is not None and read.question is not None:
            question, refused = _checked(read.question, candidate, site, asked)
            own += refused
            sheets.filled.append(Written(candidate=candidate, question=question, sheet=canon.sha256(data)))
        elif read is not None:
            sheets.empty += 1
        problems += [f"{path.name}: {problem}" for problem in own]
        return []
    sheets.exhausted.append(slot.number)
    return []


def _checked(question: Question, candidate: Candidate, site: Site, asked: dict[str, str]) -> tuple[Question, list[str]]:
    """Return the question as it is kept, and everything that code has against it."""
    claims = () if question.unsplit else question.claims
    evidence = question.evidence[0]
    proposed = Proposed(question=question.input, target=question.target, evidence=evidence, claims=claims)
    found, refusals = drafted(proposed, candidate.page, candidate.passage, site)
    problems = [f"{one.rule}: {one.message}" for one in refusals]
    if other := asked.get(asked_words(question.input)):
        problems.append(f"question-repeated: {other} asks the same")
    asked[asked_words(question.input)] = f"the worksheet about {candidate.page.page!r}"
    return found, problems


def _shown(candidate: Candidate, site: Site) -> Shown:
    page, passage = site.by_id[candidate.page.page], candidate.passage
    return Shown(
        page=page.id,
        title=page.title,
        start=passage.start,
        end=passage.end,
        passage=page.text[passage.start : passage.end],
    )
