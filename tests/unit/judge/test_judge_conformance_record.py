"""What a workspace keeps of a judge's conformance, and what the command prints of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragassay import canon
from ragassay.cli.judge_conformance import conformance_command
from ragassay.errors import InputError
from ragassay.judge.conformance import load_conformance, record_bytes, shipped_cases
from ragassay.plugins.judges.literal import LiteralJudge

BOARD = """\
name = "b"
corpus = { path = "docs" }
benchmark = { file = "q.json" }
answer = { kind = "reader" }
judge = { kind = "literal" }
control_waiver = "a test"
rows = [{ name = "r", stack = { kind = "bm25" } }]
"""
DESCRIBED = {"kind": "literal", "id": "literal/1", "describe": LiteralJudge().describe()}


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A board file; its corpus and questions are not there, because no case needs them."""
    path = tmp_path / "board.toml"
    path.write_text(BOARD, encoding="utf-8")
    return path


def test_it_prints_the_worst_kinds_first_and_keeps_a_record(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Accuracy by kind, the words, the flags and where the record is; the record says the same."""
    assert conformance_command(board, judge=None, workspace=None, as_json=False) == 0
    said = capsys.readouterr().out
    assert "judge: literal/1 under factual-consistency/2" in said
    assert (
        "judge conformance: 77 of 140 items, 220 of 322 claims; mean difference 0.2481 (+0.1270 with its sign)" in said
    )
    assert "145 cases: 140 judged, 0 unjudged, 3 settled by code, 2 not asked" in said
    assert said.index("\nwrong-entity") < said.index("\nhedge") < said.index("\nverbatim") < said.index("\nempty")
    assert "injection_seen          raised on 0 of 20" in said
    (record,) = load_conformance(board.parent / ".ragassay")
    assert record.headline() == "77 of 140 items"
    assert (record.judge, record.digest, record.prompt) == (DESCRIBED, canon.digest(DESCRIBED), None)
    assert record.cases == shipped_cases()[1]
    stored = board.parent / ".ragassay" / "conformance" / f"{record.digest}.json"
    assert stored.read_bytes() == record_bytes(record)
    assert str(stored) in said


def test_as_json_it_is_the_record(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON holds each judge's name, the path, the cost and the whole record."""
    assert conformance_command(board, judge="judge", workspace=board.parent / "w", as_json=True) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert (one["name"], one["costMicrousd"]) == ("judge", 0)
    assert one["record"] == json.loads(Path(one["path"]).read_bytes())
    assert Path(one["path"]).is_relative_to(board.parent / "w")


def test_a_second_time_replaces_the_record_of_the_same_judge(board: Path) -> None:
    """One judge has one record."""
    for _ in range(2):
        conformance_command(board, judge=None, workspace=None, as_json=True)
    assert len(load_conformance(board.parent / ".ragassay")) == 1


def test_an_unknown_judge_is_refused_with_the_known_ones(board: Path) -> None:
    """A name that neither the board nor its panel has is an input error that lists them."""
    with pytest.raises(InputError, match=r"has no judge 'nobody'; known are 'judge'"):
        conformance_command(board, judge="nobody", workspace=None, as_json=False)


def test_a_judge_of_literals_is_refused_under_profile_1(board: Path) -> None:
    """The published profile has no frozen claims, so that no literal could be looked for."""
    text = BOARD.replace('"q.json" }', '"q.json", scorer = "factual-consistency/1" }')
    board.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="factual-consistency/2"):
        conformance_command(board, judge=None, workspace=None, as_json=False)
    assert load_conformance(board.parent / ".ragassay") == []


def test_a_missing_key_is_named(board: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable that the judge's table names is asked for before anything is."""
    monkeypatch.delenv("CONFORMANCE_TEST_KEY", raising=False)
    model = '{ kind = "openai", id = "m", base_url = "http://127.0.0.1:9/v1", key_env = "CONFORMANCE_TEST_KEY" }'
    board.write_text(BOARD.replace('{ kind = "literal" }', f'{{ kind = "llm", model = {model} }}'), encoding="utf-8")
    with pytest.raises(InputError, match="keys that are not set") as caught:
        conformance_command(board, judge=None, workspace=None, as_json=False)
    assert "CONFORMANCE_TEST_KEY" in caught.value.problems[0]


def test_nothing_is_kept_where_nothing_was_run(tmp_path: Path) -> None:
    """A workspace without the folder has no record."""
    assert load_conformance(tmp_path) == []


def test_files_that_are_no_record_are_named_together(board: Path) -> None:
    """A broken, a foreign and a renamed file are each named; none is passed over."""
    conformance_command(board, judge=None, workspace=None, as_json=True)
    folder = board.parent / ".ragassay" / "conformance"
    (stored,) = folder.glob("*.json")
    (folder / "broken.json").write_text("{", encoding="utf-8")
    (folder / "foreign.json").write_text("{}", encoding="utf-8")
    (folder / f"{'0' * 64}.json").write_bytes(stored.read_bytes())
    with pytest.raises(InputError, match="cannot be read") as caught:
        load_conformance(board.parent / ".ragassay")
    assert len(caught.value.problems) == 3
    said = "\n".join(caught.value.problems)
    assert all(part in said for part in ("broken.json", "foreign.json", "another judge"))
