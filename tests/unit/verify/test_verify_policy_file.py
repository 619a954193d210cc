"""The policy file: what it may say, and that every problem of it is told at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragassay.errors import InputError
from ragassay.manifest.sign import WEAK_KEYS, encode_x
from ragassay.testing.logged_run import KEY_POLICY, LOG_KEY, OTHER, OURS, ROOT_SIGNER, WITNESS_KEY
from ragassay.verify import AllOf, AnyOf, PinnedKey, PinnedRoot, TrustedLog, load_policy, write_policy

JWK = json.loads(OURS.public.jwk())
VKEY, WITNESS = LOG_KEY.vkey(), WITNESS_KEY.vkey()


def test_a_whole_policy_is_read() -> None:
    """Any of the keys and roots may sign, and the log with its witnesses is asked for as well."""
    data = write_policy(
        keys=[OURS.public, OTHER.public], roots=[ROOT_SIGNER.kid], min_registry_version=3, log=LOG_KEY,
        witnesses=[WITNESS_KEY],
    )  # fmt: skip
    signers = (PinnedKey(OURS.public), PinnedKey(OTHER.public), PinnedRoot(ROOT_SIGNER.kid, 3))
    assert load_policy(data) == AllOf((AnyOf(signers), TrustedLog(LOG_KEY, (WITNESS_KEY,), 1)))


def test_a_policy_need_not_be_canonical() -> None:
    """People write it: white space and another order of members are the same policy."""
    assert load_policy(json.dumps(json.loads(KEY_POLICY), indent=2).encode()) == load_policy(KEY_POLICY)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({}, "neither `keys` nor `roots`"),
        ({"log": VKEY}, "neither `keys` nor `roots`"),
        ({"keys": [{"kty": "RSA"}]}, "`keys`, 1"),
        ({"keys": [JWK, {**JWK, "kid": OTHER.kid}]}, "`keys`, 2"),
        ({"keys": [{**JWK, "d": "secret"}]}, "private key"),
        ({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": encode_x(min(WEAK_KEYS))}]}, "KEY_WEAK"),
        ({"roots": ["abc"]}, "no fingerprint"),
        ({"roots": [ROOT_SIGNER.kid + "="]}, "no fingerprint"),
        ({"keys": [JWK], "minRegistryVersion": 1}, "stands beside `roots`"),
        ({"roots": [ROOT_SIGNER.kid], "minRegistryVersion": 0}, "at least 1"),
        ({"keys": [JWK], "log": WITNESS}, "the key of a witness, not of a log"),
        ({"keys": [JWK], "log": "yes"}, "`log`, 1"),
        (
            {"keys": [JWK], "log": VKEY, "witnesses": {"quorum": 1, "keys": [VKEY]}},
            "the key of a log, not of a witness",
        ),
        ({"keys": [JWK], "log": VKEY, "witnesses": {"quorum": 2, "keys": [WITNESS]}}, "a quorum of 2 of 1"),
        ({"keys": [JWK], "log": VKEY, "witnesses": {"quorum": 0, "keys": [WITNESS]}}, "a quorum of 0 of 1"),
        ({"keys": [JWK], "log": VKEY, "witnesses": {"quorum": 2, "keys": [WITNESS, WITNESS]}}, "stands twice"),
        ({"keys": [JWK], "witnesses": {"quorum": 1, "keys": [WITNESS]}}, "give `log` too"),
        ({"keys": [JWK], "logs": VKEY}, "unknown field"),
        ({"keys": JWK}, "form of a policy"),
        ([], "form of a policy"),
        ({"roots": [ROOT_SIGNER.kid] * 1001}, "more than 1000"),
    ],
)
def test_what_cannot_be_a_policy_is_refused(value: Any, said: str) -> None:
    """A policy that says less than it seems to say is refused with the place and the reason."""
    with pytest.raises(InputError, match=said):
        load_policy(json.dumps(value).encode())


@pytest.mark.parametrize("data", [b"", b"\xff", b"[" * 1000, b'{"keys":[],"keys":[]}', b'{"minRegistryVersion":1.5}'])
def test_what_is_no_strict_json_is_refused(data: bytes) -> None:
    """Duplicate members, fractions and other bytes are no policy."""
    with pytest.raises(InputError, match="form of a policy"):
        load_policy(data)


def test_every_problem_is_told_at_once() -> None:
    """One reading names all that has to be put right."""
    value = {"keys": [{}, {}], "roots": ["x"], "log": "y", "witnesses": {"quorum": 1, "keys": ["z"]}}
    with pytest.raises(InputError) as caught:
        load_policy(json.dumps(value).encode())
    assert [problem.split(":")[0] for problem in caught.value.problems] == [
        "`keys`, 1", "`keys`, 2", "`roots`, 1", "`log`, 1", "`witnesses.keys`, 1",
    ]  # fmt: skip


def test_writing_refuses_what_reading_would() -> None:
    """A policy that nobody could read is not written."""
    with pytest.raises(InputError):
        write_policy()
    with pytest.raises(InputError, match="quorum of 2"):
        write_policy(keys=[OURS.public], log=LOG_KEY, witnesses=[WITNESS_KEY], quorum=2)
