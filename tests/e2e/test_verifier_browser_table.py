"""verify.html in a real browser says of golden runs, attacks and damaged bundles what the verifier in Python says."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from verifier_driver import Desk, Shown, write_page

from ragassay.errors import VerifyError
from ragassay.manifest import read_run
from ragassay.manifest.bundle import read_bundle
from ragassay.manifest.tiles import read_log
from ragassay.testing import bundle_defects
from ragassay.testing.attacks import ATTACKS
from ragassay.testing.bundles import HONEST, POLICIES
from ragassay.testing.logged_run import Bundle
from ragassay.testing.signed_run import public_signer, signed_run
from ragassay.verify import Policy, Report, Unpinned, load_policy, verify, write_policy

GOLDEN = sorted(path.parent for path in (Path(__file__).resolve().parents[1] / "golden").rglob("run.dsse.json"))
CASES = {**{f"honest: {name}": case for name, case in HONEST.items()}, **ATTACKS}
PINNED = write_policy(keys=[public_signer().public])
NOW = 1_800_000_000
AT_ONCE = 40


@pytest.fixture(scope="module")
def desk(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One page for all bundles; at the end it has asked for nothing but itself and logged nothing."""
    path = write_page(tmp_path_factory.mktemp("table"))
    found = Desk(browser, path)
    yield found
    assert set(found.asked) == {path.as_uri()}
    assert found.said == []


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a bundle of any files, whatever their names."""
    held = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return held.getvalue()


def in_python(data: bytes, policy: bytes | None, bundle: Bundle) -> Report:
    """Return the report of the verifier in Python on a bundle as bytes."""
    read = read_bundle(data)
    problems, log = [*read.problems], None
    try:
        log = read_log(bundle.log) if bundle.log is not None else None
    except VerifyError as error:
        problems.append(error)
    trusted: Policy = load_policy(policy) if policy is not None else Unpinned()
    return verify(read.files, policy=trusted, now=bundle.now, log=log, registry=bundle.registry, problems=problems)


def assert_same(shown: Shown, report: Report, name: str, *, strict: bool) -> None:
    """Assert that the page shows each finding once, and its answer."""
    found = sorted(finding.code for finding in report.findings)
    assert sorted([*shown.fails, *shown.warns]) == found, name
    unpinned = not report.pinned or "SIGNER_UNPINNED" in report.codes
    accepted = "unpinned" if unpinned else "yes"
    assert shown.verdict == (accepted if report.ok(strict) else "no"), name


def check_all(desk: Desk, asked: Mapping[str, tuple[bytes, Bundle]], policy: bytes | None) -> dict[str, Shown]:
    """Check bundles of one log, registry and time together, and hold each against Python; strict and not."""
    [(log, registry, now)] = {(str(bundle.log), bundle.registry, bundle.now) for _, bundle in asked.values()}
    assert log
    if policy is not None:
        desk.pin(policy)
    if registry is not None:
        desk.registry(registry)
    names = list(asked)
    seen: dict[str, Shown] = {}
    for at in range(0, len(names), AT_ONCE):
        chosen = names[at : at + AT_ONCE]
        for strict in (True, False):
            given = [(f"{number}.zip", asked[name][0]) for number, name in enumerate(chosen)]
            shown = desk.check(given, strict=strict)
            assert [one.name for one in shown] == [name for name, _ in given]
            for name, one in zip(chosen, shown, strict=True):
                data, bundle = asked[name]
                assert_same(one, in_python(data, policy, bundle), name, strict=strict)
                seen[name] = one
    assert now > 0
    return seen


@pytest.mark.parametrize("policy", [PINNED, None], ids=["pinned", "unpinned"])
def test_every_golden_run(desk: Desk, policy: bytes | None) -> None:
    """Golden runs of every version get the same findings, with the key pinned and without."""
    asked = {}
    for folder in GOLDEN:
        bundle = Bundle(files=read_run(folder).files, now=4_000_000_000)
        asked[folder.name] = (zipped(bundle.files), bundle)
    assert asked
    desk.open(now=4_000_000_000)
    seen = check_all(desk, asked, policy)
    assert {one.verdict for one in seen.values()} <= {"yes", "unpinned", "no"}


def grouped(tmp_path: Path) -> Iterator[tuple[dict[str, tuple[bytes, Bundle]], str, Path | None]]:
    """Yield the cases of the table that share policy, log, registry and time, and the folder of their log."""
    groups: dict[tuple[Any, ...], dict[str, tuple[bytes, Bundle]]] = {}
    for name, case in CASES.items():
        bundle = case.build()
        log = tuple(sorted(bundle.log.items())) if bundle.log is not None else None
        key = (case.policy, log, bundle.registry, bundle.now)
        groups.setdefault(key, {})[name] = (zipped(bundle.files), bundle)
    for number, ((policy, log, _, _), asked) in enumerate(groups.items()):
        folder = None
        if log is not None:
            folder = tmp_path / str(number)
            for path, data in log:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
        yield asked, policy, folder


def test_every_attack_and_every_honest_bundle(desk: Desk, tmp_path: Path) -> None:
    """Under its policy, with its log and registry, each case has the findings of Python and the codes of the table."""
    seen: dict[str, Shown] = {}
    for asked, policy, folder in grouped(tmp_path):
        desk.open(now=next(iter(asked.values()))[1].now)
        if folder is not None:
            desk.log(folder)
        seen.update(check_all(desk, asked, POLICIES[policy]))  # type: ignore[index]
    assert set(seen) == set(CASES)
    for name, case in CASES.items():
        assert case.codes <= seen[name].codes, name
        assert (seen[name].verdict != "no") is case.ok, name


def test_every_damaged_bundle(desk: Desk) -> None:
    """Names, links, duplicates, ends, sizes, deflate streams: each defect of a ZIP file has the same reason codes."""
    files = signed_run()
    asked = {name: (data, Bundle(files={}, now=NOW)) for name, (data, _) in bundle_defects.defects(files).items()}
    desk.open(now=NOW)
    seen = check_all(desk, asked, PINNED)
    for name, (_, codes) in bundle_defects.defects(files).items():
        assert codes <= seen[name].codes, name
        assert seen[name].verdict == "no", name
