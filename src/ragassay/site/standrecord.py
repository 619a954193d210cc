"""What a board says of runs beside their numbers: seen and published by whom, taken back, reviewed, changed."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ragassay.records import Record
from ragassay.site.exact import Ratio
from ragassay.site.questionrecord import ReviewedBy

Attestation: TypeAlias = Literal["witnessed", "announced", "unannounced"]
"""`announced`: before its first answer, in a log; `witnessed`: and seen by the witnesses that the policy asks for."""


class ReadBy(Record, frozen=True):
    """A person who read all outputs of a run and signed for it; `at` in Unix seconds."""

    reader: str
    at: int
    items: int


class Omitted(Record, frozen=True):
    """A judgement of a published run that was not published with it, and why."""

    judgement: str
    reason: str


class Published(Record, frozen=True):
    """How one run was published: when, by whose key, who read it, and what the scan could not look for.

    `findings` = `allowed` + `redacted` + `withheld`; `texts_withheld` counts texts that are missing or shortened.
    """

    at: int
    signer: str
    readers: tuple[ReadBy, ...]
    detectors: tuple[str, ...]
    not_detected: tuple[str, ...]
    texts: int
    findings: int
    allowed: int
    redacted: int
    withheld: int
    texts_withheld: int
    left_out: tuple[Omitted, ...] = ()


class PublishedBoard(Record, frozen=True):
    """What was published on a public board, over all its runs; times in Unix seconds, None where there is no run."""

    runs: int
    first: int | None
    last: int | None
    signers: tuple[str, ...]
    readers: tuple[str, ...]
    not_detected: tuple[str, ...]
    texts_withheld: int


class TakenBack(Record, frozen=True):
    """Why a run counts no more and since when (Unix seconds, None where unknown)."""

    reason: str
    at: int | None
    withdrawn: bool = False
    """True for a publication whose texts are served no more."""


class VoidedRun(Record, frozen=True):
    """A run that its log takes back: shown as void, counted nowhere, never deleted.

    `table` is the same for runs that may stand in one table, but for their corpus. What is not known of a publication
    that was withdrawn is None, and `ended` 0.
    """

    id: str
    row: str
    key: str | None
    stack: str | None
    table: str | None
    pass_k: int
    ended: int
    score: Ratio | None
    taken_back: TakenBack


class Change(Record, frozen=True):
    """One member of `measure` that differs between two rows of a name; values as JSON text, None where absent."""

    field: str
    before: str | None
    after: str | None


class Review(Record, frozen=True):
    """Who reviewed the questions: `reviewed` + `unreviewed` + `not_recorded` = `questions`.

    `not_recorded` counts questions without provenance; `derived` those that were made from a system under test, and
    `derived_unknown` those of which nobody says. `by_author` of the reviewed ones name their author as the reviewer.
    """

    questions: int
    reviewed: int
    unreviewed: int
    not_recorded: int
    derived: int
    derived_unknown: int
    by_author: int = 0
    reviewers: tuple[ReviewedBy, ...] = ()
    """Whoever reviewed, by the number of questions."""
