"""What a reader sees of one unit: its texts in the order of reading, with what is found in them marked. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from ragassay.fold import QUOTE, find
from ragassay.manifest.files import BENCHMARK, CONFIG, OUTPUTS, TELEMETRY
from ragassay.publish.reading import Unit
from ragassay.publish.texts import JUDGEMENTS
from ragassay.records import ClaimVerdict
from ragassay.records.publication import Finding, Place
from ragassay.site.evidence import marks
from ragassay.site.safe import one_line
from ragassay.site.segments import VERDICT_CLASS
from ragassay.site.view import STATUS_WORDS

Part: TypeAlias = Literal["question", "reference", "evidence", "answer", "claim", "quote", "reason", "failure", "chunk"]
_ASKED = re.compile(r"samples/\d+/(target|evidence(?:/\d+)?)")
_SAMPLE = re.compile(r"samples/(\d+)(?:/(.+))?", re.DOTALL)
_REPLY = re.compile(r"telemetry/judgeReplies/(\d+)/")


class Span(msgspec.Struct, frozen=True):
    """Characters of a text that are marked: as a `quote` of a claim, as `evidence`, or as a `finding`."""

    start: int
    end: int
    mark: Literal["quote", "evidence", "finding"]
    ref: str = ""
    """Of a quote the claim's number and verdict, of a finding its id."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """One text of a unit; `text` is None where there is none, and `note` says why."""

    part: Part
    label: str
    text: str | None
    spans: tuple[Span, ...] = ()
    note: str = ""
    verdict: str = ""
    central: bool = False


def blocks_of(unit: Unit, findings: Iterable[Finding]) -> list[Block]:
    """Return all texts of a unit in the order of reading, with what is found in them marked."""
    found = _spans(unit, findings)
    output, question = unit.output, unit.question

    def block(part: Part, label: str, text: str | None, field: str, *more: Span, **rest: str | bool) -> Block:
        return Block(part=part, label=label, text=text, spans=(*more, *found.get(field, ())), **rest)  # type: ignore[arg-type]

    said = output.answer
    quotes = _quotes(said, output.claims) if said else []
    blocks = [block("question", "Question", output.question, "question")]
    blocks.append(block("reference", "Reference", question.target, "asked/target"))
    for at, text in enumerate(question.evidence):
        blocks.append(block("evidence", f"Evidence {at + 1}", text, f"asked/evidence/{at}"))
    blocks.append(
        block("answer", "Answer", said, "answer", *quotes, note=STATUS_WORDS.get(output.status, output.status))
    )
    for claim in output.claims:
        blocks.extend(_claim(claim, found))
    if output.failure is not None:
        label = f"Failure: {one_line(output.failure.kind)}"
        blocks.append(block("failure", label, output.failure.message, "failure/message"))
    for chunk in output.chunks:
        label = f"Chunk {chunk.rank}: {one_line(chunk.page or 'page unknown')} · {one_line(chunk.id)}"
        held = [Span(a, b, "evidence") for a, b in marks(question.evidence, chunk.text)] if chunk.text else []
        note = "" if chunk.text is not None else "its text is withheld"
        blocks.append(block("chunk", label, chunk.text, f"chunks/{chunk.rank}/text", *held, note=note))
    return blocks


def _claim(claim: ClaimVerdict, found: Mapping[str, Sequence[Span]]) -> list[Block]:
    where = f"claims/{claim.id}"
    texts: list[tuple[Part, str, str, str]] = [
        ("claim", f"Claim {claim.id}", claim.text, "text"),
        ("quote", f"Quote for claim {claim.id}", claim.quote, "quote"),
        ("reason", f"Reason for claim {claim.id}", claim.reason, "reason"),
    ]
    return [
        Block(
            part=part,
            label=label,
            text=text,
            spans=tuple(found.get(f"{where}/{member}", ())),
            verdict=claim.verdict if part == "claim" else "",
            central=claim.central and part == "claim",
        )
        for part, label, text, member in texts
        if text or part == "claim"
    ]


def _quotes(answer: str, claims: Sequence[ClaimVerdict]) -> list[Span]:
    spans = []
    for claim in claims:
        at = find(claim.quote, answer, QUOTE) if claim.quote.strip() else None
        if at is not None:
            spans.append(Span(at.start, at.end, "quote", f"{claim.id} {VERDICT_CLASS[claim.verdict]}"))
    return spans


def _spans(unit: Unit, findings: Iterable[Finding]) -> dict[str, list[Span]]:
    """Return where findings stand in the texts that are shown, by member; `asked/…` for those of the question."""
    spans: dict[str, list[Span]] = {}
    for finding in findings:
        for place in finding.places:
            field = _shown_field(unit, place)
            if field is not None:
                spans.setdefault(field, []).append(Span(place.start, place.end, "finding", finding.id))
    return spans


def _shown_field(unit: Unit, place: Place) -> str | None:
    if place.item != unit.output.id or place.run != unit.stands[0].run:
        return None
    if place.file == OUTPUTS:
        return place.field
    asked = _ASKED.fullmatch(place.field) if place.file == BENCHMARK else None
    return f"asked/{asked.group(1)}" if asked else None


def touches(finding: Finding, unit: Unit) -> list[Place]:
    """Return the places of a finding at this question in the runs in which the unit stands, each text once."""
    runs = {stand.run for stand in unit.stands}
    here = [place for place in finding.places if place.item == unit.output.id and place.run in runs]
    return list({(place.file, place.field, place.start): place for place in here}.values())


def where(place: Place) -> str:
    """Say in words in which text a place is."""
    if place.file == OUTPUTS:
        kind, _, rest = place.field.partition("/")
        number = rest.partition("/")[0]
        names = {"answer": "answer", "question": "question", "failure": "failure", "chunks": f"chunk {number}"}
        return one_line(names.get(kind, f"claim {number}" if kind == "claims" else place.field))
    if place.file == TELEMETRY:
        reply = _REPLY.match(place.field)
        return f"judge's reply {int(reply.group(1)) + 1}" if reply else f"telemetry, {one_line(place.field)}"
    sample = _SAMPLE.fullmatch(place.field) if place.file == BENCHMARK else None
    if sample:
        asked = place.item or f"number {int(sample.group(1)) + 1}"
        return one_line(", ".join(filter(None, (f"question {asked}", _member(sample.group(2) or "")))))
    if place.file.startswith(JUDGEMENTS):
        return f"judgement, {one_line(place.file.removeprefix(JUDGEMENTS))}"
    return one_line(f"{place.file}, {place.field}" if place.field else place.file)


def _member(path: str) -> str:
    """Return what a member of a question in the question file is called; nothing where it is what is asked."""
    head, _, rest = path.partition("/")
    number = rest.partition("/")[0]
    if head in ("evidence", "claims") and number.isdecimal():
        return f"{head.removesuffix('s')} {int(number) + 1}"
    return {"input": "", "target": "reference"}.get(path, path)


def fixed_place(place: Place) -> str:
    """Say in words where a place is at which nothing can be replaced: in which file, of which question, what of it."""
    named = where(place)
    if place.file == BENCHMARK:
        return f"the question file ({named.removeprefix(f'{BENCHMARK}, ')})"
    if place.file == CONFIG:
        return f"the configuration ({named.removeprefix(f'{CONFIG}, ')})"
    return one_line(f"{named} of question {place.item}" if place.item is not None else named)
