"""Whatever stands in a registry file, reading it ends in a registry or in a reason code."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest import dsse
from ragassay.manifest.registry import REGISTRY_TYPE, ValidFor, decode_registry, key_record, sign_registry, status_at
from ragassay.manifest.registry_change import first_version, next_version, with_keys, with_new_root
from ragassay.records import to_json
from ragassay.testing.signed_run import public_signer
from ragassay.verify.codes import CODES

ROOT, NEXT, RUN = public_signer("root"), public_signer("next"), public_signer("run")
REGISTRY = with_new_root(
    next_version(with_keys(first_version(ROOT, now=10, days=1), [RUN.public], start=10), now=11, days=1), ROOT, NEXT
)
GOOD = sign_registry(REGISTRY, NEXT)

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


def _outcome(data: bytes) -> str:
    try:
        decode_registry(data)
    except VerifyError as error:
        return error.code
    return "ok"


@given(st.binary(max_size=400))
def test_any_bytes_give_a_code(data: bytes) -> None:
    """No bytes raise anything but a `VerifyError` with a known code."""
    assert _outcome(data) in CODES


@settings(max_examples=300)
@given(st.data())
def test_any_signed_value_gives_a_code(data: st.DataObject) -> None:
    """A payload with any member replaced by any value, signed by the root, gives a code or is the same registry."""
    value: Any = json.loads(canon.canonical(to_json(REGISTRY)))
    place = value
    while True:
        step = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[step], dict | list) or not place[step] or data.draw(st.booleans()):
            break
        place = place[step]
    place[step] = data.draw(values)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    payload = text.encode("utf-8", "surrogatepass")
    signature = NEXT.sign(dsse.pae(REGISTRY_TYPE, payload))
    wrapped = dsse.encode_envelope(payload_type=REGISTRY_TYPE, payload=payload, keyid=NEXT.kid, signature=signature)
    assert _outcome(wrapped) in {*CODES, "ok"}


@given(
    st.integers(0, 50), st.none() | st.integers(0, 50), st.none() | st.integers(0, 50), st.none() | st.integers(0, 60)
)
def test_a_revocation_never_makes_a_key_better(start: int, end: int | None, since: int | None, at: int | None) -> None:
    """What a revoked key may still vouch for, the same key could vouch for before it was revoked."""
    record = msgspec.structs.replace(key_record(RUN.public, start=start), valid_for=ValidFor(start=start, end=end))
    revoked = msgspec.structs.replace(record, status="revoked", invalid_since=since)
    if status_at(revoked, at) is None:
        assert status_at(record, at) is None
    if at is None or (since is not None and at >= since):
        assert status_at(revoked, at) == "KEY_REVOKED"
