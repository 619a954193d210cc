"""Which questions a model answers without retrieval: on the board, on the command line, and what is not known of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pages_factory as rich
import pytest
import site_factory as make
import spec_factory as spec

from ragassay.cli import main
from ragassay.records import Benchmark
from ragassay.site import build_board, load_runs, site_files
from ragassay.site.questionrecord import ClosedBook
from ragassay.site.text import render_text

NOW = make.START + 10_000
GRADES = {
    1: ("supports", "supports", "supports"),
    2: ("hedges", "omits", "hedges"),
    3: ("omits", "omits", "hedges"),
    4: ("judge_failed", "judge_failed", "judge_failed"),
    5: ("judge_failed", "supports", "omits"),
}
BOARD = """
name = "b"
[corpus]
path = "docs"
[benchmark]
file = "questions.json"
[answer]
kind = "openai"
id = "acme-7b"
base_url = "http://127.0.0.1:9/v1"
[judge]
kind = "literal"
[[rows]]
name = "no-retrieval"
stack = { kind = "none" }
"""


def _control(workspace: Path, bench: Benchmark | None = None, **changes: Any) -> Benchmark:
    bench = bench or make.benchmark(100)
    grades = {**dict.fromkeys(range(1, 101), ("omits",) * 3), **GRADES}
    make.write_row(workspace, "no-retrieval", "none", bench, lambda n, k: grades[n][k - 1], **changes)
    return bench


def _folder(folder: Path, bench: Benchmark) -> Path:
    """Write a board file over the question set, beside the workspace."""
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "a.md").write_text("# A\n\nText.\n", encoding="utf-8")
    (folder / "questions.json").write_bytes(bench.full_form())
    (folder / "board.toml").write_text(BOARD, encoding="utf-8")
    return folder / "board.toml"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run `questions closed-book` and return its exit code and all that it printed."""

    def call(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["ragassay", "questions", "closed-book", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        found = capsys.readouterr()
        return int(ended.value.code or 0), found.out + found.err

    return call


def test_the_board_lists_what_the_control_answers(tmp_path: Path) -> None:
    """Mean and each pass in data and on the page; a question without any score is neither known nor not."""
    _control(tmp_path)
    board = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert board.main is not None
    book = board.main.closed_book
    assert isinstance(book, ClosedBook)
    assert [(one.id, one.mean, one.passes) for one in book.known] == [
        ("q-001", "1.000000", (100, 100, 100)),
        ("q-002", "0.333333", (50, 0, 50)),
        ("q-005", "0.500000", (None, 100, 0)),
    ]
    assert book.unscored == ("q-004",)
    words = "the control answers 3 of 100 questions (.250 or more), which therefore do not test retrieval: "
    words += "q-001 (1.000), q-002 (.333), q-005 (.500)"
    assert words in board.main.warnings
    unknown = "whether the model knows 1 of 100 questions is not known: the control has no score there"
    assert unknown in board.main.warnings
    printed = " ".join(render_text(board).split())
    assert words in printed
    assert unknown in printed
    files = site_files(board, load_runs(tmp_path, now=NOW))
    page = rich.parsed(files["index.html"])
    rows = page.xpath("//h2[starts-with(@id,'known-')]/following-sibling::table[1]//tbody/tr")
    assert [[cell.text_content().strip() for cell in row.xpath("./td")] for row in rows] == [
        ["q-001", "1.000", "1.00, 1.00, 1.00", "–"],
        ["q-002", ".333", ".50, .00, .50", "–"],
        ["q-005", ".500", "no score, 1.00, .00", "–"],
    ]
    assert "neither known nor unknown: q-004" in rich.words(files["index.html"])
    text = spec.said(tmp_path)
    assert "on 3 of 100 questions (q-001 1.000, q-002 .333 and q-005 .500): they do not test retrieval." in text
    assert "On 1 of 100 questions it has no score, so nobody knows." in text


def test_the_command_names_them_with_each_pass(tmp_path: Path, asked: Any) -> None:
    """Exit code 1 where some are known; the level can be set; a declined answer is told."""
    bench = _control(tmp_path / ".ragassay")
    board = _folder(tmp_path, bench)
    code, said = asked(board)
    assert code == 1
    assert said.splitlines() == [
        "acme-7b, judged by judge-1, row no-retrieval, 3 passes: 3 of 100 questions known (.250 or more)",
        "  q-001  1.000  passes: 1.00 1.00 1.00",
        "  q-002  .333  passes: .50 .00 .50",
        "  q-005  .500  passes: no score 1.00 .00",
        "  no score in any pass, so neither known nor not known (1): q-004",
    ]
    told = json.loads(asked(board, "--from", ".5", "--json")[1])
    assert [one["id"] for one in told["models"][0]["known"]] == ["q-001", "q-005"]
    assert told["models"][0]["unscored"] == ["q-004"]
    assert told["ok"] is False


def test_declined_answers_are_told(tmp_path: Path, asked: Any) -> None:
    """An abstention that is scored is counted beside its score."""
    bench = make.benchmark(2)
    settings = make.config("no-retrieval", "none", bench, circumstance_passes=1)
    outcomes = [
        make.outcome(q, "supports" if at else "omits", retrieval="off", answer_kind="answer" if at else "abstention")
        for at, q in enumerate(bench.questions)
    ]
    outcomes = [msgspec.structs.replace(one, status="abstained" if not at else "ok") for at, one in enumerate(outcomes)]
    make.write_run(tmp_path / ".ragassay" / "runs", settings, bench, outcomes)
    code, said = asked(_folder(tmp_path, bench), "--from", "1")
    assert code == 1
    assert "1 of 2 questions known (1.000 or more)" in said


def test_nothing_known_is_exit_code_0(tmp_path: Path, asked: Any) -> None:
    """A control that answers nothing leaves no question known."""
    bench = make.benchmark(6)
    make.write_row(tmp_path / ".ragassay", "no-retrieval", "none", bench, lambda *_: "omits")
    code, said = asked(_folder(tmp_path, bench))
    assert (code, "0 of 6 questions known" in said) == (0, True)


def test_each_model_is_told_by_itself(tmp_path: Path, asked: Any) -> None:
    """Another answering model is another table; the extractive reader proves nothing and is said to."""
    space = tmp_path / ".ragassay"
    bench = _control(space)
    other = {"kind": "openai", "id": "other-1b", "template": {}, "describe": {}}
    make.write_row(space, "no-retrieval", "none", bench, lambda *_: "omits", at=make.START + 900, answer=other)
    reader = {"kind": "reader", "id": "reader/1", "template": {}, "describe": {}}
    make.write_row(space, "no-retrieval", "none", bench, lambda *_: "omits", at=make.START + 1800, answer=reader)
    code, said = asked(_folder(tmp_path, bench))
    assert code == 1
    heads = [line for line in said.splitlines() if not line.startswith(" ")]
    assert len(heads) == 3
    assert any(line.startswith("other-1b") and "0 of 100 questions known" in line for line in heads)
    assert any(line.startswith("reader/1") and "proves nothing" in line for line in heads)


def test_a_reader_alone_is_no_answer(tmp_path: Path, asked: Any) -> None:
    """Nothing was asked of a model, so the command says what to do and the board lists nothing."""
    bench = make.benchmark(6)
    reader = {"kind": "reader", "id": "reader/1", "template": {}, "describe": {}}
    make.write_row(tmp_path / ".ragassay", "no-retrieval", "none", bench, lambda *_: "supports", answer=reader)
    code, said = asked(_folder(tmp_path, bench))
    assert code == 2
    assert "its control proves nothing" in said
    assert "name a language model in [answer]" in said
    board = build_board(load_runs(tmp_path / ".ragassay", now=NOW), now=NOW)
    assert board.main is not None
    assert board.main.closed_book is not None
    assert board.main.closed_book.reader
    assert not [warning for warning in board.main.warnings if warning.startswith("the control answers")]


def test_no_control_run_is_exit_code_2(tmp_path: Path, asked: Any) -> None:
    """Neither without a workspace, nor with runs of other rows, nor on another version of the questions."""
    bench = make.benchmark(6)
    board = _folder(tmp_path, bench)
    for step in range(3):
        code, said = asked(board)
        assert code == 2
        assert "there is no verified control run on this version of acme-docs" in said
        assert "ragassay run --row" in said
        if step == 0:
            make.write_row(tmp_path / ".ragassay", "bm25", "bm25", bench, make.losing_first(1))
        if step == 1:
            _control(tmp_path / ".ragassay", make.benchmark(6, version="0.9.0"))
    code, said = asked(board, "--from", "2")
    assert (code, "must be a decimal number above 0" in said) == (2, True)


def test_each_control_row_is_told(tmp_path: Path, asked: Any) -> None:
    """Of two controls none hides what the other one answers."""
    bench = make.benchmark(2)
    make.write_row(tmp_path / ".ragassay", "a-control", "none", bench, lambda _n, _k: "omits")
    make.write_row(tmp_path / ".ragassay", "b-control", "none", bench, lambda n, _k: "supports" if n == 1 else "omits")
    code, said = asked(_folder(tmp_path, bench), "--json")
    models = {one["row"]: [known["id"] for known in one["known"]] for one in json.loads(said)["models"]}
    assert (code, models) == (1, {"a-control": [], "b-control": ["q-001"]})
