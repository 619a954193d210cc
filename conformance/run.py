"""Run every case of the pack through a verifier and compare its answers: `python conformance/run.py -- COMMAND…`.

For each case the command is called as

    COMMAND verify BUNDLE --now SECONDS [--policy FILE] [--registry FILE] [--log FOLDER]

and prints one JSON object: {"codes": ["…"], "ok": true, "strictOk": false}. `codes` are the reason codes found, each
once, in any order; `ok` and `strictOk` are the answers without and with strict. Needs nothing but Python.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CASES = Path(__file__).resolve().parent / "cases"
OPTIONS = {"--policy": "policy.json", "--registry": "ragassay-keys.json", "--log": "log"}
TIMEOUT_S = 120


def command_of(command: list[str], case: Path, now: int) -> list[str]:
    """Return the command line that asks about one case."""
    asked = [*command, "verify", str(case / "bundle.zip"), "--now", str(now)]
    for option, name in OPTIONS.items():
        if (case / name).exists():
            asked += [option, str(case / name)]
    return asked


def answer_of(command: list[str]) -> dict[str, Any] | str:
    """Return what the verifier answers, or why it gave no answer."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"no answer: {error}"
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return f"no JSON on stdout (exit code {done.returncode}): {done.stderr.decode(errors='replace')[-500:]}"
    return answer if isinstance(answer, dict) else "the answer is no JSON object"


def problem_of(answer: dict[str, Any] | str, expected: dict[str, Any]) -> str | None:
    """Return in what an answer differs from what the case asks for, or None."""
    if isinstance(answer, str):
        return answer
    found, wanted = set(answer.get("codes", [])), set(expected["codes"])
    problems = [f"{code} is missing" for code in sorted(wanted - found)]
    problems += [f"{code} is not expected" for code in sorted(found - wanted)]
    for member in ("ok", "strictOk"):
        if answer.get(member) is not expected[member]:
            problems.append(f"{member} is {answer.get(member)!r}, not {expected[member]!r}")
    return "; ".join(problems) or None


def main() -> int:
    """Print a line for each case that failed and a closing one; return 1 where any did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", help="run only the case of this name; may be given several times")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="the verifier, after --")
    given = parser.parse_args()
    folders = sorted(path.parent for path in CASES.glob("*/case.json"))
    chosen = [folder for folder in folders if not given.case or folder.name in given.case]
    failed = 0
    for folder in chosen:
        expected = json.loads((folder / "case.json").read_text(encoding="utf-8"))
        problem = problem_of(answer_of(command_of(given.command, folder, expected["now"])), expected)
        if problem is not None:
            failed += 1
            print(f"FAILED {folder.name}: {problem}")
    print(f"{len(chosen) - failed} of {len(chosen)} cases as expected")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
