"""Runs as JUnit XML: valid, with failures apart from errors, whatever the texts hold."""

from __future__ import annotations

import io
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from export_lab import Search, retrieved, source_of
from hypothesis import given
from hypothesis import strategies as st

from ragassay.cli.export_junit import junit
from ragassay.export.junit import write_junit, xml_text
from ragassay.manifest.tiles import read_log
from ragassay.site.runs import Trust
from ragassay.testing.logged_run import OURS, Story, tell, void_run
from ragassay.testing.signed_run import signed_run

SCHEMA = Path(__file__).with_name("junit.xsd")
CONTROL = "\x1b[31m\0\ufffe\r\n]]>&<\"'\t\x85"


def _written(*runs: Any, least: str = "0.5", **chosen: Any) -> ElementTree.Element:
    file = io.BytesIO()
    write_junit(source_of(*runs, **chosen), file, min_score=Decimal(least))
    _check(file.getvalue())
    return ElementTree.fromstring(file.getvalue())


def _check(data: bytes) -> None:
    """Hold the file to the schema, where something that can is installed."""
    try:
        from lxml import etree
    except ImportError:
        return
    schema = etree.XMLSchema(etree.parse(str(SCHEMA)))
    schema.assertValid(etree.fromstring(data))


def test_failures_and_errors_are_told_apart() -> None:
    """A low score is a failure, a missing one an error, and the counts of the suite add up."""
    (suite,) = _written(signed_run(failed=(1,)))
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["3", "1", "1", "0"]
    passed, error, failure = suite.iter("testcase")
    assert list(passed) == []
    assert [child.tag for child in error] == ["error"]
    assert error[0].get("message") == "retrieval_failed: the index is down"
    assert failure[0].get("message") == "score 0.25 is below 0.5"
    assert "CONTRADICTS: It uses port 8003." in (failure[0].text or "")
    assert failure.get("classname") == "sample.bm25"


@pytest.mark.parametrize(("least", "failures"), [("0", 0), ("0.25", 0), ("0.250001", 1), ("1", 2)])
def test_scores_are_compared_exactly(least: str, failures: int) -> None:
    """The scores are 1, 0.5 and 0.25: the least one itself passes."""
    (suite,) = _written(signed_run(), least=least)
    assert suite.get("failures") == str(failures)


def test_texts_that_xml_cannot_hold_come_through() -> None:
    """Control characters, ends of sections and quotes in answer and id leave the file valid."""
    search = Search(answer=CONTROL, id=f"q{CONTROL}", delivered=(("<", ">", "1"),))
    (suite,) = _written(retrieved([search], row="r&<\x07"), least="1")
    (case,) = suite.iter("testcase")
    assert case.get("name") == xml_text(f"q{CONTROL}")
    assert "\\u001b[31m\\u0000\\ufffe" in xml_text(CONTROL)


@given(st.text())
def test_any_text_becomes_xml(text: str) -> None:
    """No text breaks the file, and all of it is read back; XML itself reads every end of a line as a line feed."""
    from xml.sax.saxutils import escape

    read = ElementTree.fromstring(f"<a>{escape(xml_text(text))}</a>".encode())
    assert (read.text or "") == xml_text(text).replace("\r\n", "\n").replace("\r", "\n")


def test_a_voided_run_is_skipped_only_when_asked_for() -> None:
    """It is left out; with `voided` each of its cases is skipped with the reason, and none fails."""
    bundle = tell(Story(others=(), after=void_run()), with_log=True)
    assert bundle.log is not None
    key = OURS.public
    trust = Trust(own={key.kid: key}, policy=None, log=read_log(bundle.log), problems=(), now=bundle.now)
    left = source_of(bundle.files, trust=trust)
    assert list(left) == []
    assert [(one.code, one.refused) for one in left.left_out] == [("RUN_VOIDED", False)]
    (suite,) = _written(bundle.files, least="1", trust=trust, voided=True)
    assert suite.get("skipped") == suite.get("tests") == "3"
    assert suite.get("failures") == "0"


@pytest.mark.parametrize("least", ["nan", "inf", "-0.1", "1.01", "x", ""])
def test_a_least_score_is_a_number_from_0_to_1(least: str) -> None:
    """Anything else is wrong usage."""
    from click.testing import CliRunner

    assert CliRunner().invoke(junit, ["--min-score", least]).exit_code == 2
