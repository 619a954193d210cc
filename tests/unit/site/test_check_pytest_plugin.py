"""The pytest plugin, as a stranger's suite uses it: pytest in a process of its own, beside boards that were run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import check_lab as lab
import pytest
import site_factory as make
from check_lab import first

from ragassay.cli.board import command as board_command

TEST = """
def test_bm25(ragassay):
    report = ragassay.check("now", row="bm25", vs="before"{more})
    assert report["schema"] == "ragassay.check/1"

def test_other():
    assert True
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two boards that were run: `now` lost ten questions that `before` answered."""
    folder, bench = tmp_path_factory.mktemp("suite"), make.benchmark(60)
    lab.write_board(folder / "now", bench, first(12))
    board_command.main(
        [str(lab.write_board(folder / "before", bench, first(2), at=make.START)), "--no-site"], standalone_mode=False
    )
    return folder


@pytest.fixture
def suite(tmp_path: Path, written: Path) -> Path:
    """A copy of that folder as the root of a suite."""
    folder = Path(shutil.copytree(written, tmp_path / "suite"))
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers --strict-config\n", encoding="utf-8")
    (folder / "test_board.py").write_text(TEST.replace("{more}", ""), encoding="utf-8")
    return folder


def pytest_in(folder: Path, *arguments: str, alone: bool = True) -> subprocess.CompletedProcess[str]:
    """Run pytest there, with every warning as an error; `alone` with this plugin and no other that is installed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    own = ["-p", "ragassay.pytest_plugin"] if alone else []
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} if alone else {}
    command = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider", *own, *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**environment, "COLUMNS": "120"}
    )


def test_a_drop_fails_the_test_with_the_questions(suite: Path) -> None:
    """The failure is what `ragassay check` prints: the verdict, every question that got worse, and no traceback."""
    done = pytest_in(suite, alone=False)
    assert done.returncode == 1
    assert "Acme docs: the check failed for bm25" in done.stdout
    assert "10 questions got worse, 0 better, 50 equal" in done.stdout
    assert [f"q-{n:03d}" in done.stdout for n in range(1, 14)] == [False] * 2 + [True] * 10 + [False]
    assert "Traceback" not in done.stdout
    assert "pytest_plugin.py" not in done.stdout
    assert "1 failed, 1 passed" in done.stdout


def test_what_is_allowed_passes(suite: Path) -> None:
    """With .2 allowed the same test passes, and its report can be asserted on."""
    (suite / "test_board.py").write_text(TEST.replace("{more}", ", max_drop=.2, min_score=0.8"), encoding="utf-8")
    done = pytest_in(suite)
    assert (done.returncode, "2 passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_what_is_inconclusive_is_told_at_the_end(suite: Path) -> None:
    """A drop that these questions cannot tell from chance passes, and stands in the summary."""
    (suite / "test_board.py").write_text(TEST.replace("{more}", ", max_drop=.1"), encoding="utf-8")
    done = pytest_in(suite)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ragassay: inconclusive" in done.stdout
    assert "bm25: .967 → .800" in done.stdout


def test_options_and_settings_stand_in_for_arguments(suite: Path) -> None:
    """A setting is taken where a test gives nothing, an option of the command line before it, each from its folder."""
    (suite / "test_board.py").write_text(
        "def test_bm25(ragassay):\n    ragassay.check(row=['bm25'])\n", encoding="utf-8"
    )
    settings = "ragassay_board = now\nragassay_vs = before\nragassay_max_drop = .2\nragassay_min_score = .7\n"
    (suite / "pytest.ini").write_text(f"[pytest]\n{settings}", encoding="utf-8")
    assert pytest_in(suite).returncode == 0
    assert "below the .900 that is asked" in pytest_in(suite, "--ragassay-min-score=.9").stdout
    below = suite / "below"
    below.mkdir()
    typed = ["--ragassay-vs=../before/board.json", "--ragassay-max-drop=0", "--rootdir=..", "-c", "../pytest.ini"]
    done = pytest_in(below, *typed, "../test_board.py")
    assert done.returncode == 1
    assert "not signed" in done.stdout


def test_a_check_that_cannot_be_made_fails(suite: Path) -> None:
    """A row that nobody knows is no pass: the test fails with what `ragassay check` says."""
    (suite / "test_board.py").write_text(
        "def test_row(ragassay):\n    ragassay.check('now', row='splade')\n", encoding="utf-8"
    )
    done = pytest_in(suite)
    assert done.returncode == 1
    assert "could not be made (2)" in done.stdout
    assert "there is no row 'splade'; the rows are bm25 and no-retrieval" in done.stdout


def test_a_board_that_cannot_be_run_fails(suite: Path) -> None:
    """`--ragassay-run` runs the board first; here its documentation is absent, and the test fails with the reason."""
    done = pytest_in(suite, "--ragassay-run")
    assert done.returncode == 1
    assert "ragassay run" in done.stdout
    assert "ended with 2" in done.stdout


def test_board_tests_have_a_marker(suite: Path) -> None:
    """`-m "not ragassay"` leaves them out, also under --strict-markers; `-p no:ragassay` takes the plugin away."""
    done = pytest_in(suite, "-m", "not ragassay")
    assert "1 passed, 1 deselected" in done.stdout
    done = pytest_in(suite, "-p", "no:ragassay", alone=False)
    assert "fixture 'ragassay' not found" in done.stdout


def test_the_plugin_is_light() -> None:
    """What pytest loads in every suite imports nothing of ragassay but the package itself, and nothing heavy."""
    code = (
        "import sys, pytest; before = set(sys.modules); import ragassay.pytest_plugin; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"ragassay", "ragassay.pytest_plugin"}
