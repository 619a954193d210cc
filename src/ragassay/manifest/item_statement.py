"""The signed statements about question sets: what a frozen set holds, and that a half of one is held out."""

from __future__ import annotations

from typing import Literal

import msgspec

from ragassay.manifest.statement import Digest, Evaluator, SignerRef, Subject
from ragassay.records import Record

DECLARATION = "no item was derived from a system under test"
"""What a frozen set declares; it holds only where every item says so."""


class EvidenceRef(Record, frozen=True):
    """One evidence text of an item by digest, and how it stands in its page: exactly, or under the named folds."""

    sha256: str
    matched: Literal["exact", "folded"]
    folds: tuple[str, ...] = ()


class ItemRef(Record, frozen=True):
    """One question of a frozen set: what it is by digest, who made it from which page, and who reviewed it.

    `material` is the SHA-256 of the question without its provenance, `page` where the first evidence text stands and
    `page_sha256` the SHA-256 of that page as it was received. `created` is what the author wrote. `reviewed_at` is in
    Unix seconds, None where the file names a reviewer and no review is kept that says when.
    """

    id: str
    material: str
    author: str
    created: str | None
    tool: str | None
    page: str
    page_sha256: str = msgspec.field(name="pageSha256")
    evidence: tuple[EvidenceRef, ...]
    reviewer: str | None
    reviewed_at: int | None
    derived_from_system: bool


class SetRef(Record, frozen=True):
    """The question set: `digest` of our full form, which is that of the frozen file; `item_set` of the published one.

    `items` counts its questions.
    """

    name: str
    version: str
    items: int
    digest: Digest
    item_set: Digest


class PagesRef(Record, frozen=True):
    """The documentation: `digest` over the ids and SHA-256s of the pages' texts, whatever splits them later.

    `extractor` made the texts; `name` and `url` are what the set calls its source.
    """

    name: str
    url: str | None
    pages: int
    digest: Digest
    extractor: str


class Declaration(Record, frozen=True):
    """That no item was derived from a system under test, where `holds`; how many were, and of how many nobody knows.

    `by_signer` counts the items of which the file did not say it, so that it is the signer's word alone.
    """

    text: str
    holds: bool
    derived: int
    unknown: int
    by_signer: int


class LintWaived(Record, frozen=True):
    """A finding that was let stand, and why."""

    rule: str
    questions: tuple[str, ...]
    reason: str


class LintSummary(Record, frozen=True):
    """What the rules found: no error but waived ones, warnings by rule. `rules` names the version of the rules."""

    rules: str
    errors: int
    warnings: dict[str, int]
    waivers: tuple[LintWaived, ...]


class ReviewCount(Record, frozen=True):
    """How many items a person reviewed and how many nobody did; `dropped` are the ids that reviewers rejected."""

    reviewed: int
    unreviewed: int
    dropped: tuple[str, ...] = ()


class PreviousSet(Record, frozen=True):
    """The version before: its number, the digest of its file, and the SHA-256 of the bytes of its envelope."""

    version: str
    digest: Digest
    envelope: Digest


class QuestionSetPredicate(Record, frozen=True):
    """What a frozen question set claims of itself; `created` is in Unix seconds, as the signer claims."""

    benchmark: SetRef
    corpus: PagesRef
    tool: Evaluator
    created: int
    declaration: Declaration
    lint: LintSummary
    review: ReviewCount
    previous: PreviousSet | None
    items: tuple[ItemRef, ...]
    signer: SignerRef


class QuestionSetStatement(Record, frozen=True):
    """An in-toto Statement v1 around a frozen question set."""

    type_: str = msgspec.field(name="_type")
    predicate_type: str
    subject: tuple[Subject, ...]
    predicate: QuestionSetPredicate


class HeldOutPredicate(Record, frozen=True):
    """That questions are held out beside a public set, bound by salted hashes that tell nothing without the salt.

    `public` is the public set, which is the subject. `items` counts the held-out questions, `whole` is the salted hash
    of their file, `hashes` those of the single questions, sorted. `share` is what was asked for. `created` is in Unix
    seconds, as the signer claims.
    """

    name: str
    version: str
    public: SetRef
    scheme: str
    share: str
    items: int
    whole: str
    hashes: tuple[str, ...]
    tool: Evaluator
    created: int
    signer: SignerRef


class HeldOutStatement(Record, frozen=True):
    """An in-toto Statement v1 around a commitment to held-out questions."""

    type_: str = msgspec.field(name="_type")
    predicate_type: str
    subject: tuple[Subject, ...]
    predicate: HeldOutPredicate
