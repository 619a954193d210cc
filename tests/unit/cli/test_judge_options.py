"""Options of `ragassay judge` that would be ignored are refused, so that nothing is asked by mistake."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ragassay.cli.judge import command


@pytest.mark.parametrize(
    "words",
    [
        ("--conformance", "--dry-run"),
        ("--conformance", "--null-rows"),
        ("--conformance", "--run", "abc"),
        ("--verify", "--judge", "second"),
        ("--verify", "--conformance"),
    ],
    ids=" ".join,
)
def test_what_would_be_ignored_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    """A check and the conformance cases heed few options; any other ends with 2 before anything is read or asked."""
    done = CliRunner().invoke(command, [str(tmp_path), *words], standalone_mode=False)
    assert isinstance(done.exception, click.UsageError)
    assert f"does not go with {words[1]}" in str(done.exception)
