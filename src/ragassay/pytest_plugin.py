"""The pytest plugin: a fixture that fails a test with the questions that got worse. Light: pytest loads it always.

`ragassay` is asked in a process of its own, so that nothing of it is imported, and nothing of a run disturbs a test.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ragassay.site.check.record import CheckReport

MARKER = "ragassay: a test that checks a retrieval board; it has this marker by using the fixture of that name"
OPEN = pytest.StashKey[list[str]]()
"""What was inconclusive, to be told at the end."""
_SETTINGS = {
    "board": "the board file that is checked, or its folder",
    "vs": "the baseline that boards are compared with",
    "min_score": "the least score of a row",
    "max_drop": "the drop that is allowed against the baseline",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line, and the same as settings of the configuration file."""
    group = parser.getgroup("ragassay", "checks of retrieval boards")
    for name, what in _SETTINGS.items():
        flag = f"--ragassay-{name.replace('_', '-')}"
        group.addoption(flag, metavar=name.upper().replace("_", "-"), default=None, help=f"ragassay: {what}")
        parser.addini(f"ragassay_{name}", f"{what}, from the root folder", default=None)
    group.addoption(
        "--ragassay-run", action="store_true", default=False, help="ragassay: run each board once before it is checked"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, and a place for what is told at the end."""
    config.addinivalue_line("markers", MARKER)
    config.stash[OPEN] = []


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Mark each test that uses the fixture, so that `-m "not ragassay"` leaves it out."""
    for item in items:
        if "ragassay" in getattr(item, "fixturenames", ()):
            item.add_marker("ragassay")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Tell what was inconclusive: it fails no test, and must not go unseen."""
    if found := config.stash.get(OPEN, []):
        terminalreporter.section("ragassay: inconclusive")
        for line in found:
            terminalreporter.write_line(line)


class Boards:
    """Runs and checks boards for tests.

    A relative path that a test or the configuration file gives is taken from pytest's root folder, one on the command
    line from the current folder. What is not given is the option of the command line, else the setting.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._run: set[tuple[str, str]] = set()

    def run(
        self, board: str | Path | None = None, *, rows: Sequence[str] = (), workspace: str | Path | None = None
    ) -> list[dict[str, Any]]:
        """Run a board, and return how each pass ended; a pass that is not signed fails the test."""
        place = self._place(board, "board") or "board.toml"
        space = self._given(workspace)
        arguments = [place, *_repeated("--row", rows), *_option("--workspace", space), "--json"]
        code, out, error = _ragassay("run", arguments)
        if code != 0:
            pytest.fail(f"ragassay run {place} ended with {code}:\n{error.strip() or out.strip()}", pytrace=False)
        self._run.add((place, space or ""))
        ended: list[dict[str, Any]] = _decoded(out)
        return ended

    def check(
        self,
        board: str | Path | None = None,
        *,
        row: str | Sequence[str] = (),
        min_score: float | str | None = None,
        max_drop: float | str | None = None,
        vs: str | Path | None = None,
        confidence: float | str | None = None,
        allow_missing: bool = False,
        workspace: str | Path | None = None,
    ) -> dict[str, Any]:
        """Check rows of a board as `ragassay check` does, and return its report; fail the test where it fails.

        With `--ragassay-run` the board is run first, once in a session.
        """
        place = self._place(board, "board") or str(self._config.rootpath)
        space = self._given(workspace)
        if self._config.getoption("--ragassay-run") and (place, space or "") not in self._run:
            self.run(place, workspace=space)
        baseline = self._place(vs, "vs")
        drop = self._value(max_drop, "max_drop") if baseline is not None or max_drop is not None else None
        arguments = [
            place,
            *_repeated("--row", [row] if isinstance(row, str) else row),
            *_option("--min-score", self._value(min_score, "min_score")),
            *_option("--vs", baseline),
            *_option("--max-drop", drop),
            *_option("--confidence", None if confidence is None else _number(confidence)),
            *_option("--workspace", space),
            *(["--allow-missing"] if allow_missing else []),
            "--json",
        ]
        code, out, error = _ragassay("check", arguments)
        if code not in (0, 1) or not out:
            pytest.fail(f"ragassay check {place} could not be made ({code}):\n{error.strip()}", pytrace=False)
        report: dict[str, Any] = _decoded(out)
        if not report["passed"]:
            pytest.fail(_text(report), pytrace=False)
        self._tell(report)
        return report

    def _tell(self, report: dict[str, Any]) -> None:
        for row in report["rows"]:
            for one in row["findings"]:
                if one["outcome"] == "inconclusive":
                    self._config.stash[OPEN].append(_line(f"{row['name']}: {one['text']}"))

    def _given(self, path: str | Path | None) -> str | None:
        return None if path is None else _from(self._config.rootpath, path)

    def _place(self, given: str | Path | None, name: str) -> str | None:
        """Return a place as given in a test, else on the command line, else in the configuration file."""
        if given is not None:
            return _from(self._config.rootpath, given)
        typed = self._config.getoption(f"--ragassay-{name}")
        if typed is not None:
            return _from(self._config.invocation_params.dir, typed)
        setting = self._config.getini(f"ragassay_{name}")
        return _from(self._config.rootpath, setting) if setting else None

    def _value(self, given: float | str | None, name: str) -> str | None:
        if given is not None:
            return _number(given)
        typed = self._config.getoption(f"--ragassay-{name.replace('_', '-')}")
        setting = self._config.getini(f"ragassay_{name}")
        return str(typed) if typed is not None else str(setting) if setting else None


@pytest.fixture(scope="session")
def ragassay(pytestconfig: pytest.Config) -> Boards:
    """Return what runs and checks boards: `ragassay.check("board.toml", row="bm25", vs="baseline.json")`."""
    return Boards(pytestconfig)


def _from(folder: Path, path: str | Path) -> str:
    """Return a path from `folder`; an address, and a path that is absolute, stay as they are."""
    text = str(path)
    return text if text.startswith(("http://", "https://")) else str(folder / text)


def _number(value: float | str) -> str:
    """Return a number as it was written: .1 stays .1."""
    return value if isinstance(value, str) else repr(value)


def _option(name: str, value: str | None) -> list[str]:
    return [] if value is None else [f"{name}={value}"]


def _repeated(name: str, values: Sequence[str]) -> list[str]:
    return [f"{name}={value}" for value in values]


def _ragassay(verb: str, arguments: Sequence[str]) -> tuple[int, str, str]:
    """Run a verb in a process of its own, and return its exit code, its output, and what it said besides."""
    import subprocess
    import sys

    command = [sys.executable, "-m", "ragassay", verb, *arguments]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    return done.returncode, done.stdout, done.stderr


def _decoded(text: str) -> Any:
    import json

    return json.loads(text)


def _line(text: str) -> str:
    from ragassay.site.check.text import harmless

    return harmless(text)


def _text(report: dict[str, Any]) -> str:
    """Return a report as `ragassay check` prints it."""
    import msgspec

    from ragassay.site.check import record, text

    found: CheckReport = msgspec.convert(report, record.CheckReport)
    return text.render(found, most=50)
