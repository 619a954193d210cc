"""The browser verifier says of every run what the one in Python says: by code, by place, by check."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import verifier_engine as engine

from ragassay.errors import VerifyError
from ragassay.manifest import read_run
from ragassay.manifest.tiles import read_log
from ragassay.records import to_json
from ragassay.testing.attacks import ATTACKS
from ragassay.testing.bundles import HONEST, POLICIES
from ragassay.testing.lies import SIGNED_LIES
from ragassay.testing.logged_run import Bundle, Story, tell
from ragassay.testing.signed_run import public_signer, resigned, signed_run
from ragassay.verify import Policy, Unpinned, load_policy, verify, write_policy

ROOT = Path(__file__).resolve().parents[3]
PINNED = write_policy(keys=[public_signer().public])
NOW = 1_800_000_000
CASES = {**{f"honest: {name}": case for name, case in HONEST.items()}, **ATTACKS}


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[engine.Call]:
    """Calls the verifier's script."""
    with engine.open_engine(tmp_path_factory.mktemp("engine")) as found:
        yield found


def in_python(bundle: Bundle, policy: bytes | None) -> dict[str, Any]:
    """Return what the verifier in Python says, with a log that cannot be read among the problems."""
    problems, log = [], None
    if bundle.log is not None:
        try:
            log = read_log(bundle.log)
        except VerifyError as error:
            problems.append(error)
    trusted: Policy = load_policy(policy) if policy else Unpinned()
    return engine.comparable(
        to_json(
            verify(bundle.files, policy=trusted, now=bundle.now, log=log, registry=bundle.registry, problems=problems)
        )
    )


def assert_agree(call: engine.Call, asked: Mapping[str, tuple[Bundle, bytes | None]]) -> None:
    """Assert that both verifiers give one report for every bundle; the message names those of which they do not."""
    questions = [
        engine.ask(bundle.files, now=bundle.now, policy=policy, registry=bundle.registry, log=bundle.log)
        for bundle, policy in asked.values()
    ]
    theirs = call(engine.VERIFY, questions)
    assert len(theirs) == len(asked)
    for (name, (bundle, policy)), their in zip(asked.items(), theirs, strict=True):
        assert engine.comparable(their) == in_python(bundle, policy), name


def test_honest_bundles_and_attacks(call: engine.Call) -> None:
    """Announced, logged, witnessed, rotated, revoked, forged, torn: one report from both, under the case's policy."""
    assert_agree(call, {name: (case.build(), POLICIES[case.policy]) for name, case in CASES.items()})


def test_honest_bundles_and_attacks_without_a_pin(call: engine.Call) -> None:
    """The same under no policy at all."""
    assert_agree(call, {name: (case.build(), None) for name, case in CASES.items()})


def test_an_honest_bundle_is_accepted_strictly(call: engine.Call) -> None:
    """The comparison is not one of two verifiers that refuse everything."""
    name = "announced, logged, witnessed"
    [report] = call(
        engine.VERIFY,
        [engine.ask(HONEST[name].build().files, now=tell(Story()).now, policy=POLICIES[HONEST[name].policy])],
    )
    assert report["findings"] == []
    assert report["pinned"] is True
    assert report["witnessedAt"] is not None


def test_golden_runs(call: engine.Call) -> None:
    """Every golden run of every version, bare of any policy and under none."""
    folders = sorted(path.parent for path in (ROOT / "tests" / "golden").rglob("run.dsse.json"))
    assert folders
    asked = {str(folder): (Bundle(files=read_run(folder).files, now=4_000_000_000), None) for folder in folders}
    assert_agree(call, {**asked, **{f"{name}, pinned": (bundle, PINNED) for name, (bundle, _) in asked.items()}})


def test_signed_lies_of_either_profile(call: engine.Call) -> None:
    """What a dishonest publisher signs is refused in the same places."""
    asked = {}
    for name, (change, _) in SIGNED_LIES.items():
        for profile in ("factual-consistency/1", "factual-consistency/2"):
            files = resigned(signed_run(profile=profile), change)
            asked[f"{name}, {profile}"] = (Bundle(files=files, now=NOW), PINNED)
    assert_agree(call, asked)


def mutated(files: Mapping[str, bytes], chance: random.Random) -> dict[str, bytes]:
    """Return the files after one to three random changes of bytes, and sometimes without a file or with another."""
    changed = dict(files)
    for _ in range(chance.randint(1, 3)):
        name = chance.choice(sorted(changed))
        data = bytearray(changed[name])
        at, how = chance.randrange(len(data) + 1), chance.randrange(6)
        if how == 0:
            data[at : at + 1] = bytes([chance.randrange(256)])
        elif how == 1:
            del data[at : at + chance.randint(1, 40)]
        elif how == 2:
            data[at:at] = chance.choice([b" ", b'"', b"0", b"{}", b"null", b"\n", b"\xed\xa0\x80", b"[" * 70])
        elif how == 3:
            other = bytes(changed[chance.choice(sorted(changed))])
            data[at:at] = other[chance.randrange(len(other) + 1) :][:60]
        elif how == 4:
            del changed[name]
            continue
        else:
            digits = [index for index, byte in enumerate(data) if 0x30 <= byte <= 0x39]
            if digits:
                data[chance.choice(digits)] = chance.choice(b"0123456789-.e")
        changed[name] = bytes(data)
        if not changed[name]:
            del changed[name]
        if not changed:
            break
    return changed


def test_random_mutations(call: engine.Call) -> None:
    """Two thousand bundles with random changes get one report, whatever it is."""
    chance = random.Random(20_260_921)
    bundles = [tell(Story(), with_log=True), Bundle(files=signed_run(), now=NOW), HONEST["republished"].build()]
    policies = [*POLICIES.values()]
    asked = {}
    for at in range(2000):
        bundle = bundles[at % len(bundles)]
        changed = Bundle(files=mutated(bundle.files, chance), log=bundle.log, now=bundle.now)
        asked[str(at)] = (changed, policies[at // len(bundles) % len(policies)])
    assert_agree(call, asked)
