"""What a board says of its judge beside its verdicts: noise, variance, null rows, conformance, people, refusals."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgspec
import panel_factory as panel
import pytest
import site_factory as make

from ragassay import canon
from ragassay.judge.conformance import ConformanceRecord, record_bytes, record_path
from ragassay.judge.conformance_report import ConformanceReport, Tally
from ragassay.manifest.keyfile import complete_key
from ragassay.manifest.note import note_key
from ragassay.records import to_json
from ragassay.records.calibration import CalibrationReport, Figures, JudgeCalibration, RaterLine
from ragassay.run.null_rows import CONSTANT
from ragassay.site import Board, encode_board, load_runs, render_text, site_files
from ragassay.site.calibration.rubric import VERSION, rubric_digest
from ragassay.site.judgements import run_judgements
from ragassay.site.judgerecord import Judging, NoiseLine
from ragassay.site.write import board_of as workspace_board
from ragassay.verify.policy_file import write_policy

NOW = make.START + 9_999
SMALL = make.benchmark(12)
GRADES = make.losing_first(4)


def board_of(workspace: Path) -> Board:
    """Return the board of a workspace with what is known of its judges."""
    return workspace_board(workspace, now=NOW)


def judging_of(board: Board) -> Judging:
    """Return what the main table says of its judges."""
    assert board.main is not None
    assert board.main.judging is not None
    return board.main.judging


def noise_of(board: Board, name: str) -> NoiseLine:
    """Return the noise of one row."""
    assert board.main is not None
    key = next(row.key for row in board.main.rows if row.name == name)
    return next(line for line in judging_of(board).noise if line.row == key)


def plain(board: Board) -> str:
    """Return the board's text with every run of white space as one space."""
    return " ".join(render_text(board).split())


def one_row(workspace: Path, passes: int = 1, **changes: Any) -> list[str]:
    """Write one row over twelve questions, the first four lost."""
    return make.write_row(workspace, "bm25", "bm25", SMALL, GRADES, passes=passes, **changes)


def test_noise_by_hand(tmp_path: Path) -> None:
    """Of five asked again one moves by .50: .20 changed, mean |Δ| .100, and the other seven enter no figure."""
    runs = one_row(tmp_path)
    panel.reask(tmp_path, runs[0], 5, {2}, lambda n: GRADES(n, 1), "hedges")
    board = board_of(tmp_path)
    line = noise_of(board, "bm25")
    assert (line.state, line.n, line.lost, line.whole) == ("measured", 5, 0, False)
    assert (line.score_changed, line.score_share, line.mean_absolute) == (1, "0.200000", "0.100000")
    assert "bm25: 5 items asked again: .20 changed their score (1 of 5), mean |Δ| .100" in plain(board)


def test_the_control_row_is_asked_again_whole(tmp_path: Path) -> None:
    """Every judged item of every run of the control was asked again, and the board says so."""
    one_row(tmp_path)
    runs = make.write_row(tmp_path, "none", "none", SMALL, make.losing_first(12), passes=3)
    for run in runs:
        panel.reask(tmp_path, run, 12, {0}, lambda _: "omits", "supports")
    board = board_of(tmp_path)
    line = noise_of(board, "none")
    assert (line.n, line.whole, line.score_changed, line.runs_again) == (36, True, 3, 3)
    assert "none: whole row, 36 items asked again: .08 changed their score (3 of 36)" in plain(board)
    assert "bm25: not asked again" in plain(board)


def test_what_was_asked_again_in_vain_is_lost_and_no_number(tmp_path: Path) -> None:
    """An item on which the second asking failed is counted as lost, apart from those with two scores."""
    runs = one_row(tmp_path)
    panel.reask(tmp_path, runs[0], 4, {0}, lambda n: GRADES(n, 1), "judge_failed")
    line = noise_of(board_of(tmp_path), "bm25")
    assert (line.n, line.lost, line.score_changed) == (3, 1, 0)
    shutil.rmtree(tmp_path / "judgements")
    panel.reask(tmp_path, runs[0], 2, {0, 1}, lambda n: GRADES(n, 1), "judge_failed")
    board = board_of(tmp_path)
    assert noise_of(board, "bm25").state == "undefined"
    assert "bm25: undefined: 2 asked again, and none has a score from both times" in plain(board)


def test_the_warning_goes_once_an_answer_was_judged_twice(tmp_path: Path) -> None:
    """`judge noise not recorded` stands until something is asked again."""
    runs = one_row(tmp_path)
    said = "judge noise not recorded: no answer was judged twice"
    assert said in plain(board_of(tmp_path))
    panel.reask(tmp_path, runs[0], 3, (), lambda n: GRADES(n, 1), "omits")
    assert said not in plain(board_of(tmp_path))


def test_a_deterministic_judge_has_nothing_to_ask_again(tmp_path: Path) -> None:
    """Under a literal judge the board says that there is nothing to ask again, once for all rows, and no zero."""
    runs = one_row(tmp_path, judge={"kind": "literal", "id": "literal/1", "describe": {}})
    panel.judge_run(tmp_path, runs[0], lambda n: GRADES(n, 1))
    board = board_of(tmp_path)
    assert noise_of(board, "bm25").score_share is None
    assert "literal/1 asked again: deterministic judge: nothing to ask again" in plain(board)


def test_where_the_variance_comes_from(tmp_path: Path) -> None:
    """With two judges and three identical passes of rows that differ by question, passes buy nothing."""
    for name, grade in (("bm25", make.losing_first(4)), ("dense", lambda n, _: "omits" if n % 3 else "supports")):
        for run in make.write_row(tmp_path, name, "bm25", SMALL, grade, passes=3):
            panel.judge_run(tmp_path, run, lambda n, grade=grade: "hedges" if n == 1 else grade(n, 1))  # type: ignore[misc]
    board = board_of(tmp_path)
    found = judging_of(board).components
    assert found is not None
    assert (found.questions, found.rows, found.passes, found.judges) == (12, 2, 3, 2)
    assert (found.advice, found.from_passes) == ("buy questions, not passes", "0.000000")
    assert "buy questions, not passes" in plain(board)


def test_one_pass_gives_no_advice_on_passes(tmp_path: Path) -> None:
    """With one pass and nothing asked again there are no components, and nothing is advised."""
    runs = one_row(tmp_path)
    panel.judge_run(tmp_path, runs[0], lambda _: "hedges")
    board = board_of(tmp_path)
    assert judging_of(board).components is None
    assert "buy " not in plain(board)


def test_null_rows_above_zero_are_loud(tmp_path: Path) -> None:
    """A judge that gives .50 to one constant sentence on three questions is told so; the empty answer got 0."""
    runs = one_row(tmp_path)
    panel.null_row(tmp_path, runs[0], "empty", "", lambda _: "omits", 1)
    panel.null_row(tmp_path, runs[0], "constant", CONSTANT, lambda n: "hedges" if n <= 3 else "omits", 2)
    board = board_of(tmp_path)
    lines = judging_of(board).judges[0].null_rows
    assert [(line.null_row, line.judged, line.above, line.highest) for line in lines] == [
        ("empty", 12, 0, 0),
        ("constant", 12, 3, 50),
    ]
    text = plain(board)
    assert (
        "! judge-1: the judge gave .50 to one constant sentence: above 0 on 3 of 12 questions, .125 in the mean" in text
    )
    assert "judge-1: an empty answer got .000 on all 12 questions" in text
    assert "judge-1: not judged: a text that tries to steer it" in text


def test_a_null_row_without_a_verdict_is_no_zero(tmp_path: Path) -> None:
    """A null row on which the judge failed everywhere has no number, and that is loud."""
    runs = one_row(tmp_path)
    panel.null_row(tmp_path, runs[0], "constant", CONSTANT, lambda _: "judge_failed", 1)
    board = board_of(tmp_path)
    assert judging_of(board).judges[0].null_rows[0].score is None
    assert "! judge-1: one constant sentence has no verdict: 12 unjudged" in plain(board)


def tally(kind: str, right: int, judged: int) -> Tally:
    """Return the counts of some conformance cases."""
    return Tally(
        kind=kind,
        cases=judged,
        judged=judged,
        unjudged=0,
        settled=0,
        not_asked=0,
        exact_items=right,
        claims=judged,
        exact_claims=right,
        absolute=0,
        signed=0,
    )


def write_conformance(workspace: Path, judge: dict[str, Any], **changes: Any) -> None:
    """Write a record of 58 of 61 right items."""
    report = ConformanceReport(
        total=tally("all", 58, 61),
        kinds=(tally("negation", 7, 10), tally("verbatim", 51, 51)),
        confusion=(),
        flags=(),
        results=(),
    )
    given: dict[str, Any] = {
        "judge": judge,
        "digest": canon.digest(judge),
        "profile": "factual-consistency/2",
        "prompt": "ab" * 32,
        "schema": None,
        "cases": "cd" * 32,
        "created": make.START,
        "notes": (),
        "report": report,
    }
    record = ConformanceRecord(**{**given, **changes})
    path = record_path(workspace, record.digest)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(record_bytes(record))


def test_conformance_is_printed_with_date_and_prompt(tmp_path: Path) -> None:
    """58 of 61 right, on which day, under which prompt, and the kinds that are not all right."""
    one_row(tmp_path)
    write_conformance(tmp_path, panel.JUDGE_1)
    text = plain(board_of(tmp_path))
    assert "judge-1: conformance 58 of 61 items right (2026-09-21, prompt abababab)" in text
    assert "judge-1: by kind, the least right first: negation 7 of 10" in text


@pytest.mark.parametrize(
    ("judge", "changes", "why"),
    [
        ({**panel.JUDGE_1, "describe": {"seed": 9}}, {}, "measured of another judge of this name"),
        (panel.JUDGE_1, {"profile": "factual-consistency/1"}, "measured under factual-consistency/1"),
    ],
)
def test_conformance_of_another_judge_is_stale(
    tmp_path: Path, judge: dict[str, Any], changes: dict[str, Any], why: str
) -> None:
    """A record of the same id that was described otherwise, or of another profile, is not this judge's."""
    one_row(tmp_path)
    write_conformance(tmp_path, judge, **changes)
    board = board_of(tmp_path)
    assert judging_of(board).judges[0].conformance.state == "stale"
    assert f"! judge-1: conformance is stale: {why}" in plain(board)


def test_a_record_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A damaged record is no figure: the board stands and names it."""
    one_row(tmp_path)
    (tmp_path / "conformance").mkdir()
    (tmp_path / "conformance" / "x.json").write_bytes(b"{}")
    board = board_of(tmp_path)
    assert judging_of(board).judges[0].conformance.state == "not_measured"
    assert "! conformance: " in plain(board)
    assert "judge-1: judge conformance not measured" in plain(board)


FIGURES = Figures(
    n=62,
    rho="0.870000",
    lower="0.780000",
    upper="0.920000",
    qwk="0.840000",
    bias="0.021000",
    mae="0.050000",
    exact="0.900000",
    ac2=None,
    positive=None,
    common=None,
    table=(),
    undefined={},
)


def write_calibration(workspace: Path, state: str, why: str, **changes: Any) -> None:
    """Write a report of people's ratings of judge-1."""
    folder = workspace / "calibration"
    folder.mkdir(exist_ok=True)
    (folder / "ratings.jsonl").write_bytes(b"")
    judge: dict[str, Any] = {
        "judge": "judge-1",
        "digest": canon.digest(panel.JUDGE_1),
        "purpose": "published",
        "unjudged": 0,
        "state": state,
        "why": why,
        "unmet": (),
        "cautions": (),
        "figures": FIGURES,
    }
    given: dict[str, Any] = {
        "at": make.START,
        "harness": "0.1.0",
        "rubric": rubric_digest(),
        "rubric_version": VERSION,
        "ratings": canon.sha256(b""),
        "benchmark": SMALL.digest(),
        "sampled": 100,
        "rated": 62,
        "not_counted": 0,
        "raters": (RaterLine(name="a", rated=62, cannot_say=0, not_counted=0),),
        "judges": (JudgeCalibration(**{**judge, **changes.pop("judge", {})}),),
        "between": None,
    }
    (folder / "report.json").write_bytes(canon.canonical(to_json(CalibrationReport(**{**given, **changes}))) + b"\n")


@pytest.mark.parametrize(
    ("state", "why", "said"),
    [
        ("calibrated", "enough", "against people: calibrated (n = 62, 1 rater): ρ .87 [.78, .92], QWK .84"),
        ("provisional", "62 of 100 rated items", "against people: provisional (n = 62, 1 rater): ρ .87 [.78, .92]"),
        ("failed", "ρ is .61, below .85", "! judge-1: against people: not calibrated: ρ is .61, below .85 (n = 62"),
    ],
)
def test_the_state_of_calibration(tmp_path: Path, state: str, why: str, said: str) -> None:
    """Each state is said with n, ρ and its interval, QWK and bias."""
    one_row(tmp_path)
    write_calibration(tmp_path, state, why)
    text = plain(board_of(tmp_path))
    assert said in text
    assert "bias +.02" in text


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"judge": {"digest": "ee" * 32}}, "people were compared with another judge of this name"),
        ({"benchmark": "ee" * 32}, "people rated answers to another question set"),
        ({"rubric": "ee" * 32}, "people rated by another rubric"),
        ({"ratings": "ee" * 32}, "ratings have changed since"),
    ],
)
def test_a_report_of_something_else_is_stale(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    """Ratings of another judge, question set or rubric, or of ratings that have changed, calibrate nothing here."""
    one_row(tmp_path)
    write_calibration(tmp_path, "calibrated", "enough", **changes)
    board = board_of(tmp_path)
    assert judging_of(board).judges[0].calibration.state == "stale"
    assert f"not calibrated: {why}" in plain(board)


def test_a_changed_verdict_is_refused_and_used_for_nothing(tmp_path: Path) -> None:
    """A judgement whose verdicts are not those that were signed is listed with its code; the row stays unjudged."""
    runs = one_row(tmp_path)
    folder = panel.judge_run(tmp_path, runs[0], lambda _: "omits")
    path = folder / "verdicts.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"score":0', b'"score":100', 1))
    board = board_of(tmp_path)
    found = judging_of(board)
    assert found.panel == ()
    assert [one.code for one in found.refused] == ["OUTPUTS_DIGEST"]
    assert "1 judgement not verified, and used for nothing:" in plain(board)
    assert "OUTPUTS_DIGEST" in plain(board)


def test_a_strangers_judgement_is_refused(tmp_path: Path) -> None:
    """A judgement by a key that neither the workspace knows nor the run was signed with counts for nothing."""
    runs = one_row(tmp_path)
    panel.judge_run(tmp_path, runs[0], lambda _: "omits", signer=panel.stranger())
    found = judging_of(board_of(tmp_path))
    assert [one.code for one in found.refused] == ["KEY_UNKNOWN"]
    assert found.panel == ()


@pytest.mark.parametrize(("known", "notes"), [(make.SIGNER, 0), (panel.stranger(), 1)])
def test_the_workspaces_own_key_is_a_pin(tmp_path: Path, known: Any, notes: int) -> None:
    """A judgement by one of the workspace's own keys is pinned; under any other it stands on the run's signer alone."""
    runs = one_row(tmp_path)
    panel.judge_run(tmp_path, runs[0], lambda _: "omits")
    (tmp_path / "keys").mkdir()
    complete_key(known, tmp_path / "keys")
    found = judging_of(board_of(tmp_path))
    assert (len(found.panel), len(found.notes)) == (1, notes)


def test_a_policy_decides_whose_judgements_count(tmp_path: Path) -> None:
    """A key that the workspace's policy pins may judge another signer's run; the run's own signer may as before."""
    runs = one_row(tmp_path)
    panel.judge_run(tmp_path, runs[0], lambda _: "omits", signer=panel.stranger())
    judge = {**panel.JUDGE_2, "id": "judge-3"}
    panel.judge_run(tmp_path, runs[0], lambda _: "omits", judge=judge)
    log = note_key("log.example/1", "log", make.SIGNER.public.x)
    (tmp_path / "policy.json").write_bytes(write_policy(keys=(panel.stranger().public,), log=log))
    found = judging_of(board_of(tmp_path))
    assert [judge.name for judge in found.panel] == ["judge-2", "judge-3"]
    assert found.notes[0].startswith("SIGNER_UNPINNED in 1 of 2 judgements")


def test_a_judgement_in_another_folder_is_refused(tmp_path: Path) -> None:
    """A judgement copied under another number is none, so that no judgement counts twice."""
    runs = one_row(tmp_path)
    folder = panel.judge_run(tmp_path, runs[0], lambda _: "omits")
    shutil.copytree(folder, folder.with_name(folder.name.removesuffix("-1") + "-2"))
    found = judging_of(board_of(tmp_path))
    assert [one.code for one in found.refused] == ["BUNDLE_NAME"]
    assert len(found.panel) == 1


def test_a_judgement_of_another_run_is_refused(tmp_path: Path) -> None:
    """A judgement that lies beside another run than its own is refused."""
    runs = one_row(tmp_path, passes=2)
    folder = panel.judge_run(tmp_path, runs[0], lambda _: "omits")
    (tmp_path / "judgements" / runs[1]).mkdir()
    folder.rename(tmp_path / "judgements" / runs[1] / folder.name)
    assert [one.code for one in judging_of(board_of(tmp_path)).refused] == ["ROW_FOREIGN_RUN"]


def test_the_documents_of_a_run(tmp_path: Path) -> None:
    """`run_judgements` gives the verified ones alone."""
    runs = one_row(tmp_path)
    panel.judge_run(tmp_path, runs[0], lambda _: "omits")
    panel.judge_run(tmp_path, runs[0], lambda _: "omits", n=2, signer=panel.stranger())
    files = load_runs(tmp_path, now=NOW)[0].files
    found = run_judgements(tmp_path, runs[0], files)
    assert [(one.predicate.judge.id, one.predicate.n) for one in found] == [("judge-2", 1)]


def test_the_page_says_what_the_terminal_says(tmp_path: Path) -> None:
    """Panel, noise, null rows and refusals stand on the page, marked in words, and the files can be fetched."""
    runs = one_row(tmp_path)
    panel.judge_run(tmp_path, runs[0], lambda n: "judge_failed" if n == 12 else "omits")
    panel.judge_run(tmp_path, runs[0], lambda _: "omits", n=2, signer=panel.stranger())
    panel.reask(tmp_path, runs[0], 5, {2}, lambda n: GRADES(n, 1), "hedges")
    panel.null_row(tmp_path, runs[0], "constant", CONSTANT, lambda n: "hedges" if n == 1 else "omits", 1)
    board = board_of(tmp_path)
    files = site_files(board, load_runs(tmp_path, now=NOW))
    page = files["index.html"].decode()
    for said in (
        "The same answers under 1 other judge",
        "1 of 12 questions without a score by this judge",
        "5 items asked again: .20 changed their score (1 of 5), mean |Δ| .100",
        '<li class="loud">The judge gave .50 to one constant sentence: above 0 on 1 of 12 questions',
        "<code>KEY_UNKNOWN</code>",
        "No human calibration",
        "Judge conformance not measured",
    ):
        assert said in page
    kept = {path.split("/")[-1] for path in files if path.startswith(f"judgements/{runs[0]}/")}
    assert kept == {"judge.json", "judgement.dsse.json", "replies.jsonl", "verdicts.jsonl"}


def test_a_hostile_judge_id_is_shown_as_text(tmp_path: Path) -> None:
    """Markup and steering characters in a judge's id stand as text on page and terminal."""
    runs = one_row(tmp_path)
    judge = {**panel.JUDGE_2, "id": "<script>x</script>\u202e"}
    panel.judge_run(tmp_path, runs[0], lambda _: "omits", judge=judge)
    board = board_of(tmp_path)
    page = site_files(board, load_runs(tmp_path, now=NOW))["index.html"].decode()
    assert "<script>x" not in page
    assert "\u202e" not in page + render_text(board)
    assert msgspec.json.decode(encode_board(board))["tables"][0]["judging"]["judges"][1]["id"] == judge["id"]
