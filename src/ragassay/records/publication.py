"""What stands between a run and the public: what a scan found, what was decided, who read it, what was published."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from ragassay.records.values import Record

FindingKind: TypeAlias = Literal[
    "email", "phone", "card", "iban", "ip", "national_id", "person", "place", "health", "secret", "error_text"
]
Action: TypeAlias = Literal["allow", "redact", "withhold"]
"""Publish the text as it is; replace the found words; leave the whole text out."""


class Place(Record, frozen=True):
    """Where a text stands: the file of the run, the question (None in files without rows), and the member in it.

    `run` is None for what is not of one run. `start` and `end` are offsets in characters of the text of that member.
    """

    file: str
    run: str | None
    item: str | None
    field: str
    start: int
    end: int


class Finding(Record, frozen=True):
    """One text of one kind, wherever it stands; `before` and `after` are its surroundings at the first place.

    `id` is the first 16 hex digits of the SHA-256 over the canonical {kind, text}; `detector` says what found it.
    """

    id: str
    kind: FindingKind
    detector: str
    text: str
    before: str
    after: str
    places: tuple[Place, ...]


class Decision(Record, frozen=True):
    """One line of `review/decisions.jsonl`: what is done with a finding at all its places, why, by whom and when.

    `at` is in Unix seconds. The last decision of a finding holds.
    """

    finding: str
    kind: FindingKind
    action: Action
    reason: str
    by: str
    at: int


class Seen(Record, frozen=True):
    """One line of `review/seen.jsonl`: a reader was shown one unit of reading to its end.

    `unit` is the SHA-256 of the canonical {evidence, reference, row}, the row without run and pass: what is equal in
    several passes is one unit. `undone` takes back what stood before.
    """

    reader: str
    unit: str
    at: int
    undone: bool = False


class Reached(Record, frozen=True):
    """One line of `review/pages.jsonl`: the end of one page of a unit that has several was on a reader's screen.

    `form` is the SHA-256 over the texts of that page as they were sent: a page in another form was not reached.
    `undone` takes back what stood before.
    """

    reader: str
    unit: str
    page: int
    form: str
    at: int
    undone: bool = False


class SignOff(Record, frozen=True):
    """One line of `review/signoffs.jsonl`: a reader has read all outputs of a run and says that they may be published.

    `manifest` is the SHA-256 of the bytes of `run.dsse.json`, `items` the number of rows, `shown` the SHA-256 over the
    units in the rows' order, one hex digest per line, `decisions` that over the decisions that touch the run. One that
    was given before a decision changed no longer holds.
    """

    run: str
    manifest: str
    reader: str
    at: int
    items: int
    shown: str
    decisions: str


class ScanSummary(Record, frozen=True):
    """What a scan looked for and could not look for, over how many texts, and what came of its findings.

    `version` names the detectors and their versions in one digest; `findings` = allowed + redacted + withheld.
    """

    version: str
    detectors: tuple[str, ...]
    not_detected: tuple[str, ...]
    texts: int
    findings: int
    allowed: int
    redacted: int
    withheld: int


class LeftOut(Record, frozen=True):
    """A judgement of a published run that is not published with it, and why."""

    judgement: str
    reason: str


class Publication(Record, frozen=True):
    """`publication.json`: that a run was published, after which scan, and who had read it.

    `manifest` is the SHA-256 of the bytes of `run.dsse.json`, `redaction` that of `redaction.dsse.json`, None where
    nothing was withheld. `judgements` are the published ones by the name of their folder. `at` is in Unix seconds,
    `signer` the fingerprint of the run's key.
    """

    run: str
    manifest: str
    row: str
    pass_: int = msgspec.field(name="pass")
    at: int
    signer: str
    scan: ScanSummary
    sign_offs: tuple[SignOff, ...]
    redaction: str | None = None
    judgements: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
