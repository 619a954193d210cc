"""The item manifest of a frozen question set: signed, and read as strictly as a run. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragassay import canon
from ragassay.manifest.announce import common_problem
from ragassay.manifest.item_statement import (
    DECLARATION,
    Declaration,
    ItemRef,
    QuestionSetPredicate,
    QuestionSetStatement,
    ReviewCount,
)
from ragassay.manifest.sign import Signer
from ragassay.manifest.signed import Form, Signed, read_signed, sign_checked
from ragassay.manifest.statement import (
    QUESTION_SET_KIND,
    QUESTION_SET_TYPE,
    STATEMENT_TYPE,
    Digest,
    Subject,
)
from ragassay.records import Benchmark, Page
from ragassay.records.question import version_numbers

SUFFIX = ".items.dsse.json"
"""How the name of an item manifest ends; before it stands that of its question file without `.json`."""
MAX_ITEM_MANIFEST_BYTES = 16 << 20
MAX_ITEMS = 20_000
"""The most questions that one manifest describes."""
ITEMS_FOLDER = "items"
"""The folder of a workspace that keeps the item manifests which its runs name."""


class SignedItems(Signed[QuestionSetPredicate], frozen=True):
    """An item manifest as it was read."""


def set_slug(name: str) -> str:
    """Return the name of a set as file names begin with it: letters, digits, dash, dot and underscore."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:80] or "questions"


def set_file(name: str, version: str) -> str:
    """Return the file name of a frozen set."""
    return f"{set_slug(name)}-{version}.json"


def items_file(name: str, version: str) -> str:
    """Return the file name of a frozen set's item manifest."""
    return f"{set_slug(name)}-{version}{SUFFIX}"


def items_kept_at(digest: str) -> str:
    """Return where a workspace keeps the item manifest of that SHA-256, below its root."""
    return f"{ITEMS_FOLDER}/{digest}.dsse.json"


def pages_digest(pages: Sequence[Page]) -> str:
    """Return the SHA-256 of the canonical list of [id, SHA-256 of the text] of all pages in the order of their ids.

    It does not depend on how the pages are split into chunks.
    """
    return canon.digest(sorted([page.id, page.sha256] for page in pages))


def declared(items: Sequence[ItemRef], *, by_signer: int) -> Declaration:
    """Return what the items let a set declare of its derivation."""
    derived = sum(item.derived_from_system for item in items)
    return Declaration(text=DECLARATION, holds=not derived, derived=derived, unknown=0, by_signer=by_signer)


def counted(items: Sequence[ItemRef], dropped: Sequence[str]) -> ReviewCount:
    """Return how many items were reviewed."""
    reviewed = sum(item.reviewer is not None for item in items)
    return ReviewCount(reviewed=reviewed, unreviewed=len(items) - reviewed, dropped=tuple(dropped))


def sign_items(predicate: QuestionSetPredicate, signer: Signer) -> bytes:
    """Return the signed item manifest; raises `ValueError` for one that no reader would accept."""
    statement = QuestionSetStatement(
        type_=STATEMENT_TYPE,
        predicate_type=QUESTION_SET_TYPE,
        subject=(_subject(predicate),),
        predicate=predicate,
    )
    signed = sign_checked(statement, _FORM, signer)
    if len(signed) > MAX_ITEM_MANIFEST_BYTES:
        raise ValueError(f"the item manifest has {len(signed)} bytes; {MAX_ITEM_MANIFEST_BYTES} are read")
    return signed


def decode_items(data: bytes) -> SignedItems:
    """Read an item manifest, its signature unchecked.

    Raises `VerifyError`: TYPE_UNKNOWN, VERSION_UNKNOWN, ENVELOPE_MALFORMED or ENVELOPE_NOT_CANONICAL.
    """
    statement, envelope, payload = read_signed(data, _FORM)
    return SignedItems(statement.predicate, envelope, payload, data)


def matches(predicate: QuestionSetPredicate, benchmark: Benchmark) -> bool:
    """Tell whether a question set is the one that a manifest describes."""
    return predicate.benchmark.digest.sha256 == benchmark.digest()


def _subject(predicate: QuestionSetPredicate) -> Subject:
    about = predicate.benchmark
    return Subject(name=set_file(about.name, about.version), digest=about.digest)


def _form_problem(statement: QuestionSetStatement) -> str | None:
    predicate = statement.predicate
    if statement.subject != (_subject(predicate),):
        return "the only subject must be the question file, by name and version of the set, with its digest"
    if version_numbers(predicate.benchmark.version) is None:
        return "the version of a frozen set is MAJOR.MINOR.PATCH"
    if not 1 <= len(predicate.items) <= MAX_ITEMS:
        return f"a set has 1 to {MAX_ITEMS} items"
    if len({item.id for item in predicate.items}) != len(predicate.items):
        return "an item stands twice"
    return _sums_problem(predicate) or common_problem(predicate.created, _digests(predicate))


def _sums_problem(predicate: QuestionSetPredicate) -> str | None:
    """Return what does not follow from the items: their number, how many were reviewed, the declaration."""
    if predicate.benchmark.items != len(predicate.items):
        return "the number of items is not that of the items"
    if predicate.review != counted(predicate.items, predicate.review.dropped):
        return "the counts of reviews do not follow from the items"
    if predicate.declaration != declared(predicate.items, by_signer=predicate.declaration.by_signer):
        return "the declaration does not follow from the items"
    if not 0 <= predicate.declaration.by_signer <= len(predicate.items) - predicate.declaration.derived:
        return "the declaration rests on the signer's word for more items than it is made for"
    if predicate.lint.errors != 0 or any(count < 1 for count in predicate.lint.warnings.values()):
        return "a set is frozen without errors, and only warnings that stand are counted"
    if any(
        item.reviewed_at is not None and (item.reviewer is None or item.reviewed_at < 0) for item in predicate.items
    ):
        return "a time of review has a reviewer and is in Unix seconds"
    if any((one.matched == "exact") == bool(one.folds) for item in predicate.items for one in item.evidence):
        return "evidence that was found under folds names them, and no other does"
    if not all(item.evidence for item in predicate.items):
        return "an item has no evidence"
    dropped = predicate.review.dropped
    if len(set(dropped)) != len(dropped) or not {item.id for item in predicate.items}.isdisjoint(dropped):
        return "a question that was dropped stands once among the dropped, and not among the items"
    if not all(one.rule and one.questions and one.reason.strip() for one in predicate.lint.waivers):
        return "a waiver names a rule, questions and a reason"
    return _previous_problem(predicate)


def _previous_problem(predicate: QuestionSetPredicate) -> str | None:
    if predicate.previous is None:
        return None
    before, now = version_numbers(predicate.previous.version), version_numbers(predicate.benchmark.version)
    if before is None or now is None or before >= now:
        return "the version before is no lower one"
    return None


def _digests(predicate: QuestionSetPredicate) -> list[Digest]:
    found = [predicate.benchmark.digest, predicate.benchmark.item_set, predicate.corpus.digest]
    if predicate.previous is not None:
        found += [predicate.previous.digest, predicate.previous.envelope]
    for item in predicate.items:
        found += [Digest(sha256=item.material), Digest(sha256=item.page_sha256)]
        found += [Digest(sha256=one.sha256) for one in item.evidence]
    return found


_FORM = Form(
    kind=QUESTION_SET_KIND,
    what="an item manifest",
    shape=QuestionSetStatement,
    problem=_form_problem,
    max_bytes=MAX_ITEM_MANIFEST_BYTES,
)
