"""The verb spec: prints or writes the specification, says by its exit code whether every run was verified."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ragassay.cli.spec import command
from ragassay.errors import InputError

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site"))
import site_factory as make

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


def run(*arguments: str | Path) -> Result:
    """Run the verb; errors raised on purpose come through."""
    result = CliRunner().invoke(command, [str(one) for one in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a board file, its questions and the runs of its rows."""
    bench = make.small_board(tmp_path / ".ragassay", make.benchmark(20))
    (tmp_path / "board.toml").write_text(BOARD, encoding="utf-8")
    (tmp_path / "questions.json").write_bytes(bench.full_form())
    return tmp_path


@pytest.mark.parametrize("given", ["board.toml", ".ragassay", "."])
def test_it_prints_markdown(folder: Path, given: str) -> None:
    """By board file, workspace or folder the page goes to the standard output, its scope in the first line."""
    result = run(folder / given)
    assert result.exit_code == 0
    assert result.output.startswith("# Test specification (local preview, not published)\n")
    assert "[Acme docs](index.html)" in result.output
    assert not (folder / "site").exists()


def test_it_writes_both_forms(folder: Path) -> None:
    """Files that are named are written, old ones replaced, and nothing is printed."""
    (folder / "spec.md").write_text("old", encoding="utf-8")
    result = run(folder, "--markdown", folder / "spec.md", "--html", folder / "spec.html", "--links", "site")
    assert (result.exit_code, result.output) == (0, "")
    assert "[Acme docs](site/index.html)" in (folder / "spec.md").read_text(encoding="utf-8")
    assert 'href="site/index.html"' in (folder / "spec.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".spec")) == []


def test_html_alone_can_be_printed(folder: Path) -> None:
    """With --html - the page is printed as HTML and no Markdown follows."""
    output = run(folder, "--html", "-").output
    assert output.startswith("<!doctype html>")
    assert "# Test specification" not in output


def test_an_unverified_run_makes_the_exit_code_1(folder: Path) -> None:
    """The page is printed all the same, and names the run."""
    damaged = next((folder / ".ragassay" / "runs").iterdir())
    file = damaged / "telemetry.jsonl"
    file.write_bytes(file.read_bytes().replace(b"640", b"641", 1))
    result = run(folder)
    assert result.exit_code == 1
    assert damaged.name in result.output


def test_public_specifies_what_was_published_and_nothing_else(folder: Path) -> None:
    """Where nothing was published the public page says so, whatever the workspace holds."""
    result = run(folder, "--public")
    assert result.exit_code == 0
    assert result.output.startswith("# Test specification (public board)\n")
    assert "Nothing is published yet" in result.output


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--markdown", "."), "is a folder"),
        (("--html", "absent/spec.html"), "cannot be written"),
        (("--links", "javascript:alert(1)//"), "no folder and no address"),
        (("--links", "a b"), "white space"),
        (("--links", "a\x1b[2J"), "control characters"),
    ],
)
def test_what_cannot_be_written_is_an_error(folder: Path, options: tuple[str, str], problem: str) -> None:
    """A folder, a place that is not there, and links that are none are refused with what to do."""
    with pytest.raises(InputError, match=problem):
        run(folder, *options)


def test_a_folder_without_a_board_is_refused(tmp_path: Path) -> None:
    """Neither board file nor workspace: an input error that names init."""
    with pytest.raises(InputError, match="ragassay init"):
        run(tmp_path)


def test_an_empty_workspace_says_so(tmp_path: Path) -> None:
    """A workspace without runs has a page of one sentence."""
    (tmp_path / ".ragassay" / "runs").mkdir(parents=True)
    result = run(tmp_path / ".ragassay")
    assert result.exit_code == 0
    assert "There is no run yet, so there is nothing to specify." in result.output
