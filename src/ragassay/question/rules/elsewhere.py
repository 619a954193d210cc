"""Does another page answer too: the central literals there, beside most words of the question."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragassay.literals import hits
from ragassay.question.evidence import Place
from ragassay.question.printable import plural
from ragassay.question.rules.finding import LintFinding, broken
from ragassay.question.rules.material import Material
from ragassay.question.rules.words import content, share
from ragassay.records import Page

WINDOW = 300
"""Characters on either side of a literal in which the question's words are looked for."""
HELD = 0.75
"""Share of the question's words that a passage holds at least to answer it."""
FEWEST_WORDS = 4
"""Words that a question has at least, where finding them is remarkable."""
MAX_HITS = 40
"""Places of one literal that are looked at on one page."""


def answered_elsewhere(material: Material) -> Iterator[LintFinding]:
    """Yield questions whose answer seems to stand on a page besides that of their evidence, with the places."""
    own: dict[str, set[str]] = {}
    for finding in material.findings:
        pages = {finding.page, finding.declared, *(place.page for place in finding.others)}
        own.setdefault(finding.question, set()).update(page for page in pages if page)
    for question in material.benchmark.questions:
        lists = [lists for claim in question.claims if claim.central for lists in claim.must]
        asked = content(question.input)
        if not lists or len(set(asked)) < FEWEST_WORDS or not own.get(question.id):
            continue
        places = [
            place
            for page in material.pages or ()
            if page.id not in own[question.id] and (place := _passage(page, lists, asked, material))
        ]
        if places:
            where = plural(len(places), "other page")
            message = f"{where} may answer it too; read there, and ask more closely where it is so"
            yield broken("answered-elsewhere", question.id, message, *places)


def _passage(page: Page, lists: list[tuple[str, ...]], asked: tuple[str, ...], material: Material) -> Place | None:
    """Return the first passage of a page that holds a hit of every list and enough of the question's words."""
    folded = material.folded[page.id]
    if len(folded) != len(page.text) or not all(any(one.casefold() in folded for one in some) for some in lists):
        return None
    wanted = set(asked)
    if not _holds(folded, wanted):
        return None
    longest = max(lists, key=lambda some: min(map(len, some)))
    for literal in longest:
        for at in _starts(literal.casefold(), folded):
            start, end = max(0, at - WINDOW), min(len(folded), at + len(literal) + WINDOW)
            passage = page.text[start:end]
            if not _holds(folded[start:end], wanted) or share(asked, content(passage)) < HELD:
                continue
            if all(any(hits(one, passage) for one in some) for some in lists):
                return Place(page=page.id, start=start, end=end)
    return None


def _holds(text: str, words: set[str]) -> bool:
    """Return whether enough of the stems stand somewhere in a text without case: quick, and never too strict."""
    return sum(word in text for word in words) >= HELD * len(words)


def _starts(wanted: str, text: str) -> Iterator[int]:
    for count, found in enumerate(re.finditer(re.escape(wanted), text)):
        if count == MAX_HITS:
            return
        yield found.start()
