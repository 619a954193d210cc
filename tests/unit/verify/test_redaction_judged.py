"""Judgements of a run are verified against the copy that is published of it, as far as its texts are shown."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ragassay import canon
from ragassay.manifest.files import PUBLIC_OUTPUTS, REDACTION, WITHHELD
from ragassay.manifest.redaction import Withholding, build_redaction, salts_from
from ragassay.verify import PinnedKey
from ragassay.verify.judgement import verify_judgement

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "hostile"))
from test_judgement_lies import NOW, RUN, SIGNER, Opened, judgement, report

ANSWER = Withholding(id="q-001", field="answer", reason="a name")
CHUNK = Withholding(id="q-001", field="chunks/1/text", reason="licensed")


def published(*withhold: Withholding) -> dict[str, bytes]:
    """Return the copy of the run without these texts."""
    salts = salts_from(b"s", "run")
    return build_redaction(RUN, withhold, salts=salts, signer=SIGNER, created=NOW - 20)


def _false_quote(at: int) -> dict[str, bytes]:
    def change(opened: Opened) -> None:
        opened.rows[at]["claims"][0].update(verdict="SUPPORTS", quote="words that nobody wrote")

    files: dict[str, bytes] = Opened(judgement()).sealed(change)
    return files


def test_an_honest_judgement_holds_against_a_copy() -> None:
    """With a chunk withheld all is checked; with an answer withheld its quotes are listed as not checked."""
    assert report(judgement(), published(CHUNK)).codes == report(judgement()).codes
    found = report(judgement(), published(ANSWER))
    assert found.ok(strict=True) is report(judgement()).ok(strict=True)
    assert found.codes == report(judgement()).codes | {"TEXT_WITHHELD"}
    assert "quotes in withheld answers" in [item.check for item in found.not_made]


def test_a_false_quote_of_a_shown_answer_is_refused() -> None:
    """Only the quotes of the withheld answer cannot be sought."""
    assert "QUOTE_NOT_IN_ANSWER" in report(_false_quote(1), published(ANSWER)).codes
    assert "QUOTE_NOT_IN_ANSWER" not in report(_false_quote(0), published(ANSWER)).codes
    assert "QUOTE_NOT_IN_ANSWER" in report(_false_quote(0), published(CHUNK)).codes


@pytest.mark.parametrize(
    ("name", "code"),
    [(PUBLIC_OUTPUTS, "OUTPUTS_DIGEST"), (WITHHELD, "REDACTION_MISMATCH"), (REDACTION, "ENVELOPE_MALFORMED")],
)
def test_a_copy_that_was_changed_is_told(name: str, code: str) -> None:
    """Whatever its caller forgot to verify, other answers than those of the redaction are refused."""
    files = published(ANSWER)
    if name == REDACTION:
        files[name] = b"{}"
    else:
        rows = [json.loads(line) for line in files[name].splitlines()]
        files[name] = b"".join(canon.canonical(row) + b"\n" for row in [*rows, rows[0]])
    found = verify_judgement(judgement(), run_files=files, policy=PinnedKey(SIGNER.public), now=NOW)
    assert not found.ok()
    assert code in found.codes
