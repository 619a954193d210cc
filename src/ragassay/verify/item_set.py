"""Bytes in, findings out: a frozen question set against its signed item manifest and its documentation. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest.decode import decode_benchmark
from ragassay.manifest.files import BENCHMARK, REGISTRY
from ragassay.manifest.item_set import SUFFIX, SignedItems, decode_items, set_file
from ragassay.manifest.item_statement import ItemRef, QuestionSetPredicate
from ragassay.records import Benchmark, Page, Provenance, Question, Record
from ragassay.verify.codes import severity
from ragassay.verify.item_pages import check_pages
from ragassay.verify.policy import SLACK_S, Judgement, Policy
from ragassay.verify.report import Finding, Findings, NotMade
from ragassay.verify.signer import check_signer
from ragassay.verify.standing import Reader, check_registry

ITEMS = f"the item manifest (*{SUFFIX})"
PROOF = "items.tlog-proof"
"""Where a proof of inclusion would stand; item manifests are not logged."""
EVIDENCE_ELSEWHERE = "evidence-elsewhere"
"""The rule whose waiver lets evidence stand on another page than the question names."""

T = TypeVar("T")


class SetReport(Record, frozen=True):
    """All that is known of one frozen set after checking it; what it claims is None where it could not be read."""

    findings: tuple[Finding, ...]
    made: tuple[str, ...]
    not_made: tuple[NotMade, ...]
    checked_at: int
    name: str | None = None
    version: str | None = None
    items: int | None = None
    reviewed: int | None = None
    derived: int | None = None
    declared: bool | None = None
    """Whether the signer declares that no item was derived from a system under test."""
    created: int | None = None
    previous: str | None = None
    digest: str | None = None
    fingerprint: str | None = None
    signer_name: str | None = None
    pinned: bool = False
    key_status: str | None = None

    def ok(self, strict: bool = False) -> bool:
        """Tell whether no finding fails; `strict` turns warnings into failures."""
        return all(severity(finding.code, strict=strict) == "warn" for finding in self.findings)

    @property
    def codes(self) -> frozenset[str]:
        """The reason codes found."""
        return frozenset(finding.code for finding in self.findings)


def verify_item_set(
    envelope: bytes,
    *,
    questions: bytes | None,
    policy: Policy,
    now: int,
    previous: bytes | None = None,
    pages: Sequence[Page] | None = None,
    registry: bytes | None = None,
    problems: Sequence[VerifyError] = (),
) -> SetReport:
    """Check the item manifest of a question file, and report every reason against it.

    `questions` are the bytes of the question file, `previous` those of the manifest of the version before, `pages` the
    documentation; what is None is reported as not checked, a missing question file as FILE_MISSING. `now` is in Unix
    seconds. Whether a reviewer read what they signed off, no code can show. Whatever the bytes are, the result is a
    report and never an exception.
    """
    findings = Findings()
    for problem in problems:
        findings.error(problem)
    signed = _attempt(lambda: decode_items(envelope), ITEMS, findings)
    if signed is None:
        findings.not_made("everything that the item manifest claims", "it cannot be read")
        found, made, not_made = findings.results()
        return SetReport(findings=found, made=made, not_made=not_made, checked_at=now)
    findings.made("envelope and statement")
    files: Mapping[str, bytes] = {} if registry is None else {REGISTRY: registry}
    reader = Reader(policy=policy, now=now, registry=check_registry(files, None, findings))
    judged = check_signer(signed, signed.predicate.signer, (ITEMS, PROOF), reader, findings)
    _check_times(signed.predicate, now, findings)
    benchmark = _check_file(signed.predicate, questions, findings)
    if benchmark is not None:
        _check_items(signed.predicate, benchmark, findings)
    if pages is None:
        findings.not_made("pages and evidence in the documentation", "no documentation was given; --corpus names it")
    else:
        check_pages(signed.predicate, benchmark, pages, findings)
    _check_previous(signed.predicate, previous, findings)
    return _report(signed, judged, now, findings)


def _attempt(read: Callable[[], T], where: str, findings: Findings) -> T | None:
    try:
        return read()
    except VerifyError as error:
        findings.error(error, where)
        return None


def _check_times(predicate: QuestionSetPredicate, now: int, findings: Findings) -> None:
    if predicate.created > now + SLACK_S:
        findings.add("WINDOW", f"the set was signed {predicate.created - now} seconds in the future", ITEMS)
    for item in predicate.items:
        if item.reviewed_at is not None and item.reviewed_at > predicate.created + SLACK_S:
            findings.add("WINDOW", "it was reviewed after the set was signed", _place(item.id))
    findings.made("times")


def _check_file(predicate: QuestionSetPredicate, questions: bytes | None, findings: Findings) -> Benchmark | None:
    """Return the question file where it can be read, whether or not it is the signed one."""
    about = predicate.benchmark
    name = set_file(about.name, about.version)
    if questions is None:
        findings.add("FILE_MISSING", f"the question file {name} is missing", name)
        return None
    if canon.sha256(questions) != about.digest.sha256:
        findings.add("BENCHMARK_DIGEST", f"the question file is not the one that was signed, {name}", name)
    findings.made("digest of the question file")
    try:
        benchmark = decode_benchmark(questions)
    except VerifyError as error:
        findings.add(error.code, str(error).replace(BENCHMARK, "it"), name)
        findings.not_made("items against the question file", "the question file cannot be read")
        return None
    _check_about(predicate, benchmark, findings)
    return benchmark


def contradictions(predicate: QuestionSetPredicate, benchmark: Benchmark) -> tuple[Finding, ...]:
    """Return what a manifest says of a question set that does not follow from that set, in the order of `verify`.

    Whoever has a key can sign any words about a file: none of them may be repeated before they were held against it.
    """
    findings = Findings()
    if predicate.benchmark.digest.sha256 != benchmark.digest():
        findings.add("BENCHMARK_DIGEST", "the question set is not the one that was signed", ITEMS)
    _check_about(predicate, benchmark, findings)
    _check_items(predicate, benchmark, findings)
    return findings.results()[0]


def _check_about(predicate: QuestionSetPredicate, benchmark: Benchmark, findings: Findings) -> None:
    about = predicate.benchmark
    said = (about.name, about.version, about.items, about.item_set.sha256)
    if said != (benchmark.name, benchmark.version, len(benchmark.questions), benchmark.item_set_digest()):
        where = set_file(about.name, about.version)
        findings.add("BENCHMARK_MISMATCH", "name, version, number of items or itemSet is another", where)


def _check_items(predicate: QuestionSetPredicate, benchmark: Benchmark, findings: Findings) -> None:
    """Hold every item against its question; what is in one of the two alone is named."""
    signed = {item.id: item for item in predicate.items}
    asked = {question.id: question for question in benchmark.questions}
    for missing in signed.keys() - asked.keys():
        findings.add("ITEM_MISMATCH", "the question file does not hold it", _place(missing))
    for added in asked.keys() - signed.keys():
        findings.add("ITEM_MISMATCH", "the item manifest does not name it", _place(added))
    if list(signed) != list(asked) and signed.keys() == asked.keys():
        findings.add("ITEM_MISMATCH", "the items are not in the order of the question file", ITEMS)
    waived = {name for one in predicate.lint.waivers if one.rule == EVIDENCE_ELSEWHERE for name in one.questions}
    for name in signed.keys() & asked.keys():
        if wrong := _differences(signed[name], asked[name], elsewhere=name in waived):
            message = f"{', '.join(wrong)}: not as the question file says"
            findings.add("ITEM_MISMATCH", message, _place(name))
    findings.made("items against the question file")


def _differences(item: ItemRef, question: Question, *, elsewhere: bool) -> list[str]:
    """Return the members of an item that do not follow from its question."""
    given = question.provenance or Provenance()
    wrong = {
        "material": item.material != question.material(),
        "author": item.author != given.author,
        "created": item.created != given.created,
        "tool": item.tool != given.tool,
        "reviewer": item.reviewer != given.reviewed_by,
        "derivedFromSystem": item.derived_from_system != given.derived_from_system,
        "page": question.page not in (None, item.page) and not elsewhere,
        "evidence": [one.sha256 for one in item.evidence]
        != [canon.sha256(text.encode("utf-8")) for text in question.evidence],
    }
    return [name for name, differs in wrong.items() if differs]


def _check_previous(predicate: QuestionSetPredicate, previous: bytes | None, findings: Findings) -> None:
    named = predicate.previous
    if named is None:
        return
    if previous is None:
        findings.not_made("the version before", f"the item manifest of version {named.version} was not given")
        return
    if canon.sha256(previous) != named.envelope.sha256:
        findings.add("SET_PREVIOUS", f"it is not the item manifest of version {named.version} that is named", ITEMS)
    before = _attempt(lambda: decode_items(previous), ITEMS, findings)
    if before is not None:
        about = before.predicate.benchmark
        if (about.name, about.version, about.digest) != (predicate.benchmark.name, named.version, named.digest):
            findings.add("SET_PREVIOUS", "it is of another set, version or digest than is named", ITEMS)
        if before.predicate.created > predicate.created + SLACK_S:
            findings.add("WINDOW", f"the set was signed before version {named.version}, which it names", ITEMS)
        if not before.signed_by_named():
            findings.add("SET_PREVIOUS", f"the manifest of version {named.version} is not signed", ITEMS)
    findings.made("the version before")


def _place(question: str) -> str:
    return f"question {question[:200]}"


def _report(signed: SignedItems, judged: Judgement, now: int, findings: Findings) -> SetReport:
    found, made, not_made = findings.results()
    p = signed.predicate
    return SetReport(
        findings=found,
        made=made,
        not_made=not_made,
        checked_at=now,
        name=p.benchmark.name,
        version=p.benchmark.version,
        items=p.benchmark.items,
        reviewed=p.review.reviewed,
        derived=p.declaration.derived,
        declared=p.declaration.holds,
        created=p.created,
        previous=p.previous.version if p.previous else None,
        digest=signed.digest,
        fingerprint=p.signer.kid,
        signer_name=p.signer.name,
        pinned=judged.signer == "pinned",
        key_status=judged.key_status,
    )
