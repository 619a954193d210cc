"""The files of a judgement: built, read back, and refused where they are not in their one form."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest import MANIFEST, decode_run, sign_payload
from ragassay.manifest.judgement import (
    JUDGE,
    JUDGEMENT,
    REPLIES,
    VERDICTS,
    build_judgement,
    decode_judgement,
    folder_name,
)
from ragassay.records import JudgementReplies, JudgementRow
from ragassay.testing.signed_run import public_signer, signed_run

JUDGE_JSON: dict[str, Any] = {"kind": "literal", "id": "literal/1", "describe": {"folds": ["case"]}}


def built(**changes: Any) -> dict[str, bytes]:
    """Return the files of a panel judgement that repeats what the run's own rows say."""
    files = signed_run(items=3, failed=(2,))
    run = decode_run(files)
    rows = [
        JudgementRow(
            id=row.id,
            status="judged" if row.verdict else "not_judged",
            claims=row.claims,
            verdict=row.verdict,
            score=row.score,
            failure=row.failure,
        )
        for row in run.outputs
    ]
    given: dict[str, Any] = {
        "of": canon.sha256(files[MANIFEST]),
        "run": run.predicate,
        "judge": JUDGE_JSON,
        "purpose": "panel",
        "rows": rows,
        "replies": [JudgementReplies(id=row.id) for row in rows],
        "created": 1_790_000_100,
        "signer": public_signer(),
    }
    return build_judgement(**{**given, **changes})


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, bytes]:
    """Return a judgement whose statement was changed and signed again."""
    files = built()
    statement = msgspec.json.decode(base64.b64decode(msgspec.json.decode(files[JUDGEMENT])["payload"]))
    change(statement)
    return {**files, JUDGEMENT: sign_payload(canon.canonical(statement), public_signer())}


def code_of(files: dict[str, bytes]) -> str:
    """Return the reason code for which these files are refused."""
    with pytest.raises(VerifyError) as caught:
        decode_judgement(files)
    return caught.value.code


def test_what_was_built_is_read_back() -> None:
    """A judgement names its run, its judge by digest, its counts and its score, which code computed."""
    files = built()
    document = decode_judgement(files)
    predicate = document.predicate
    assert predicate.run_id == decode_run(signed_run(items=3, failed=(2,))).predicate.run_id
    assert predicate.judge.digest is not None
    assert predicate.judge.digest.sha256 == canon.digest(JUDGE_JSON) == canon.sha256(files[JUDGE])
    assert predicate.metric.id == "factual-consistency/2-judged-by-literal/1"
    assert (predicate.counts.asked, predicate.counts.judged, predicate.counts.not_judged) == (3, 2, 1)
    assert predicate.score is not None
    assert (predicate.score.num, predicate.score.den) == (150, 200)
    assert [row.score for row in document.rows] == [100, 50, None]
    assert document.judge == JUDGE_JSON


def test_the_same_judgement_is_the_same_bytes() -> None:
    """Building twice gives the same files."""
    assert built() == built()


def test_a_folder_is_named_after_judge_purpose_and_number() -> None:
    """Sixteen digits of the judge's digest, the purpose, and the number."""
    assert folder_name("0123456789abcdef" * 4, "null-row", 2) == "0123456789abcdef-null-row-2"


@pytest.mark.parametrize(
    ("name", "code"), [(VERDICTS, "OUTPUTS_DIGEST"), (REPLIES, "TELEMETRY_DIGEST"), (JUDGE, "CONFIG_DIGEST")]
)
def test_another_file_than_the_signed_one_is_refused(name: str, code: str) -> None:
    """Every file is held against its digest, in reading already."""
    files = built()
    assert code_of({**files, name: files[name] + b" "}) == code


@pytest.mark.parametrize("name", [JUDGEMENT, VERDICTS, REPLIES, JUDGE])
def test_a_missing_file_is_refused(name: str) -> None:
    """A judgement is four files."""
    files = built()
    del files[name]
    assert code_of(files) == "FILE_MISSING"


def test_a_foreign_file_is_refused() -> None:
    """Nothing stands beside the four files of a judgement."""
    assert code_of({**built(), "notes.txt": b""}) == "BUNDLE_NAME"


def test_a_run_passes_for_no_judgement() -> None:
    """The envelope of a run is of another type."""
    assert code_of({**built(), JUDGEMENT: signed_run()[MANIFEST]}) == "TYPE_UNKNOWN"


def _set(*path: str, value: object) -> Callable[[dict[str, Any]], object]:
    def change(statement: dict[str, Any]) -> None:
        target = statement["predicate"]
        for name in path[:-1]:
            target = target[name]
        target[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda s: s.update(predicateType=s["predicateType"].replace("v0.1", "v9")), "VERSION_UNKNOWN"),
        (lambda s: s.update(subject=[]), "ENVELOPE_MALFORMED"),
        (lambda s: s["predicate"].update(extra=1), "ENVELOPE_MALFORMED"),
        (_set("runId", value="no-id"), "ENVELOPE_MALFORMED"),
        (_set("n", value=0), "ENVELOPE_MALFORMED"),
        (_set("created", value=-1), "ENVELOPE_MALFORMED"),
        (_set("purpose", value="rehearsal"), "ENVELOPE_MALFORMED"),
        (_set("nullRow", value="empty"), "ENVELOPE_MALFORMED"),
        (_set("purpose", value="null-row"), "ENVELOPE_MALFORMED"),
        (_set("judge", "digest", value=None), "ENVELOPE_MALFORMED"),
        (_set("of", "sha256", value="A" * 64), "ENVELOPE_MALFORMED"),
        (_set("metric", "itemDen", value=1), "ENVELOPE_MALFORMED"),
        (_set("pass", "k", value=9), "ENVELOPE_MALFORMED"),
        (_set("verdicts", "sha256", value="0" * 64), "ENVELOPE_MALFORMED"),
        (_set("signer", "kid", value="another"), "ENVELOPE_MALFORMED"),
    ],
)
def test_a_statement_of_another_form_is_refused(change: Callable[[dict[str, Any]], object], code: str) -> None:
    """A signed statement that no judgement can make is refused by its form, whoever signed it."""
    assert code_of(changed(change)) == code


def test_a_row_that_is_not_canonical_is_refused() -> None:
    """A line with a space more says the same and is not the one form of it; its digest is made to match."""
    files = built()
    lines = files[VERDICTS].replace(b'"status":"judged"', b'"status": "judged"', 1)
    digest = {"sha256": canon.sha256(lines)}

    def change(statement: dict[str, Any]) -> None:
        statement["subject"][0]["digest"] = digest
        statement["predicate"]["verdicts"] = digest

    assert code_of({**changed(change), VERDICTS: lines}) == "ROW_MALFORMED"


@pytest.mark.parametrize(
    "judge", [{"kind": "literal", "id": "literal/1"}, {**JUDGE_JSON, "id": 3}, {**JUDGE_JSON, "describe": []}]
)
def test_a_judge_without_a_description_is_not_written(judge: dict[str, Any]) -> None:
    """`judge.json` is kind, id and describe; a judgement with another cannot be built."""
    with pytest.raises(ValueError, match="judge"):
        built(judge=judge)


def test_a_null_row_is_not_written_without_its_text() -> None:
    """What stood in place of every answer is part of what is signed."""
    with pytest.raises(ValueError, match="null row"):
        built(purpose="null-row", null_row="constant")
    document = decode_judgement(built(purpose="null-row", null_row="constant", shown="See the manual.", n=2))
    assert document.predicate.shown == "See the manual."


def test_replies_of_other_items_are_not_written() -> None:
    """Verdicts and replies are of the same items in the same order."""
    with pytest.raises(ValueError, match="same order"):
        built(replies=[JudgementReplies(id="q-001")])
