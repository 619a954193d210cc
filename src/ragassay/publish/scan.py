"""Looks through every text that would become public; each distinct text once, however often it stands there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from ragassay import canon
from ragassay.manifest.files import OUTPUTS
from ragassay.publish.detect.error_text import NAME, is_error, is_repeated_error
from ragassay.publish.detect.exempt import RULES
from ragassay.publish.detect.hit import KINDS, Detector, Hit, NotScanned
from ragassay.publish.texts import PublicText
from ragassay.records.publication import Finding, FindingKind, Place, ScanSummary

MAX_TEXT = 64 << 20
"""The most characters of one text; the file of a run has no longer one."""
MAX_FINDINGS = 1_000
"""The most findings of one kind that are listed; `more` says how many there are beyond."""
CONTEXT = 40
"""How many characters before and after a finding are shown with it."""

_ORDER = {kind: place for place, kind in enumerate(KINDS)}


class ScanResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a scan found: `findings` by kind, then by where they stand first; `summary` with nothing decided yet.

    `more` counts the findings of a kind beyond those listed: they cannot be decided, so nothing may be published.
    `left_out` counts the distinct texts that each documented rule left out, by the rule's name.
    """

    findings: tuple[Finding, ...]
    summary: ScanSummary
    more: Mapping[FindingKind, int]
    left_out: Mapping[str, int]


def scan(texts: Iterable[PublicText], detectors: Sequence[Detector]) -> ScanResult:
    """Return every finding in `texts`, the same for the same texts in the same order.

    Raises `NotScanned` for a text that is longer than any may be.
    """
    places = _by_text(texts)
    found: dict[FindingKind, dict[str, _Found]] = {kind: {} for kind in KINDS}
    left_out: dict[str, set[str]] = defaultdict(set)
    for text, where in places.items():
        for hit in _hits(text, where, detectors):
            words = text[hit.start : hit.end]
            if hit.exempt is not None:
                left_out[hit.exempt].add(words)
                continue
            known = found[hit.kind].setdefault(words, _Found(hit=hit, text=text))
            known.spans.append((where, hit.start, hit.end))
    listed = [(kind, words, one) for kind in KINDS for words, one in list(found[kind].items())[:MAX_FINDINGS]]
    more = {kind: len(ones) - MAX_FINDINGS for kind, ones in found.items() if len(ones) > MAX_FINDINGS}
    return ScanResult(
        findings=tuple(_finding(kind, words, one) for kind, words, one in listed),
        summary=_summary(detectors, texts=len(places), findings=sum(map(len, found.values()))),
        more=more,
        left_out={rule: len(left_out[rule]) for rule in RULES if rule in left_out},
    )


def not_detected(detectors: Sequence[Detector]) -> tuple[str, ...]:
    """Return the names of the kinds that none of `detectors` can find."""
    can = {"error_text"}.union(*(detector.kinds for detector in detectors))
    return tuple(words for kind, words in KINDS.items() if kind not in can)


def finding_id(kind: FindingKind, text: str) -> str:
    """Return the id of a finding: the first 16 hex digits of the SHA-256 over the canonical {kind, text}."""
    return canon.digest({"kind": kind, "text": text})[:16]


class _Found(msgspec.Struct, kw_only=True):
    """A finding in the making: where it stands first, and (places of the text, start, end) for each."""

    hit: Hit
    text: str
    spans: list[tuple[list[PublicText], int, int]] = msgspec.field(default_factory=list)


def _by_text(texts: Iterable[PublicText]) -> dict[str, list[PublicText]]:
    places: dict[str, list[PublicText]] = {}
    for one in texts:
        if len(one.text) > MAX_TEXT:
            place = f"{one.file} of run {one.run}, {one.item or 'no question'}, {one.field or 'whole file'}"
            raise NotScanned(f"{place}: {len(one.text)} characters are more than the {MAX_TEXT} that are scanned")
        places.setdefault(one.text, []).append(one)
    return places


def _hits(text: str, where: list[PublicText], detectors: Sequence[Detector]) -> Iterator[Hit]:
    """Yield the hits in one text in the order of their places; one within another of its kind is part of that."""
    hits = {(hit.kind, hit.start, hit.end): hit for detector in reversed(detectors) for hit in detector.find(text)}
    reach: dict[FindingKind, int] = {}
    for hit in sorted(hits.values(), key=lambda hit: (hit.start, -hit.end, _ORDER[hit.kind])):
        if hit.exempt is None and reach.get(hit.kind, -1) >= hit.end:
            continue
        if hit.exempt is None:
            reach[hit.kind] = hit.end
        yield hit
    questions = [one.item for one in where if one.file == OUTPUTS and one.field == "answer" and one.item is not None]
    if questions and (is_error(text) or is_repeated_error(text, questions)):
        yield Hit(kind="error_text", start=0, end=len(text), detector=NAME)


def _finding(kind: FindingKind, words: str, one: _Found) -> Finding:
    start, end = one.hit.start, one.hit.end
    return Finding(
        id=finding_id(kind, words),
        kind=kind,
        detector=one.hit.detector,
        text=words,
        before=one.text[max(0, start - CONTEXT) : start],
        after=one.text[end : end + CONTEXT],
        places=tuple(
            _place(public, first, last)
            for where, first, last in one.spans
            for public in where
            if kind != "error_text" or (public.file == OUTPUTS and public.field == "answer")
        ),
    )


def _place(public: PublicText, start: int, end: int) -> Place:
    return Place(file=public.file, run=public.run, item=public.item, field=public.field, start=start, end=end)


def _summary(detectors: Sequence[Detector], *, texts: int, findings: int) -> ScanSummary:
    names = (*(detector.name for detector in detectors), NAME)
    return ScanSummary(
        version=canon.digest({"detectors": list(names), "rules": [list(rule) for rule in RULES.items()]}),
        detectors=names,
        not_detected=not_detected(detectors),
        texts=texts,
        findings=findings,
        allowed=0,
        redacted=0,
        withheld=0,
    )
