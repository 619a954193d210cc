"""Write the cases of the pack: `python conformance/make.py`, from a checkout with ragassay installed.

Each case is a folder under `cases/`: `bundle.zip`, perhaps `policy.json`, `ragassay-keys.json` and `log/`, and
`case.json` with what a verifier must say. Keys, times and logs are fixed, so the same version writes the same cases.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ragassay.errors import VerifyError
from ragassay.manifest.bundle import read_bundle, write_bundle
from ragassay.manifest.files import BESIDE, FOREIGN, MAX_BYTES
from ragassay.manifest.folder import read_run
from ragassay.manifest.tiles import read_log
from ragassay.testing.attacks import ATTACKS
from ragassay.testing.bundle_defects import defects, pack, parts_of
from ragassay.testing.bundles import HONEST, POLICIES
from ragassay.testing.logged_run import NOW, PLAIN_KEY_POLICY, Story, tell
from ragassay.verify import Unpinned, load_policy, verify

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "tests" / "golden"


class PackCase(msgspec.Struct, frozen=True, kw_only=True):
    """One case before it is written; `codes` are those that its defect must give."""

    name: str
    about: str
    bundle: bytes
    now: int = NOW
    policy: bytes | None = None
    registry: bytes | None = None
    log: dict[str, bytes] | None = None
    codes: frozenset[str] = frozenset()


def slug(text: str) -> str:
    """Return a name as a folder's name."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")


def cases() -> Iterator[PackCase]:
    """Yield every case: golden runs of each version, honest bundles, attacks, and damaged bundles."""
    for folder in sorted([*(GOLDEN / "runs").iterdir(), *(GOLDEN / "republished").iterdir()]):
        files = read_run(folder).files
        yield PackCase(
            name=f"golden-{folder.name}",
            about="a run of that version, which every later verifier accepts",
            bundle=write_bundle(files),
            policy=PLAIN_KEY_POLICY,
        )
    for path in sorted((GOLDEN / "bundles").glob("*.zip")):
        yield PackCase(
            name=f"golden-{path.stem}",
            about="a run of that version with all that stands around it, which every later verifier accepts strictly",
            bundle=path.read_bytes(),
            policy=path.with_name(f"{path.stem}.policy.json").read_bytes(),
        )
    for kind, table in (("honest", HONEST), ("attack", ATTACKS)):
        for name, case in table.items():
            built = case.build()
            known = built.files.keys() <= MAX_BYTES.keys() | BESIDE.keys() | {FOREIGN}
            yield PackCase(
                name=f"{kind}-{slug(name)}",
                about=name,
                bundle=write_bundle(built.files) if known else pack(parts_of(built.files)),
                now=built.now,
                policy=POLICIES[case.policy],
                registry=built.registry,
                log=built.log,
                codes=case.codes,
            )
    for name, (data, codes) in defects(tell(Story()).files).items():
        yield PackCase(name=slug(name), about=name, bundle=data, codes=frozenset(codes))


def expected(case: PackCase) -> dict[str, object]:
    """Return what the verifier says of a case; raises `AssertionError` where its defect's codes are not among it."""
    read = read_bundle(case.bundle)
    problems, log = list(read.problems), None
    try:
        log = read_log(case.log) if case.log is not None else None
    except VerifyError as error:
        problems.append(error)
    report = verify(
        read.files,
        policy=load_policy(case.policy) if case.policy else Unpinned(),
        now=case.now,
        log=log,
        registry=case.registry,
        problems=problems,
    )
    assert case.codes <= report.codes, (case.name, case.codes - report.codes)
    return {
        "about": case.about,
        "now": case.now,
        "codes": sorted(report.codes),
        "ok": report.ok(),
        "strictOk": report.ok(strict=True),
    }


def files_of(case: PackCase) -> dict[str, bytes]:
    """Return the files of a case's folder."""
    answer = json.dumps(expected(case), indent=1, ensure_ascii=True).encode() + b"\n"
    files = {"bundle.zip": case.bundle, "case.json": answer}
    files |= {"policy.json": case.policy} if case.policy else {}
    files |= {"ragassay-keys.json": case.registry} if case.registry else {}
    return files | {f"log/{path}": data for path, data in (case.log or {}).items()}


def main() -> None:
    """Write all cases anew."""
    shutil.rmtree(HERE / "cases", ignore_errors=True)
    written = 0
    for case in cases():
        folder = HERE / "cases" / case.name
        folder.mkdir(parents=True)
        for name, data in files_of(case).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        written += 1
    print(f"{written} cases")


if __name__ == "__main__":
    main()
