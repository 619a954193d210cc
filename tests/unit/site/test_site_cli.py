"""The verbs board and compare."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import site_factory as make
from click.testing import CliRunner, Result

from ragassay.cli.board import command as board_command
from ragassay.cli.compare import command as compare_command
from ragassay.cli.spec import command as spec_command
from ragassay.errors import InputError
from ragassay.site.kept_name import kept_name

BOARD = """
name = "Acme docs"
[corpus]
path = "docs"
[benchmark]
file = "questions.json"
[answer]
kind = "reader"
[judge]
kind = "literal"
[[rows]]
name = "no-retrieval"
stack = { kind = "none" }
[[rows]]
name = "bm25"
stack = { kind = "bm25" }
[[rows]]
name = "dense"
stack = { kind = "dense" }
"""


def run(command: object, *arguments: str | Path) -> Result:
    """Run a verb and return what it printed; errors raised on purpose come through."""
    result = CliRunner(env={"COLUMNS": "100"}).invoke(command, [str(a) for a in arguments])  # type: ignore[arg-type]
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a board file, its questions and the runs of three of its rows."""
    bench = make.small_board(tmp_path / ".ragassay", make.benchmark(20))
    (tmp_path / "board.toml").write_text(BOARD, encoding="utf-8")
    (tmp_path / "questions.json").write_bytes(bench.full_form())
    return tmp_path


def test_board_prints_and_writes(folder: Path) -> None:
    """The board is printed, board.json and site/ stand beside the board file, and the exit code is 0."""
    result = run(board_command, folder)
    assert result.exit_code == 0
    assert result.output.startswith("Acme docs ")
    assert (folder / "site" / "index.html").is_file()
    assert json.loads((folder / "board.json").read_bytes())["name"] == "Acme docs"


@pytest.mark.parametrize("given", ["board.toml", ".ragassay", "."])
def test_board_is_found_by_file_folder_or_workspace(folder: Path, given: str) -> None:
    """A board file, its folder and its workspace all name the same board."""
    assert run(board_command, folder / given, "--no-site").output.startswith("Acme docs ")
    assert not (folder / "site").exists()


def test_board_as_json(folder: Path) -> None:
    """--json prints board.json itself."""
    result = run(board_command, folder, "--no-site", "--json")
    assert result.stdout_bytes == (folder / "board.json").read_bytes()


def test_rows_that_left_the_board_file_are_unranked(folder: Path) -> None:
    """hybrid is not in the board file any more, so it keeps its number and loses its rank."""
    table = json.loads(run(board_command, folder, "--no-site", "--json").output)["tables"][0]
    hybrid = next(row for row in table["rows"] if row["name"] == "hybrid")
    assert (hybrid["standing"], hybrid["reason"]) == ("unranked", "no longer in the board file")
    assert hybrid["score"] is not None


def test_a_damaged_run_makes_the_exit_code_1(folder: Path) -> None:
    """A run that cannot be verified is named, and the exit code says that the answer is no."""
    path = next((folder / ".ragassay" / "runs").iterdir()) / "telemetry.jsonl"
    path.write_bytes(path.read_bytes().replace(b"640", b"641", 1))
    result = run(board_command, folder, "--no-site")
    assert result.exit_code == 1
    assert "TELEMETRY_DIGEST" in result.output


def test_a_folder_without_a_board_is_refused(tmp_path: Path) -> None:
    """Neither board file nor workspace: an input error that names init."""
    with pytest.raises(InputError, match="ragassay init"):
        run(board_command, tmp_path)


def _without_extra(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process in which numpy, scipy and jinja2 cannot be imported."""
    code = (
        "import sys\n"
        "for name in ('numpy', 'scipy', 'jinja2', 'markupsafe'): sys.modules[name] = None\n"
        "from ragassay.cli import main\n"
        "main()\n"
    )
    command: Sequence[str] = [sys.executable, "-c", code, *arguments]
    environment = {**os.environ, "COLUMNS": "100"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


def test_the_base_install_prints_the_board_written_before(folder: Path) -> None:
    """Without the extra `run` the last board.json is printed, and stderr says that nothing was rebuilt or verified."""
    written = run(board_command, folder, "--no-site").output
    result = _without_extra(folder, "board")
    assert (result.returncode, result.stdout) == (0, written)
    assert "not rebuilt and not verified" in result.stderr


def test_the_base_install_without_a_board_names_the_extra(folder: Path) -> None:
    """Where no board was written before, the error says what to install."""
    result = _without_extra(folder, "board")
    assert result.returncode == 2
    assert "pip install 'ragassay[run]'" in result.stderr


def test_compare_prints_the_difference(folder: Path) -> None:
    """The verb prints sentence, figures and deciding questions."""
    result = run(compare_command, "bm25", "dense", "--board", folder)
    assert result.exit_code == 0
    assert "bm25 − dense, means over 20 questions" in result.output
    assert "wins / ties / losses" in result.output


def test_compare_as_json(folder: Path) -> None:
    """--json holds the pair with decimal strings and the cells of each deciding question."""
    found = json.loads(run(compare_command, "bm25", "dense", "--board", folder, "--json").output)
    assert (found["a"], found["b"]) == ("bm25", "dense")
    assert isinstance(found["pair"]["difference"], str)
    assert set(found["questions"]) == set(found["pair"]["deciding"])


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [("bm25", "typo", "there is no row 'typo'"), ("bm25", "bm25", "given twice")],
)
def test_compare_refuses_what_it_cannot_compare(folder: Path, a: str, b: str, said: str) -> None:
    """An unknown name and a row with itself are input errors that say what there is."""
    with pytest.raises(InputError, match=said):
        run(compare_command, a, b, "--board", folder)


def test_compare_refuses_rows_of_different_judges(tmp_path: Path) -> None:
    """Rows of two tables are not compared, and the error says why they stand apart."""
    bench = make.benchmark(6)
    other = {"kind": "llm", "id": "judge-2", "describe": {}}
    make.write_row(tmp_path, "a", "bm25", bench, make.losing(make.every(3)))
    make.write_row(tmp_path, "b", "bm25", bench, make.losing(make.every(3)), judge=other)
    with pytest.raises(InputError, match="another judge"):
        run(compare_command, "a", "b", "--board", tmp_path)


def test_a_workspace_without_its_board_file_keeps_the_name_of_its_board(folder: Path) -> None:
    """board and spec take it from the board.json beside the workspace, after the board file is gone or elsewhere."""
    run(board_command, folder, "--no-site")
    (folder / "board.toml").unlink()
    for path in (folder, folder / ".ragassay"):
        assert run(board_command, path).output.startswith("Acme docs ")
        assert json.loads((folder / "board.json").read_bytes())["name"] == "Acme docs"
        assert "This is how [Acme docs]" in run(spec_command, path).output
    page = (folder / "site" / "spec.html").read_text(encoding="utf-8")
    assert '<p class="sentence">Acme docs</p>' in page


@pytest.mark.parametrize("kept", [None, b"", b"{}", b"[]", b'{"schema":"ragassay.board/2","name":"x"}', b"\xff"])
def test_without_a_readable_board_the_question_set_gives_the_name(folder: Path, kept: bytes | None) -> None:
    """What is no board of ours gives no name, and neither does a board that was called after its question set."""
    (folder / "board.toml").unlink()
    if kept is not None:
        (folder / "board.json").write_bytes(kept)
    assert run(board_command, folder, "--no-site").output.startswith("acme-docs ")
    assert run(board_command, folder, "--no-site").output.startswith("acme-docs ")
    assert kept_name(folder / ".ragassay") is None
