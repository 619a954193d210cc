"""The pack's adapter for the Python verifier: `python conformance/adapters/python.py verify BUNDLE --now SECONDS …`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ragassay.errors import VerifyError
from ragassay.manifest.bundle import read_bundle
from ragassay.manifest.tiles import read_log
from ragassay.verify import Unpinned, load_policy, verify


def main() -> None:
    """Print the answer as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["verify"])
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--now", type=int, required=True)
    parser.add_argument("--policy", type=Path)
    parser.add_argument("--registry", type=Path)
    parser.add_argument("--log", type=Path)
    given = parser.parse_args()
    bundle = read_bundle(given.bundle.read_bytes())
    problems = list(bundle.problems)
    log = None
    if given.log:
        files = {str(path.relative_to(given.log)): path.read_bytes() for path in given.log.rglob("*") if path.is_file()}
        try:
            log = read_log(files)
        except VerifyError as error:
            problems.append(error)
    report = verify(
        bundle.files,
        policy=load_policy(given.policy.read_bytes()) if given.policy else Unpinned(),
        now=given.now,
        log=log,
        registry=given.registry.read_bytes() if given.registry else None,
        problems=problems,
    )
    answer = {"codes": sorted(report.codes), "ok": report.ok(), "strictOk": report.ok(strict=True)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
