"""The command line as the tests of exports run it."""

from __future__ import annotations

from click.testing import CliRunner

from ragassay.cli import root
from ragassay.errors import RagassayError


def run_cli(*arguments: object) -> tuple[int, str]:
    """Run `ragassay` with these arguments; return its exit code, and what it prints or says in its error."""
    result = CliRunner().invoke(root, [*map(str, arguments)], standalone_mode=False)
    if isinstance(result.exception, RagassayError):
        return result.exception.exit_code, str(result.exception)
    if result.exception is not None and not hasattr(result.exception, "exit_code"):
        raise result.exception
    code = getattr(result.exception, "exit_code", None)
    return int(code if code is not None else result.return_value or 0), result.stdout
