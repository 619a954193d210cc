"""The command line as the tests of verbs that ask a model for proposals run it, and what such a verb asked."""

from __future__ import annotations

import json
import re
from typing import Any

from click.testing import CliRunner, Result

from ragassay.cli import root
from ragassay.records import JSON

_ASKED = re.compile(r"<<<material (?P<nonce>\S+)\n(?P<material>.*)\nmaterial (?P=nonce)>>>")


def invoke(*arguments: object, **more: Any) -> Result:
    """Run `ragassay` with these arguments."""
    result = CliRunner().invoke(root, [*map(str, arguments)], standalone_mode=False, **more)
    if result.exception is not None and not isinstance(result.exception, Exception):
        raise result.exception
    return result


def code(result: Result) -> int:
    """Return the exit code that the command line would give; anything unforeseen is raised."""
    if result.exception is None:
        return int(result.return_value or 0)
    wanted = getattr(result.exception, "exit_code", None)
    if wanted is None:
        raise result.exception
    return int(wanted)


def asked(body: JSON) -> tuple[str, dict[str, Any]]:
    """Return the nonce and the material of a request."""
    found = _ASKED.search(str(body["messages"][-1]["content"]))
    assert found
    return found["nonce"], json.loads(found["material"])
