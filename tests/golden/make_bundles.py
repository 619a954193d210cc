"""Writes the golden bundles: `python tests/golden/make_bundles.py FOLDER`. Each is written once and never again.

Each is a run as one ZIP file with announcement, proofs and registry, beside the policy file under which it is accepted
strictly. All keys are of public seeds: their signatures mean nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ragassay.manifest.bundle import write_bundle
from ragassay.manifest.files import REGISTRY
from ragassay.testing.bundles import HONEST, POLICIES

NAMES = {
    "v0.2-announced": "announced, logged, witnessed",
    "v0.2-registry-root-replaced": "key of a registry whose root was replaced",
    "v0.2-key-deprecated": "key deprecated, seen while it was valid",
    "v0.2-key-revoked-later": "key revoked after the run was seen",
    "v0.2-redacted": "texts withheld",
    "v0.2-redacted-by-another-key": "texts withheld by another key of the registry",
}
"""The name of each golden bundle, and of the honest bundle that it is."""


def main(folder: Path) -> None:
    """Write each bundle with its policy, where it is not there yet."""
    for name, honest in NAMES.items():
        case = HONEST[honest]
        built = case.build()
        beside = {REGISTRY: built.registry} if built.registry is not None else {}
        with (folder / f"{name}.zip").open("xb") as file:
            file.write(write_bundle({**built.files, **beside}))
        with (folder / f"{name}.policy.json").open("xb") as file:
            file.write(POLICIES[case.policy] or b"")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
