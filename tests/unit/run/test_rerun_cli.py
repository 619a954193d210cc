"""What `verify --rerun` makes of a re-execution: a finding or a check not made, lines, a record, an exit code."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from run_lab import Lab

from ragassay.cli.rerun import CODE, rerun_code, rerun_lines, rerun_report, rerun_summary, workspace_of
from ragassay.manifest import read_run
from ragassay.run.rerun_rows import Rerun, RowDifference, not_possible
from ragassay.testing.signed_run import OpenedRun, resigned, signed_run
from ragassay.verify import Report, Unpinned, verify

EQUAL = Rerun(outcome="equal", rows=36, content="ab" * 32, harness="0.1.0")


def _verified(files: dict[str, bytes]) -> Report:
    return verify(files, policy=Unpinned(), now=int(time.time()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a run in a workspace, made over a small board."""
    lab = Lab(tmp_path, questions=3)
    lab.write()
    return lab.space.runs / lab.run()["row", 1].run_id


def test_an_equal_run_is_recorded_and_its_report_says_so(folder: Path) -> None:
    """The check is among those made, no finding is added, and the record lies in the workspace."""
    files = read_run(folder).files
    before = _verified(files)
    report, done = rerun_report(files, before, folder=folder)
    assert done.outcome == "equal"
    assert report.findings == before.findings
    assert report.made[-1] == "re-execution"
    assert [path.stem for path in (folder.parents[1] / "reexecutions").iterdir()] == [folder.name]


def test_a_different_run_is_a_finding_that_fails(folder: Path) -> None:
    """A run that verifies and comes out different is refused with RERUN_DIFFERS."""

    def edit(run: OpenedRun) -> None:
        run.outputs[0]["answer"] += "!"
        run.predicate["intent"] = None

    files = resigned(read_run(folder).files, edit)
    before = _verified(files)
    assert before.ok()
    report, _ = rerun_report(files, before, folder=folder)
    assert not report.ok()
    assert report.codes - before.codes == {CODE}


def test_a_refused_run_is_not_executed(folder: Path) -> None:
    """A run with a changed byte is told as not executed, and nothing is recorded."""
    files = read_run(folder).files
    files["outputs.jsonl"] = files["outputs.jsonl"].replace(b"grams", b"tons.", 1)
    report, done = rerun_report(files, _verified(files), folder=folder)
    assert done.why == "the run failed verification, so it was not executed"
    assert report.not_made[-1].check == "re-execution"
    assert not (folder.parents[1] / "reexecutions").exists()


def test_what_is_strictly_refused_is_not_executed_under_strict(folder: Path) -> None:
    """Everything else comes first: under `strict` a run with a warning is refused and not executed."""
    files = read_run(folder).files
    _, done = rerun_report(files, _verified(files), folder=folder, strict=True)
    assert done.outcome == "not possible"


def test_a_copy_of_a_run_records_nothing(folder: Path, tmp_path: Path) -> None:
    """Only `runs/<id>` belongs to a workspace: elsewhere nothing is written, and the corpus must be named."""
    copy = tmp_path / "elsewhere" / "copy"
    copy.mkdir(parents=True)
    files = read_run(folder).files
    assert workspace_of(copy, folder.name) is None
    _, unnamed = rerun_report(files, _verified(files), folder=copy)
    _, named = rerun_report(files, _verified(files), folder=copy, corpus=tmp_path / "docs")
    assert (unnamed.outcome, named.outcome) == ("not possible", "equal")
    assert not list((tmp_path / "elsewhere").rglob("reexecutions"))


def test_a_record_that_cannot_be_written_is_told(folder: Path) -> None:
    """The outcome stands where the workspace cannot be written, and it is said that it was not recorded."""
    (folder.parents[1] / "reexecutions").write_text("in the way", encoding="utf-8")
    files = read_run(folder).files
    _, done = rerun_report(files, _verified(files), folder=folder)
    assert done.outcome == "equal"
    assert "not recorded" in "\n".join(rerun_lines(done))


def test_a_fixture_made_by_hand_is_not_possible() -> None:
    """A signed run that nothing real was measured for verifies, and cannot be executed again."""
    files = signed_run()
    report, done = rerun_report(files, _verified(files))
    assert report.ok()
    assert done.outcome == "not possible"


@pytest.mark.parametrize(
    ("accepted", "reruns", "code"),
    [
        (True, [EQUAL], 0),
        (True, [EQUAL, not_possible("no corpus")], 3),
        (False, [EQUAL], 1),
        (False, [not_possible("refused")], 1),
        (True, [not_possible("x"), Rerun(outcome="different")], 1),
    ],
)
def test_not_possible_is_never_a_success(accepted: bool, reruns: list[Rerun], code: int) -> None:
    """0 is for runs that are all verified and equal, 1 for a no, 3 for what could not be done."""
    assert rerun_code(accepted, reruns) == code


def test_lines_name_what_differs_and_steer_no_terminal() -> None:
    """Ids and reasons of a run are printed as visible text on one line, and what is not named is counted."""
    one = RowDifference(id="q\x1b[2J\u202e1", members=("answer", "score"), score_signed=100, score_now=None)
    done = msgspec.structs.replace(EQUAL, outcome="different", why="a\nb", differing=22, differences=(one,))
    assert rerun_lines(done) == [
        f"re-executed: DIFFERENT (14 of 36 rows, content {'ab' * 6}, ragassay 0.1.0)",
        "  a b",
        "  q[U+001B][2J[U+202E]1: answer, score (score 100, now none)",
        "  and 21 more",
    ]
    hindered = not_possible("no\x07 corpus", ["look\u2028there"])
    assert rerun_lines(hindered) == ["re-executed: NOT POSSIBLE: no[U+0007] corpus", "  - look[U+2028]there"]
    aside = msgspec.structs.replace(EQUAL, filled=2, withheld=1)
    assert rerun_lines(aside)[0].endswith(
        "; 2 that the run filled in from another pass executed like any other, 1 withheld texts compared by digest"
    )
    assert rerun_summary([EQUAL, done, hindered]) == (
        "1 of 3 runs re-executed with equal content, counts and score; 1 different; 1 not possible."
    )


def test_the_base_install_says_what_to_install(folder: Path) -> None:
    """Without numpy a re-execution is not possible, the reason names the extra, and verification goes on."""
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from pathlib import Path\n"
        "from ragassay.cli.rerun import rerun_lines, rerun_report\n"
        "from ragassay.manifest import read_run\n"
        "from ragassay.verify import Unpinned, verify\n"
        f"folder = Path({str(folder)!r})\n"
        "files = read_run(folder).files\n"
        "report = verify(files, policy=Unpinned(), now=2_000_000_000)\n"
        "print(report.ok(), *rerun_lines(rerun_report(files, report, folder=folder)[1]))\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "True re-executed: NOT POSSIBLE: re-execution needs numpy: pip install 'ragassay[run]'\n"
