"""A run is executed again from what is published of it: withheld texts are confirmed by the content digest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from run_lab import Lab

from ragassay import canon
from ragassay.manifest import read_run
from ragassay.manifest.files import OUTPUTS, PUBLIC_OUTPUTS
from ragassay.manifest.redaction import Withholding, build_redaction, salts_from
from ragassay.run.rerun import rerun
from ragassay.testing.signed_run import public_signer, resigned

FIELDS = ("answer", "chunks/1/text", "claims/1/quote", "claims/1/reason")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Six questions on six pages."""
    return Lab(tmp_path, questions=6)


def _run(lab: Lab) -> dict[str, bytes]:
    lab.write(stack='{ kind = "bm25" }', row="top_k = 2")
    return read_run(lab.space.runs / lab.run()["row", 1].run_id).files


def _published(files: dict[str, bytes]) -> dict[str, bytes]:
    first = json.loads(files[OUTPUTS].splitlines()[0])["id"]
    withhold = [Withholding(id=first, field=field, reason="licensed") for field in FIELDS]
    salts = salts_from(b"s", "run")
    return build_redaction(files, withhold, salts=salts, signer=public_signer(), created=4_000_000_000)


def test_a_copy_comes_out_equal(lab: Lab) -> None:
    """Content digest, counts and score are the signed ones, withheld texts included."""
    found = rerun(_published(_run(lab)), workspace=lab.space.root)
    assert (found.outcome, found.why) == ("equal", None)
    assert found.withheld == len(FIELDS)


def test_a_withheld_text_that_was_another_is_told(lab: Lab) -> None:
    """No shown row differs, and the content digest of the signed run does."""

    def invent(run: Any) -> None:
        run.outputs[0]["claims"][0]["reason"] = "it was invented"

    found = rerun(_published(resigned(_run(lab), invent)), workspace=lab.space.root)
    assert found.outcome == "different"
    assert found.differing == 0
    assert "content digest" in (found.why or "")


def test_a_shown_text_that_was_another_is_told_by_its_row(lab: Lab) -> None:
    """Rows from which nothing is withheld are compared member by member."""
    files = _published(_run(lab))
    rows = [json.loads(line) for line in files[PUBLIC_OUTPUTS].splitlines()]
    rows[1]["claims"][0]["reason"] = "it was invented"
    files[PUBLIC_OUTPUTS] = b"".join(canon.canonical(row) + b"\n" for row in rows)
    found = rerun(files, workspace=lab.space.root)
    assert found.outcome == "different"
    assert [(one.id, one.members) for one in found.differences] == [(rows[1]["id"], ("claims",))]
