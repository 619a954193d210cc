"""The plan of a draft: which pages and passages questions are to rest on, drawn by a seed and by nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Literal

import msgspec

from ragassay import canon
from ragassay.occurrence import said
from ragassay.question.draft.passages import LACKS, Lack, Span, lacking, pieces
from ragassay.question.draft.sections import allot, rank, sections
from ragassay.records import Page, Record

FORMAT = "ragassay-draft/1"
PASSAGES = 2
"""Passages of a page that are drawn."""
PAGES = 4
"""Pages of a place: the one that was picked, and further ones of its section where that yields no question."""

PassedOver = Lack | Literal["repeated", "avoided"]
"""Why a page is not picked: `repeated` where each passage stands elsewhere too, `avoided` where it is used already."""


_LACKS: tuple[PassedOver, ...] = (*LACKS, "repeated")


class PlannedPassage(Record, frozen=True):
    """A span of a page's text in characters, and the SHA-256 of its UTF-8 bytes."""

    start: int
    end: int
    sha256: str


class PlannedPage(Record, frozen=True):
    """A page with its text's SHA-256, and the passages that were drawn from it, the first to be tried first."""

    page: str
    sha256: str
    passages: tuple[PlannedPassage, ...]


class Slot(Record, frozen=True):
    """One question to be: its number from 1, its section, and the pages to be tried in order."""

    number: int
    section: str
    pages: tuple[PlannedPage, ...]


class Section(Record, frozen=True):
    """How many pages a section has, how many can be picked, and how many were."""

    section: str
    pages: int
    usable: int
    planned: int


class Plan(Record, frozen=True):
    """Everything that was drawn; the same corpus, seed, count and avoided pages give the same plan."""

    seed: int
    pages: int
    corpus: str
    """SHA-256 over the ids and text digests of all pages."""
    avoid: tuple[str, ...]
    passed_over: dict[PassedOver, tuple[str, ...]]
    sections: tuple[Section, ...]
    slots: tuple[Slot, ...]
    rounds: int = 1
    """How often places that got no question were given a further page."""
    name: str | None = None
    """What the set was last told to be called; no part of what is drawn."""
    format: str = FORMAT


class Everywhere:
    """All pages as one text, to see whether a passage stands anywhere a second time."""

    def __init__(self, pages: Sequence[Page]) -> None:
        texts = [said(page.text).encode("utf-8", "surrogatepass") for page in pages]
        ends = list(accumulate(len(text) + 1 for text in texts))
        self._text = b"\0".join(texts)
        self._begins = {page.id: end - len(text) - 1 for page, text, end in zip(pages, texts, ends, strict=True)}

    def repeats(self, page: str, passage: str) -> bool:
        """Return whether a passage of `page` stands in a second place of the corpus, but for its presentation."""
        wanted = said(passage).encode("utf-8", "surrogatepass")
        own = self._text.find(wanted, self._begins[page])
        return self._text.find(wanted, own + 1) >= 0 or self._text.find(wanted, 0, own + len(wanted) - 1) >= 0


def pages_digest(pages: Iterable[Page]) -> str:
    """Return the SHA-256 over the ids and text digests of all pages, in the order of the ids."""
    return canon.digest(sorted([page.id, page.sha256] for page in pages))


def make_plan(pages: Sequence[Page], count: int, seed: int, avoid: Collection[str] = ()) -> Plan:
    """Return the plan for `count` questions, or for as many as there are pages; `avoid` names pages never picked."""
    empty = Plan(
        seed=seed,
        pages=len(pages),
        corpus=pages_digest(pages),
        avoid=tuple(sorted(avoid)),
        passed_over={},
        sections=(),
        slots=(),
    )
    return extended(empty, pages, count)


def extended(
    plan: Plan, pages: Sequence[Page], count: int, avoid: Collection[str] = (), tried: Collection[str] = ()
) -> Plan:
    """Return `plan` with places for `count` questions in all; the first page of each that it has stays.

    New places use no first page of another, none of `tried` and none of `avoid`. Further pages that were not tried may
    be picked for them, and are then no longer further pages of a place before.
    """
    further = {page.page for slot in plan.slots for page in slot.pages}
    avoided = {*plan.avoid, *avoid}
    own = {slot.pages[0].page for slot in plan.slots}
    usable, passed_over = _usable(pages, plan.seed, avoided, own)
    used = own | {*tried}
    by_section = sections(page.id for page in pages)
    free = {name: [one for one in ids if one in usable and one not in used] for name, ids in by_section.items()}
    sizes = {name: len(ids) for name, ids in free.items()}
    shares = allot(sizes, max(0, count - len(plan.slots)), plan.seed)
    new: list[Slot] = []
    for name, share in shares.items():
        drawn = sorted(free[name], key=lambda page: rank(plan.seed, "page", page))
        rest = [page for page in drawn[share:] if page not in further]
        picked = [usable[page] for page in (*drawn[:share], *rest)]
        new += _slots(name, picked, share, len(plan.slots) + len(new))
    first = {slot.pages[0].page for slot in new}
    slots = (*(_without(slot, first) for slot in plan.slots), *new)
    return msgspec.structs.replace(
        plan,
        avoid=tuple(sorted(avoided)),
        passed_over={reason: tuple(ids) for reason, ids in sorted(passed_over.items())},
        sections=tuple(_counted(name, ids, usable, slots) for name, ids in by_section.items()),
        slots=slots,
    )


def unfitting(plan: Plan, pages: Sequence[Page]) -> list[str]:
    """Return where a plan does not fit the pages that it was made from, or itself; empty for every plan made here."""
    texts = {page.id: page for page in pages}
    problems = [] if plan.rounds >= 1 else [f"rounds is {plan.rounds}"]
    used: set[str] = set()
    for number, slot in enumerate(plan.slots, 1):
        if slot.number != number:
            problems.append(f"place {number} has the number {slot.number}")
        if not slot.pages:
            problems.append(f"place {number} has no page")
        for planned in slot.pages:
            page = texts.get(planned.page)
            if planned.page in used:
                problems.append(f"place {number}: the page {planned.page!r} is that of another place")
            elif page is None or page.sha256 != planned.sha256:
                problems.append(f"place {number}: the corpus has no such page {planned.page!r}")
            elif not planned.passages or not all(_stands(page.text, passage) for passage in planned.passages):
                problems.append(f"place {number}: the passages of {planned.page!r} do not stand there")
            used.add(planned.page)
    return problems


def _stands(text: str, passage: PlannedPassage) -> bool:
    held = text[passage.start : passage.end] if 0 <= passage.start < passage.end <= len(text) else ""
    return held != "" and canon.sha256(held.encode("utf-8")) == passage.sha256


def _without(slot: Slot, pages: Collection[str]) -> Slot:
    return msgspec.structs.replace(slot, pages=tuple(page for page in slot.pages if page.page not in pages))


def _counted(name: str, ids: Sequence[str], usable: Collection[str], slots: Sequence[Slot]) -> Section:
    planned = sum(slot.section == name for slot in slots)
    return Section(section=name, pages=len(ids), usable=sum(one in usable for one in ids), planned=planned)


def _slots(section: str, drawn: Sequence[Drawing], share: int, before: int) -> Iterator[Slot]:
    """Yield the places of a section: place i gets page i, then every `share`-th of those that nobody picked."""
    for index in range(share):
        pages = tuple(drawing.planned() for drawing in drawn[index::share][:PAGES])
        yield Slot(number=before + index + 1, section=section, pages=pages)


def _usable(
    pages: Sequence[Page], seed: int, avoid: Collection[str], own: Collection[str]
) -> tuple[dict[str, Drawing], dict[PassedOver, list[str]]]:
    """Return the pages that can be picked, and the others by why not; `own` are those that a place has already."""
    everywhere = Everywhere(pages)
    usable: dict[str, Drawing] = {}
    passed_over: dict[PassedOver, list[str]] = {}
    for page in sorted(pages, key=lambda page: page.id):
        drawing = Drawing(page, seed, everywhere)
        if page.id in own:
            usable[page.id] = drawing
        elif page.id in avoid:
            passed_over.setdefault("avoided", []).append(page.id)
        elif drawing.more():
            usable[page.id] = drawing
        else:
            passed_over.setdefault(drawing.lack, []).append(page.id)
    return usable, passed_over


class Drawing:
    """Draws the passages of a page in the seed's order, no further than is asked for."""

    def __init__(self, page: Page, seed: int, everywhere: Everywhere) -> None:
        self.lack: PassedOver = "empty"
        self._page = page
        self._seed = seed
        self._everywhere = everywhere
        self._drawn: list[PlannedPassage] = []
        self._waiting = self._ordered()

    def more(self) -> bool:
        """Draw one more passage; False when there is none, and `lack` says what the best one lacks."""
        for text, span in self._waiting:
            lack: PassedOver | None = lacking(text)
            if lack is None and self._everywhere.repeats(self._page.id, text):
                lack = "repeated"
            if lack is None:
                digest = canon.sha256(text.encode("utf-8"))
                self._drawn.append(PlannedPassage(start=span.start, end=span.end, sha256=digest))
                return True
            self.lack = max(self.lack, lack, key=_LACKS.index)
        return False

    def planned(self) -> PlannedPage:
        """Return the page with up to `PASSAGES` passages."""
        while len(self._drawn) < PASSAGES and self.more():
            pass
        return PlannedPage(page=self._page.id, sha256=self._page.sha256, passages=tuple(self._drawn))

    def _ordered(self) -> Iterator[tuple[str, Span]]:
        found = [(self._page.text[span.start : span.end], span) for span in pieces(self._page)]
        yield from sorted(found, key=lambda one: (rank(self._seed, "passage", self._page.id, one[0]), one[1]))
