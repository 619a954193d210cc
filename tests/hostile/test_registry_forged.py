"""Key registries made to deceive: each is refused, with the code of its defect."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest import dsse
from ragassay.manifest.registry import REGISTRY_TYPE, decode_registry, rotate, sign_registry
from ragassay.manifest.registry_change import first_version, next_version, with_keys, with_new_root, with_revoked
from ragassay.manifest.sign import WEAK_KEYS, Signer, encode_x, thumbprint
from ragassay.manifest.statement import PAYLOAD_TYPE
from ragassay.records import to_json
from ragassay.testing.signed_run import public_signer

NOW = 1_790_000_000
ROOTS = [public_signer(f"root-{k}") for k in range(4)]
RUN, NEXT, THIEF = public_signer("run"), public_signer("next"), public_signer("thief")


def good() -> dict[str, Any]:
    """Return the payload of a registry of two keys, one revoked, whose root changed twice."""
    registry = with_keys(first_version(ROOTS[0], now=NOW, days=365), [RUN.public, NEXT.public], start=NOW)
    registry = with_new_root(next_version(registry, now=NOW, days=365), ROOTS[0], ROOTS[1])
    registry = with_new_root(next_version(registry, now=NOW, days=365), ROOTS[1], ROOTS[2])
    registry = with_revoked(next_version(registry, now=NOW, days=365), RUN.kid, since=NOW)
    value: dict[str, Any] = json.loads(canon.canonical(to_json(registry)))
    return value


def sealed(value: object, signer: Signer = ROOTS[2], *, keyid: str | None = None, kind: str = REGISTRY_TYPE) -> bytes:
    """Sign any payload as its publisher could."""
    return wrapped(canon.canonical(value), signer, keyid=keyid, kind=kind)


def wrapped(payload: bytes, signer: Signer = ROOTS[2], *, keyid: str | None = None, kind: str = REGISTRY_TYPE) -> bytes:
    """Sign any bytes as a payload."""
    signature = signer.sign(dsse.pae(kind, payload))
    return dsse.encode_envelope(
        payload_type=kind, payload=payload, keyid=signer.kid if keyid is None else keyid, signature=signature
    )


def refused(data: bytes) -> str:
    """Return the code with which bytes are refused."""
    with pytest.raises(VerifyError) as error:
        decode_registry(data)
    return error.value.code


def test_the_good_registry_is_accepted() -> None:
    """What the cases below change is taken as it is, under each of its roots."""
    signed = decode_registry(sealed(good()))
    assert all(signed.vouched_by(root.kid) for root in ROOTS[:3])
    assert not signed.vouched_by(THIEF.kid)


def _set(*path: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(value: Any) -> None:
        for step in path[:-1]:
            value = value[step]
        value[path[-1]] = to

    return change


def _drop(*path: str | int) -> Callable[[dict[str, Any]], None]:
    def change(value: Any) -> None:
        for step in path[:-1]:
            value = value[step]
        del value[path[-1]]

    return change


def _twice(value: dict[str, Any]) -> None:
    value["keys"].append(value["keys"][1])


def _root_as_key(value: dict[str, Any]) -> None:
    value["keys"][0].update(kid=ROOTS[0].kid, x=encode_x(ROOTS[0].x))


def _too_many_keys(value: dict[str, Any]) -> None:
    value["keys"] = value["keys"] * 501


def _too_many_handovers(value: dict[str, Any]) -> None:
    value["rotations"] = value["rotations"] * 51


MALFORMED: dict[str, Callable[[dict[str, Any]], None]] = {
    "unknown member": _set("comment", to="trust me"),
    "unknown member of a key": _set("keys", 0, "d", to="x"),
    "unknown member of a time": _set("keys", 0, "validFor", "unit", to="s"),
    "unknown member of a handover": _set("rotations", 0, "reason", to="x"),
    "unknown member of the root": _set("root", "name", to="x"),
    "no version": _drop("version"),
    "version zero": _set("version", to=0),
    "version below its handovers": _set("version", to=2),
    "version as text": _set("version", to="4"),
    "version as truth": _set("version", to=True),
    "expires before it was issued": _set("expires", to=NOW - 1),
    "expires when it was issued": _set("expires", to=NOW),
    "issued before 1970": _set("issued", to=-1),
    "no keys member": _drop("keys"),
    "no handovers member": _drop("rotations"),
    "key twice": _twice,
    "key is an old root": _root_as_key,
    "kid of another key": _set("keys", 0, "kid", to=NEXT.kid),
    "x of another key": _set("keys", 0, "x", to=encode_x(THIEF.x)),
    "x with a loose tail": _set("keys", 0, "x", to=encode_x(RUN.x)[:-1] + "_"),
    "short x": _set("keys", 0, "x", to="AA"),
    "x of other letters": _set("keys", 0, "x", to="é" * 43),
    "key of another curve": _set("keys", 0, "crv", to="X25519"),
    "key of another type": _set("keys", 0, "kty", to="EC"),
    "key without type": _drop("keys", 0, "kty"),
    "unknown status": _set("keys", 0, "status", to="trusted"),
    "revoked without a time": _set("keys", 0, "invalidSince", to=None),
    "active with a time": _set("keys", 0, "status", to="active"),
    "invalid before 1970": _set("keys", 0, "invalidSince", to=-1),
    "deprecated without an end": _set("keys", 1, "status", to="deprecated"),
    "valid before 1970": _set("keys", 1, "validFor", "start", to=-1),
    "valid to before it begins": _set("keys", 1, "validFor", "end", to=NOW - 1),
    "no end member": _drop("keys", 1, "validFor", "end"),
    "a name without end": _set("keys", 0, "name", to="n" * 201),
    "a reason without end": _set("keys", 0, "reason", to="n" * 201),
    "too many keys": _too_many_keys,
    "too many handovers": _too_many_handovers,
    "root's kid of another key": _set("root", "kid", to=ROOTS[1].kid),
}


@pytest.mark.parametrize("defect", MALFORMED)
def test_a_registry_of_another_form_is_refused(defect: str) -> None:
    """Whatever its root signed, a registry that breaks one rule of its form is none."""
    value = good()
    MALFORMED[defect](value)
    assert refused(sealed(value)) == "ENVELOPE_MALFORMED"


@pytest.mark.parametrize("place", ["key", "root", "old root"])
@pytest.mark.parametrize("key", sorted(WEAK_KEYS), ids=lambda key: key.hex()[:8])
def test_a_weak_key_is_refused_wherever_it_stands(key: bytes, place: str) -> None:
    """Each of the 14 weak keys is refused as a key, as the root and as a root that handed over."""
    value = good()
    member = {"key": value["keys"][0], "root": value["root"], "old root": value["rotations"][0]["from"]}[place]
    member.update(x=encode_x(key), kid=thumbprint(key))
    if place == "root":
        value["rotations"] = []
    assert refused(sealed(value, keyid=value["root"]["kid"])) == "KEY_WEAK"


def test_a_weak_root_with_its_fixed_forgery_is_refused() -> None:
    """The signature that verifies under the identity point for every message buys nothing."""
    value = good()
    identity = bytes([1]) + bytes(31)
    value.update(rotations=[], root={"kid": thumbprint(identity), "x": encode_x(identity)})
    forged = dsse.encode_envelope(
        payload_type=REGISTRY_TYPE,
        payload=canon.canonical(value),
        keyid=thumbprint(identity),
        signature=bytes([1]) + bytes(63),
    )
    assert refused(forged) == "KEY_WEAK"


def test_every_flipped_bit_is_noticed() -> None:
    """Each of the 8 bits of each byte of a registry file, flipped alone, makes the file no registry."""
    data = sealed(good())
    for at in range(len(data)):
        for bit in range(8):
            with pytest.raises(VerifyError):
                decode_registry(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])


def test_every_cut_is_noticed() -> None:
    """A file that is cut anywhere, or goes on, is no registry."""
    data = sealed(good())
    for at in range(0, len(data), 7):
        assert refused(data[:at]) in ("ENVELOPE_MALFORMED", "ENVELOPE_NOT_CANONICAL")
    assert refused(data + b"\n") == "ENVELOPE_NOT_CANONICAL"
    assert refused(data + b" " * (1 << 20)) == "ENVELOPE_MALFORMED"


def test_another_signer_is_refused() -> None:
    """A thief who signs under the root's fingerprint, or an old root who signs once more, is noticed."""
    assert refused(sealed(good(), THIEF, keyid=ROOTS[2].kid)) == "SIGNATURE_INVALID"
    assert refused(sealed(good(), ROOTS[0], keyid=ROOTS[2].kid)) == "SIGNATURE_INVALID"
    assert refused(sealed(good(), THIEF)) == "ENVELOPE_MALFORMED"


def test_a_thief_under_the_name_of_the_root_is_not_vouched_for() -> None:
    """A whole registry of a thief's own holds together, and no pin of the publisher's roots takes it."""
    registry = with_keys(first_version(THIEF, now=NOW, days=365), [RUN.public], start=NOW)
    signed = decode_registry(sign_registry(registry, THIEF))
    assert signed.vouched_by(THIEF.kid)
    assert not any(signed.vouched_by(root.kid) for root in ROOTS)


def test_other_types_are_refused() -> None:
    """A registry under the type of a run, and a run's type of payload under that of a registry, are neither."""
    assert refused(sealed(good(), kind=PAYLOAD_TYPE)) == "TYPE_UNKNOWN"
    assert refused(sealed(good(), kind="")) == "TYPE_UNKNOWN"
    assert refused(sealed({"_type": "https://in-toto.io/Statement/v1"})) == "ENVELOPE_MALFORMED"
    assert refused(sealed([good()])) == "ENVELOPE_MALFORMED"
    assert refused(b"") == "ENVELOPE_MALFORMED"


@pytest.mark.parametrize(
    "payload",
    [
        json.dumps(good()).encode(),
        json.dumps(dict(reversed(good().items())), separators=(",", ":")).encode(),
        canon.canonical(good()) + b"\n",
        canon.canonical(good()).replace(b'"version":4', b'"version":4 '),
    ],
    ids=["spread out", "unsorted", "line feed", "one space"],
)
def test_a_payload_in_another_form_is_refused(payload: bytes) -> None:
    """The signed bytes are the one canonical form of what they say."""
    assert refused(wrapped(payload)) == "ENVELOPE_NOT_CANONICAL"


@pytest.mark.parametrize(
    "payload",
    [
        b"\xef\xbb\xbf" + canon.canonical(good()),
        canon.canonical(good()).replace(b'"version":4', b'"version":4,"version":4'),
        canon.canonical(good()).replace(b'"version":4', b'"version":4.0'),
        canon.canonical(good()).replace(b'"version":4', b'"version":' + b"9" * 400),
        canon.canonical(good()).replace(b'"version":4', b'"version":' + b"[" * 9 + b"]" * 9),
        b"\xff",
    ],
    ids=["byte order mark", "version twice", "fraction", "wide integer", "deep", "no text"],
)
def test_a_payload_that_is_no_strict_json_is_refused(payload: bytes) -> None:
    """Nothing that two readers could read differently is read."""
    assert refused(wrapped(payload)) == "ENVELOPE_MALFORMED"


def test_two_signatures_and_loose_base64_are_refused() -> None:
    """An envelope has one signature, and its base64 re-encodes to the same characters."""
    envelope = json.loads(sealed(good()))
    twice = {**envelope, "signatures": envelope["signatures"] * 2}
    assert refused(canon.canonical(twice)) == "ENVELOPE_MALFORMED"
    sig = envelope["signatures"][0]["sig"]
    assert sig.endswith("==")
    loose = sig[:-3] + chr(ord(sig[-3]) + 1) + "=="
    assert base64.b64decode(loose) == base64.b64decode(sig)
    changed = {**envelope, "signatures": [{**envelope["signatures"][0], "sig": loose}]}
    assert refused(canon.canonical(changed)) == "ENVELOPE_NOT_CANONICAL"


HANDOVERS: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "without the old root's signature": (_set("rotations", 0, "fromSig", to=""), "SIGNATURE_INVALID"),
    "without the new root's signature": (_set("rotations", 0, "toSig", to=""), "SIGNATURE_INVALID"),
    "without a member": (_drop("rotations", 0, "toSig"), "ENVELOPE_MALFORMED"),
    "with a signature that is no base64": (_set("rotations", 1, "toSig", to="%"), "ENVELOPE_MALFORMED"),
    "of another version": (_set("rotations", 1, "version", to=4), "SIGNATURE_INVALID"),
    "of version zero": (_set("rotations", 0, "version", to=0), "ENVELOPE_MALFORMED"),
    "in the wrong order": (lambda value: value["rotations"].reverse(), "ENVELOPE_MALFORMED"),
    "left out in the middle": (_drop("rotations", 1), "ENVELOPE_MALFORMED"),
    "twice": (lambda value: value["rotations"].insert(0, value["rotations"][0]), "ENVELOPE_MALFORMED"),
    "of versions that go down": (_set("rotations", 1, "version", to=1), "ENVELOPE_MALFORMED"),
    "later than the registry": (_set("rotations", 1, "version", to=9), "ENVELOPE_MALFORMED"),
}


@pytest.mark.parametrize("defect", HANDOVERS)
def test_a_handover_that_is_not_whole_is_refused(defect: str) -> None:
    """A registry with one bad handover is refused as a whole, also for those who pin the current root."""
    change, code = HANDOVERS[defect]
    value = good()
    change(value)
    assert refused(sealed(value)) == code


@pytest.mark.parametrize("side", ["old", "new"])
def test_a_handover_that_one_side_did_not_sign_is_refused(side: str) -> None:
    """Nobody becomes the root without the signature of the root before, and nobody is made it without his own."""
    value = good()
    value["root"] = {"kid": THIEF.kid, "x": encode_x(THIEF.x)}
    old, new = (THIEF, THIEF) if side == "old" else (ROOTS[2], ROOTS[3])
    link = to_json(rotate(4, old, new))
    link["from"], link["to"] = good()["root"], value["root"]
    if side == "new":
        link["fromSig"] = to_json(rotate(4, ROOTS[2], THIEF))["fromSig"]
    value["rotations"].append(link)
    assert refused(sealed(value, THIEF)) == "SIGNATURE_INVALID"


def test_roots_in_a_circle_are_refused() -> None:
    """A chain that comes back to an earlier root, each link well signed, is none, nor is a root that follows itself."""
    for chain in ([0, 1, 0], [0, 1, 2, 0], [0, 0], [0, 1, 2, 1]):
        value = good()
        links = [rotate(at + 1, ROOTS[a], ROOTS[b]) for at, (a, b) in enumerate(itertools.pairwise(chain))]
        last = ROOTS[chain[-1]]
        value.update(rotations=[to_json(link) for link in links], root={"kid": last.kid, "x": encode_x(last.x)})
        assert refused(sealed(value, last)) == "ENVELOPE_MALFORMED"


def test_a_signature_over_the_handover_is_not_one_over_a_registry() -> None:
    """What a root signed as a handover cannot be passed off as the signature of a registry."""
    envelope = json.loads(sealed(good()))
    envelope["signatures"][0]["sig"] = good()["rotations"][1]["toSig"]
    assert refused(canon.canonical(envelope)) == "SIGNATURE_INVALID"
