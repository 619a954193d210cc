"""A check in every form it is printed in: nothing foreign steers a terminal, a CI system, Markdown or XML."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import check_lab as lab
import pytest
import site_factory as make
from check_lab import first, one_is, run

from ragassay.errors import InputError
from ragassay.records import Benchmark, Question

EVIL = "::error::pwned ##[set-env name=PATH]x\r\n\x1b[2J\u202e<script>&\"' [a](http://x) | @acme `code` %0A::stop"


def questions(number: int) -> Question:
    """Return a question whose id is an attack of its own."""
    return make.question(number, id=f"{EVIL} {number}", page=f"{EVIL}/{number}.md", topic=EVIL)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The runs of two boards in whose every name and id stands an attack; twelve questions got worse."""
    folder = tmp_path_factory.mktemp("hostile")
    bench = Benchmark(name=EVIL.replace("#", ""), version="1.0.0", questions=tuple(questions(n) for n in range(1, 31)))
    now, before = lab.write_board(folder / "now", bench, first(12)), folder / "before"
    lab.write_board(before, bench, first(0), at=make.START)
    for path in (now / "board.toml", now / "questions.json"):
        path.unlink()  # a board file refuses such names: only runs that somebody else made can hold them
    return now, before


def test_text_and_annotations_hold_no_foreign_command(hostile: tuple[Path, Path]) -> None:
    """Only our own annotations are workflow commands; no line steers a terminal, wraps into one, or holds `##[`."""
    result = run(hostile[0], "--vs", hostile[1], "--github")
    assert result.exit_code == 1
    own = re.compile(r"^::(error|warning|notice) title=ragassay check[^:,\n]*::")
    commands = [line for line in result.output.splitlines() if line.lstrip().startswith("::")]
    assert len(commands) == 1
    assert [line for line in commands if not own.match(line)] == []
    rest = [line for line in result.output.splitlines() if line not in commands]
    assert [line for line in rest if "::" in line or "##[" in line] == []
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", result.output)
    assert "##[" not in commands[0]


def test_junit_is_well_formed(tmp_path: Path, hostile: tuple[Path, Path]) -> None:
    """The XML can be parsed, counts what failed, and names the questions; a file that is there is replaced whole."""
    path = tmp_path / "check.xml"
    path.write_text("old", encoding="utf-8")
    run(hostile[0], "--vs", hostile[1], "--min-score", ".1", "--junit", path)
    suites = ET.fromstring(path.read_bytes())
    assert (suites.get("tests"), suites.get("failures"), suites.get("skipped")) == ("3", "1", "0")
    failure = suites.find(".//failure")
    assert failure is not None
    assert failure.text is not None
    assert len(failure.text.splitlines()) == 13
    assert "<script>" in failure.text


def test_junit_counts_problems_and_what_is_skipped(tmp_path: Path) -> None:
    """A failed control is a failed case of its own; what is inconclusive is skipped with its reason."""
    bench = make.benchmark(60)
    control = one_is("judge_failed", 4, 2, lost=60)
    now = lab.write_board(tmp_path / "now", bench, first(3), control=control)
    before = lab.write_board(tmp_path / "before", bench, first(0), at=make.START)
    run(now, "--vs", before, "--junit", tmp_path / "check.xml")
    suites = ET.fromstring((tmp_path / "check.xml").read_bytes())
    assert (suites.get("tests"), suites.get("failures"), suites.get("skipped")) == ("3", "1", "1")
    skipped = suites.find(".//skipped")
    assert skipped is not None
    assert "only 3 of 60 questions differ" in str(skipped.get("message"))


def test_markdown_shows_foreign_text_as_text(tmp_path: Path, hostile: tuple[Path, Path]) -> None:
    """No link, tag, mention, code or cell of a table comes out of an id; the report is added to what is there."""
    path = tmp_path / "summary.md"
    path.write_text("before\n", encoding="utf-8")
    run(hostile[0], "--vs", hostile[1], "--markdown", path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("before\n### ")
    bare = re.sub(r"\\.", "", text)
    assert not re.search(r"[<>@\[\]()]", bare)
    rows = [line for line in bare.splitlines() if line.startswith("| −1.000")]
    assert len(rows) == 12
    assert {line.count("|") for line in rows} == {6}


def test_json_holds_everything_and_no_fraction(hostile: tuple[Path, Path]) -> None:
    """--json is ASCII, names every question as it is, and holds no fractional number."""
    output = run(hostile[0], "--vs", hostile[1], "--json").stdout
    assert output.isascii()

    def refuse(text: str) -> float:
        raise AssertionError(f"a fractional number: {text}")

    found = json.loads(output, parse_float=refuse)
    assert [one["id"] for one in found["rows"][0]["worse"]] == sorted(f"{EVIL} {n}" for n in range(1, 13))


def test_long_lists_are_cut_in_print_and_whole_in_json(tmp_path: Path) -> None:
    """Of forty questions that got worse twenty are printed and forty are in the JSON."""
    bench = make.benchmark(60)
    now = lab.write_board(tmp_path / "now", bench, first(40))
    before = lab.write_board(tmp_path / "before", bench, first(0), at=make.START)
    assert "and 20 more; --json names all" in run(now, "--vs", before).output
    assert len(json.loads(run(now, "--vs", before, "--json").stdout)["rows"][0]["worse"]) == 40


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--min-score", "1.5"], "--min-score '1.5' is no number from 0 to 1"),
        (["--min-score", "nan"], "--min-score 'nan'"),
        (["--min-score", "75%"], "--min-score '75%'"),
        (["--max-drop", ".1"], "--max-drop needs --vs"),
        (["--max-drop", "-0.1", "--vs", "."], "--max-drop '-0.1'"),
        (["--max-drop", "1", "--vs", "."], "allows everything"),
        (["--confidence", "95"], "--confidence '95'"),
        (["--github", "--json"], "--github prints beside the text"),
    ],
)
def test_options_that_make_no_sense(tmp_path: Path, arguments: list[str], problem: str) -> None:
    """A number out of range, no number, or a drop against nothing is an input error that names the option."""
    with pytest.raises(InputError, match=re.escape(problem)):
        run(tmp_path, *arguments)


def test_all_wrong_options_are_listed_at_once() -> None:
    """Two wrong numbers are one error with two problems."""
    with pytest.raises(InputError) as found:
        run(".", "--min-score", "x", "--confidence", "y")
    assert len(found.value.problems) == 2


def test_files_that_cannot_be_written(tmp_path: Path, hostile: tuple[Path, Path]) -> None:
    """A folder in place of the JUnit file is an input error that names the option."""
    with pytest.raises(InputError, match="--junit"):
        run(hostile[0], "--junit", tmp_path)
    with pytest.raises(OSError, match="summary"):
        run(hostile[0], "--markdown", tmp_path / "nowhere" / "summary.md")
