"""Both verifiers say the same of random logs, and of every byte that stands beside a run."""

from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec
import pytest
import verifier_engine as engine
from test_verifier_agrees import assert_agree

from ragassay import canon
from ragassay.manifest.announce import sign_void
from ragassay.manifest.files import INTENT, INTENT_PROOF, MANIFEST, REGISTRY, RUN_PROOF
from ragassay.manifest.statement import Digest, IntentRef, PassRef, VoidPredicate
from ragassay.testing.bundles import POLICIES, key_record, registry_of
from ragassay.testing.logged_run import (
    OTHER,
    OURS,
    ROOT_POLICY,
    SEEN_AT,
    Bundle,
    MemoryLog,
    Story,
    planned_id,
    tell,
)
from ragassay.testing.signed_run import STARTED, signed_run

BUNDLE = tell(Story(), with_log=True)
FILES = {**BUNDLE.files, REGISTRY: registry_of(key_record(), key_record(OTHER))}


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[engine.Call]:
    """Calls the verifier's script."""
    with engine.open_engine(tmp_path_factory.mktemp("engine")) as found:
        yield found


def logged_run(chance: random.Random) -> bytes:
    """Return the manifest of a run that names the announcement, or says so and does not."""
    digest = canon.sha256(FILES[INTENT]) if chance.random() < 0.8 else "0" * 64
    origin = "example.org/log" if chance.random() < 0.9 else "example.org/other"
    ref = IntentRef(log=origin, index=chance.choice([0, 0, 0, 1]), digest=Digest(sha256=digest))
    return signed_run(
        run_id=planned_id(chance.randint(1, 4)),
        pass_k=chance.randint(1, 3),
        failed=[0] if chance.random() < 0.3 else [],
        signer=chance.choice([OURS, OURS, OTHER]),
        intent=ref if chance.random() < 0.9 else None,
    )[MANIFEST]


def voiding(chance: random.Random, manifests: list[bytes]) -> bytes:
    """Return a voiding of one of these runs, or of a pass of the announcement."""
    k, signer = chance.randint(1, 4), chance.choice([OURS, OURS, OTHER])
    intent = Digest(sha256=canon.sha256(FILES[INTENT])) if chance.random() < 0.7 else None
    run = Digest(sha256=canon.sha256(chance.choice(manifests))) if intent is None or chance.random() < 0.5 else None
    return sign_void(
        VoidPredicate(
            run_id=planned_id(k),
            pass_=PassRef(k=min(k, 3), of=chance.choice([3, 3, 4])),
            intent=intent,
            run=run,
            reason="it is no longer needed",
            created=STARTED,
            signer=signer.ref(),
        ),
        signer,
    )


def random_log(chance: random.Random) -> dict[str, bytes]:
    """Return the files of a log that holds the announcement, most often first, and what else may stand in one."""
    runs = [FILES[MANIFEST], *(logged_run(chance) for _ in range(chance.randrange(5)))]
    entries = [*runs, *(voiding(chance, runs) for _ in range(chance.randrange(3)))]
    if chance.random() < 0.3:
        entries.append(chance.choice([b"", b"{}", b"no statement", FILES[INTENT][:-1] + b" ", chance.choice(entries)]))
    chance.shuffle(entries)
    entries.insert(0 if chance.random() < 0.8 else chance.randrange(len(entries)), FILES[INTENT])
    return MemoryLog(entries=entries).files(SEEN_AT)


def test_random_logs(call: engine.Call) -> None:
    """Runs of the plan and outside of it, voidings of either, repeated and broken entries, by one key or by two."""
    chance = random.Random(11)
    asked = {}
    for at in range(400):
        bundle = Bundle(files=FILES, log=random_log(chance), now=BUNDLE.now)
        asked[str(at)] = (bundle, [*POLICIES.values()][at % len(POLICIES)])
    assert_agree(call, asked)


@pytest.mark.parametrize("name", [INTENT, INTENT_PROOF, RUN_PROOF, REGISTRY])
def test_every_fifth_byte_beside_the_run(call: engine.Call, name: str) -> None:
    """A changed byte of announcement, proof or registry is found at the same place."""
    chance = random.Random(name)
    asked = {}
    for at in range(0, len(FILES[name]), 5):
        data = bytearray(FILES[name])
        data[at] ^= 1 << chance.randrange(8)
        files = {**FILES, name: bytes(data)}
        asked[str(at)] = (msgspec.structs.replace(BUNDLE, files=files, log=None), ROOT_POLICY)
    assert_agree(call, asked)
