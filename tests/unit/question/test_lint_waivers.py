"""Waivers are read line by line, keep their reason, and make the findings that they name fail nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.question import Waiver, lint, load_waivers
from ragassay.question.waivers import parse_waivers
from ragassay.records import Benchmark, Claim, Question


def test_a_line_names_rule_questions_and_reason(tmp_path: Path) -> None:
    """Blank lines and comments say nothing; an id with spaces stands in quotes; the line is kept."""
    text = '# kept by A. Writer\n\nkey-literal q-1 # in the table\nnear-duplicate "q 2" "#3"   #  two # marks \r\nx y\n'
    (tmp_path / "set.waive").write_text(text, encoding="utf-8")
    assert load_waivers(tmp_path / "set.json") == (
        Waiver(rule="key-literal", questions=("q-1",), reason="in the table", line=3),
        Waiver(rule="near-duplicate", questions=("q 2", "#3"), reason="two # marks", line=4),
        Waiver(rule="x", questions=("y",), reason="", line=5),
    )
    assert load_waivers(tmp_path / "set.waive") == load_waivers(tmp_path / "set.json")


def test_no_file_is_no_waiver(tmp_path: Path) -> None:
    """Without the file nothing is waived."""
    assert load_waivers(tmp_path / "set.json") == ()


@pytest.mark.parametrize("line", ["rule", "rule # reason", "a b c d # r", '"" b # r', "# x\na b'c d \"e # r"])
def test_a_line_that_is_no_waiver_is_a_problem_with_its_number(line: str) -> None:
    """One rule and one or two questions, then the reason; anything else is refused."""
    problems: list[str] = []
    parse_waivers(line, problems)
    (problem,) = problems
    assert problem.startswith(f"line {len(line.splitlines())}: ")


def test_every_problem_of_a_file_is_listed_at_once(tmp_path: Path) -> None:
    """Both bad lines are named, and the good one between them is not taken."""
    (tmp_path / "set.waive").write_text("one\na b # fine\nthree", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        load_waivers(tmp_path / "set.json")
    assert [problem.split(":")[0] for problem in refused.value.problems] == ["line 1", "line 3"]
    (tmp_path / "set.waive").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="cannot be read"):
        load_waivers(tmp_path / "set.json")


def test_a_waived_finding_keeps_its_reason_and_fails_nothing() -> None:
    """Rule and questions have to be those of the finding."""
    claim = Claim(id=1, text="It is port 80.", central=True, must=(("81",),))
    question = Question(id="q", input="Which port does Acme use?", target="Port 80.", claims=(claim,))
    benchmark = Benchmark(name="n", questions=(question,))
    waivers = (Waiver(rule="target-fails", questions=("q",), reason="to be mended"),)
    (finding,) = [found for found in lint(benchmark, waivers=waivers) if found.rule == "target-fails"]
    assert (finding.severity, finding.waived, finding.fails) == ("error", "to be mended", False)
    (other,) = [found for found in lint(benchmark) if found.rule == "target-fails"]
    assert (other.waived, other.fails) == (None, True)
