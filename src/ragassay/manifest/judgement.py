"""A judgement of the stored answers of one run: its four files built, and read as strictly as those of a run. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NoReturn, TypeVar, get_args

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest.encoding import decode_line, encode_rows, split_lines
from ragassay.manifest.files import CONFIG, MANIFEST, MAX_BYTES, MAX_COMMAS, MAX_ROW_BYTES, MAX_ROWS, OUTPUTS, TELEMETRY
from ragassay.manifest.sign import Signer
from ragassay.manifest.signed import Form, Signed, read_signed, sign_checked
from ragassay.manifest.statement import (
    JUDGEMENT_KIND,
    JUDGEMENT_TYPE,
    STATEMENT_TYPE,
    Digest,
    JudgementPredicate,
    JudgementStatement,
    JudgeRef,
    Metric,
    RunPredicate,
    Subject,
)
from ragassay.records import (
    JSON,
    JudgementCounts,
    JudgementReplies,
    JudgementRow,
    NullRow,
    Profile,
    Purpose,
    Record,
)
from ragassay.score import run_score

JUDGEMENT = "judgement.dsse.json"
VERDICTS = "verdicts.jsonl"
REPLIES = "replies.jsonl"
JUDGE = "judge.json"

JUDGEMENT_BYTES: dict[str, int] = {
    JUDGEMENT: MAX_BYTES[MANIFEST],
    VERDICTS: MAX_BYTES[OUTPUTS],
    REPLIES: MAX_BYTES[TELEMETRY],
    JUDGE: MAX_BYTES[CONFIG],
}
"""The files of a judgement and the most bytes that each may have."""

MAX_NUMBER = 100_000
"""The most judgements of one run by one judge for one purpose."""
MAX_SHOWN = 10_000
"""The most characters of the text that stands in place of every answer."""

NOT_JUDGED: dict[str, str] = {
    "no_answer": "the run has no answer to this question",
    "withheld": "a text that the judge would be shown is withheld",
    "no_claims": "the question has no claims to be classified",
    "no_literals": "a claim of the question has no literals, and this judge reads nothing else",
    "no_verdict": "the run's judge gave no verdict that a second one could be compared with",
    "not_drawn": "not among those drawn for asking again",
}
"""Why an item was not put to the judge: the kind of its failure, and what that means."""

_CODES = {VERDICTS: "OUTPUTS_DIGEST", REPLIES: "TELEMETRY_DIGEST", JUDGE: "CONFIG_DIGEST"}
_RUN_ID = re.compile(r"[0-9a-f]{32}")
_SHA256 = re.compile(r"[0-9a-f]{64}")

R = TypeVar("R", bound=Record)


class JudgementDocument(Record, frozen=True):
    """One judgement with all its files decoded; `judge` is {kind, id, describe}."""

    predicate: JudgementPredicate
    rows: tuple[JudgementRow, ...]
    replies: tuple[JudgementReplies, ...]
    judge: JSON


class SignedJudgement(Signed[JudgementPredicate], frozen=True):
    """The statement of a judgement as it was read."""


def profile_of(metric: str) -> Profile | None:
    """Return the scorer profile that a metric's id begins with, None where it is none that is known."""
    profiles: tuple[Profile, ...] = get_args(Profile)
    return next((name for name in profiles if metric.startswith(f"{name}-judged-by-")), None)


def folder_name(judge: str, purpose: Purpose, n: int) -> str:
    """Return the name of a judgement's folder; `judge` is the digest of the judge."""
    return f"{judge[:16]}-{purpose}-{n}"


def count_rows(rows: Sequence[JudgementRow]) -> JudgementCounts:
    """Return how many items were judged, how many the judge failed on, and how many there was nothing to judge of."""
    by_status = [row.status for row in rows]
    return JudgementCounts(
        asked=len(rows),
        judged=by_status.count("judged"),
        unjudged=by_status.count("judge_failed"),
        not_judged=by_status.count("not_judged"),
    )


def build_judgement(
    *,
    of: str,
    run: RunPredicate,
    judge: JSON,
    purpose: Purpose,
    rows: Sequence[JudgementRow],
    replies: Sequence[JudgementReplies],
    created: int,
    signer: Signer,
    n: int = 1,
    null_row: NullRow | None = None,
    shown: str | None = None,
    registry_version: int | None = None,
) -> dict[str, bytes]:
    """Return the signed files of a judgement; the same input and key give the same bytes.

    `of` is the SHA-256 of the bytes of the run's envelope, `run` what the run claims; `rows` and `replies` are one per
    row of the run, in its order. Raises `ValueError` for what no reader would accept, `NotCanonical` for text that
    cannot be written.
    """
    profile = profile_of(run.metric.id)
    if profile is None:
        raise ValueError(f"the metric {run.metric.id!r} names no profile that is known")
    if [row.id for row in rows] != [row.id for row in replies]:
        raise ValueError("verdicts and replies must be of the same items in the same order")
    files = {VERDICTS: encode_rows(rows), REPLIES: encode_rows(replies), JUDGE: canon.canonical(judge)}
    if (problem := _judge_problem(judge)) is not None:
        raise ValueError(problem)
    digests = {name: Digest(sha256=canon.sha256(data)) for name, data in files.items()}
    predicate = JudgementPredicate(
        of=Digest(sha256=of),
        run_id=run.run_id,
        row=run.row,
        pass_=run.pass_,
        judge=JudgeRef(id=judge["id"], digest=digests[JUDGE]),
        metric=Metric(id=f"{profile}-judged-by-{judge['id']}"),
        purpose=purpose,
        null_row=null_row,
        shown=shown,
        n=n,
        verdicts=digests[VERDICTS],
        replies=digests[REPLIES],
        counts=count_rows(rows),
        score=run_score(row.score for row in rows),
        created=created,
        signer=signer.ref(registry_version),
    )
    return {JUDGEMENT: sign_judgement(predicate, signer), **files}


def sign_judgement(predicate: JudgementPredicate, signer: Signer) -> bytes:
    """Return the signed envelope of a judgement; raises `ValueError` for one that no reader would accept."""
    statement = JudgementStatement(
        type_=STATEMENT_TYPE,
        predicate_type=JUDGEMENT_TYPE,
        subject=(Subject(name=VERDICTS, digest=predicate.verdicts),),
        predicate=predicate,
    )
    return sign_checked(statement, _FORM, signer)


def decode_judgement(files: Mapping[str, bytes]) -> JudgementDocument:
    """Read all files of a judgement; signature and numbers are unchecked, the digests of the files are not.

    Raises `VerifyError` on anything else than the four files of one judgement in canonical form. A reader that trusts
    nothing calls `verify_judgement` first; this gives the values their types.
    """
    if unknown := sorted(files.keys() - JUDGEMENT_BYTES.keys()):
        _fail("BUNDLE_NAME", f"{unknown[0][:200]!r} is no file of a judgement")
    predicate = decode_signed(_file(files, JUDGEMENT)).predicate
    for name in _CODES:
        check_digest(name, _file(files, name), predicate)
    return JudgementDocument(
        predicate=predicate,
        rows=decode_verdicts(files[VERDICTS]),
        replies=decode_replies(files[REPLIES]),
        judge=decode_judge(files[JUDGE]),
    )


def check_digest(name: str, data: bytes, predicate: JudgementPredicate) -> None:
    """Raise OUTPUTS_DIGEST, TELEMETRY_DIGEST or CONFIG_DIGEST where a file is not the one that was signed."""
    wanted = {VERDICTS: predicate.verdicts, REPLIES: predicate.replies, JUDGE: predicate.judge.digest}[name]
    if wanted is None or canon.sha256(data) != wanted.sha256:
        _fail(_CODES[name], f"{name} is not the file that was signed")


def decode_signed(data: bytes) -> SignedJudgement:
    """Read the envelope of a judgement, its signature unchecked.

    Raises TYPE_UNKNOWN, VERSION_UNKNOWN, ENVELOPE_MALFORMED or ENVELOPE_NOT_CANONICAL.
    """
    statement, envelope, payload = read_signed(data, _FORM)
    return SignedJudgement(statement.predicate, envelope, payload, data)


def _form_problem(statement: JudgementStatement) -> str | None:
    predicate = statement.predicate
    if statement.subject != (Subject(name=VERDICTS, digest=predicate.verdicts),):
        return f"the only subject must be {VERDICTS} with its digest"
    if not _RUN_ID.fullmatch(predicate.run_id):
        return "the run's id must be 32 lower-case hex digits"
    if not 1 <= predicate.pass_.k <= predicate.pass_.of:
        return f"there is no pass {predicate.pass_.k} of {predicate.pass_.of}"
    if predicate.metric.item_den != 100 or not predicate.metric.higher_is_better:
        return "item scores are hundredths, and higher is better"
    if not 1 <= predicate.n <= MAX_NUMBER:
        return f"judgements are numbered from 1 to {MAX_NUMBER}, not {predicate.n}"
    if predicate.created < 0:
        return "`created` is no time in Unix seconds"
    digests = (predicate.of, predicate.judge.digest, predicate.verdicts, predicate.replies)
    if not all(digest is not None and _SHA256.fullmatch(digest.sha256) for digest in digests):
        return "a SHA-256 is written as 64 lower-case hex digits, and none of a judgement may be null"
    return _null_row_problem(predicate)


def _null_row_problem(predicate: JudgementPredicate) -> str | None:
    named = (predicate.null_row is not None, predicate.shown is not None)
    if named != ((True, True) if predicate.purpose == "null-row" else (False, False)):
        return "a null row, and nothing else, names its text and shows it"
    if predicate.shown is not None and len(predicate.shown) > MAX_SHOWN:
        return f"the text of a null row has at most {MAX_SHOWN} characters"
    return None


_FORM = Form(kind=JUDGEMENT_KIND, what="a judgement", shape=JudgementStatement, problem=_form_problem)


def decode_verdicts(data: bytes) -> tuple[JudgementRow, ...]:
    """Read `verdicts.jsonl`; raises ROW_MALFORMED naming the first bad line."""
    return _rows(data, VERDICTS, JudgementRow)


def decode_replies(data: bytes) -> tuple[JudgementReplies, ...]:
    """Read `replies.jsonl`; raises ROW_MALFORMED naming the first bad line."""
    return _rows(data, REPLIES, JudgementReplies)


def _rows(data: bytes, name: str, kind: type[R]) -> tuple[R, ...]:
    _check_size(name, data)
    rows: list[R] = []
    try:
        for line in split_lines(data, max_rows=MAX_ROWS, max_bytes=MAX_ROW_BYTES):
            rows.append(decode_line(line, kind)[0])
    except canon.NotCanonical as error:
        raise VerifyError(f"{name}, line {len(rows) + 1}: {error}", code="ROW_MALFORMED") from error
    return tuple(rows)


def decode_judge(data: bytes) -> JSON:
    """Read `judge.json`; raises CONFIG_DIGEST where it is not the canonical form of {kind, id, describe}."""
    _check_size(JUDGE, data)
    try:
        judge: JSON = canon.load_canonical(data, max_bytes=JUDGEMENT_BYTES[JUDGE])
    except canon.NotCanonical as error:
        raise VerifyError(f"{JUDGE} describes no judge: {error}", code="CONFIG_DIGEST") from error
    if (problem := _judge_problem(judge)) is not None:
        _fail("CONFIG_DIGEST", f"{JUDGE}: {problem}")
    return judge


def _judge_problem(judge: object) -> str | None:
    if not isinstance(judge, dict) or judge.keys() != {"kind", "id", "describe"}:
        return "a judge is described by `kind`, `id` and `describe`"
    if not all(isinstance(judge[name], str) and judge[name] for name in ("kind", "id")):
        return "`kind` and `id` of a judge are text"
    return None if isinstance(judge["describe"], dict) else "`describe` of a judge is an object"


def _check_size(name: str, data: bytes) -> None:
    if len(data) > JUDGEMENT_BYTES[name]:
        _fail("BUNDLE_TOO_LARGE", f"{name} has {len(data)} bytes; {JUDGEMENT_BYTES[name]} are allowed")
    if data.count(b",") > MAX_COMMAS:
        _fail("BUNDLE_TOO_LARGE", f"{name} has more than the {MAX_COMMAS} commas allowed, so too many values")


def _file(files: Mapping[str, bytes], name: str) -> bytes:
    if name not in files:
        _fail("FILE_MISSING", f"{name} is missing")
    return files[name]


def _fail(code: str, message: str) -> NoReturn:
    raise VerifyError(message, code=code)
