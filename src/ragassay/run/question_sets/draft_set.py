"""Drafted questions become the question file, or join one that is still a draft; nothing is replaced. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragassay.question.draft.checks import asked_words
from ragassay.question.draft.plan import Plan, Slot
from ragassay.records import Benchmark, Provenance, Question
from ragassay.run.question_sets.draft_folder import AskedModel, DraftedItem, Passage
from ragassay.run.question_sets.draft_state import Candidate, Item

_NUMBERED = re.compile(r"q-([0-9]{1,9})")


class New(msgspec.Struct, frozen=True, kw_only=True):
    """A question that is to join the file, and the record of where it is from, both without an id yet."""

    question: Question
    item: DraftedItem


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of every new question: who drafts, the date, and topics by the beginning of a page's id."""

    author: str | None
    created: str
    topics: Mapping[str, str]


def taken_words(*files: Benchmark | None) -> dict[str, str]:
    """Return what the questions of these files ask, without case and typography, each with its name."""
    return {
        asked_words(question.input): f"the question {question.id!r}"
        for file in files
        if file is not None
        for question in file.questions
    }


def open_slots(plan: Plan, before: Benchmark | None, items: Iterable[DraftedItem]) -> list[Slot]:
    """Return the places whose question does not stand in the file, nor stood there: none of their pages is used."""
    if before is None:
        return list(plan.slots)
    done = {item.slot for item in items}
    used = {question.page for question in before.questions}
    return [slot for slot in plan.slots if slot.number not in done and not used & {page.page for page in slot.pages}]


def by_model(item: Item, models: Mapping[str, AskedModel], about: About) -> New:
    """Return a question that a model drafted, with model and prompt in its provenance."""
    taken = item.replies[-1]
    asked = models.get(taken.settings)
    also = "" if asked is None or not asked.same_as else f" (also {', '.join(asked.same_as)})"
    tool = f"draft: {taken.model}{also}; prompt {taken.prompt}"
    record = _record(
        item.candidate,
        model=taken.model,
        settings=taken.settings,
        prompt=taken.prompt,
        attempts=item.attempts,
        replies=tuple(reply.digest() for reply in item.replies),
    )
    return New(question=_described(item.question, item.candidate, tool, about), item=record)


def by_hand(question: Question, candidate: Candidate, sheet: str, about: About) -> New:
    """Return a question that a person wrote on the worksheet of this SHA-256."""
    record = _record(candidate, model=None, settings=None, prompt=None, attempts=None, replies=(sheet,))
    return New(question=_described(question, candidate, None, about), item=record)


def joined(before: Benchmark | None, new: Sequence[New], plan: Plan, name: str) -> tuple[Benchmark, list[DraftedItem]]:
    """Return the question file with `new` behind what stands in it, and the records with the ids that they got."""
    start = 1 + max((_number(question.id) for question in before.questions), default=0) if before else 1
    ids = [f"q-{number:03d}" for number in range(start, start + len(new))]
    named = [msgspec.structs.replace(one.question, id=id_) for one, id_ in zip(new, ids, strict=True)]
    records = [msgspec.structs.replace(one.item, question=id_) for one, id_ in zip(new, ids, strict=True)]
    if before is not None:
        return msgspec.structs.replace(before, questions=(*before.questions, *named)), records
    corpus = {"pages": plan.pages, "sha256": plan.corpus}
    return Benchmark(name=name, version="0", corpus=corpus, questions=tuple(named)), records


def _number(identity: str) -> int:
    found = _NUMBERED.fullmatch(identity)
    return int(found[1]) if found else 0


def _described(question: Question, candidate: Candidate, tool: str | None, about: About) -> Question:
    provenance = Provenance(
        author=about.author, tool=tool, created=about.created, reviewed_by=None, derived_from_system=False
    )
    topic = _topic(candidate, about.topics)
    return msgspec.structs.replace(question, page=candidate.page.page, topic=topic, provenance=provenance)


def _topic(candidate: Candidate, topics: Mapping[str, str]) -> str | None:
    """Return the topic of the longest beginning that fits the page, else its section, which may have no name."""
    fitting = [start for start in topics if candidate.page.page.startswith(start)]
    return topics[max(fitting, key=len)] if fitting else candidate.section.strip("/") or None


def _record(
    candidate: Candidate,
    *,
    model: str | None,
    settings: str | None,
    prompt: str | None,
    attempts: int | None,
    replies: tuple[str, ...],
) -> DraftedItem:
    passage = candidate.passage
    return DraftedItem(
        question="",
        slot=candidate.slot,
        section=candidate.section,
        page=candidate.page.page,
        page_sha256=candidate.page.sha256,
        passage=Passage(start=passage.start, end=passage.end, sha256=passage.sha256),
        model=model,
        settings=settings,
        prompt=prompt,
        attempts=attempts,
        replies=replies,
    )
