"""Verify in an environment that holds the base install and nothing else: `python tests/bare/check.py`."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "conformance" / "cases"
HEAVY = {"numpy", "scipy", "aiohttp", "uvloop", "bm25s", "onnxruntime", "tokenizers", "lxml", "jinja2", "pytest"}


def verify(case: str, *options: str) -> int:
    """Return the exit code of `ragassay verify` on a bundle of the conformance pack."""
    folder = CASES / case
    policy = ["--policy", str(folder / "policy.json")] if (folder / "policy.json").exists() else []
    command = [str(Path(sys.executable).with_name("ragassay")), "verify", str(folder / "bundle.zip"), *policy, *options]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode


def main() -> int:
    """Print what is wrong, or one closing line; return 1 where anything is."""
    present = {name.lower() for name in (d.metadata["Name"] for d in importlib.metadata.distributions()) if name}
    wrong = [f"{name} is installed" for name in sorted(present & HEAVY)]
    expected = {
        "honest-announced-logged-witnessed": (0, 0),
        "golden-v0.1-factual-consistency-2": (0, 1),
        "honest-republished": (0, 1),
        "attack-lie-wrong-counts": (1, 1),
    }
    for case, codes in expected.items():
        found = (verify(case), verify(case, "--strict"))
        if found != codes:
            wrong.append(f"{case}: exit codes {found}, not {codes}")
    rerun = verify("honest-announced-logged-witnessed", "--strict", "--rerun")
    if rerun != 3:
        wrong.append(f"--rerun without what it needs ends with {rerun}, not 3")
    print("\n".join(wrong) or f"verified with {len(present)} packages: {json.dumps(sorted(present))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
