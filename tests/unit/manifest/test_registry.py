"""The key registry: what it holds, whom it vouches for, what it says of a key at a time, and its next versions."""

from __future__ import annotations

import msgspec
import pytest

from ragassay.errors import InputError
from ragassay.manifest.registry import (
    KeyRecord,
    Registry,
    ValidFor,
    decode_registry,
    key_record,
    root_ref,
    sign_registry,
    status_at,
)
from ragassay.manifest.registry_change import (
    DAY_S,
    check_successor,
    find_record,
    first_version,
    next_version,
    with_keys,
    with_new_root,
    with_replaced,
    with_revoked,
)
from ragassay.manifest.sign import WEAK_KEYS, PublicKey, Signer
from ragassay.testing.signed_run import public_signer

NOW = 1_790_000_000
ROOTS = [public_signer(f"root-{k}") for k in range(4)]
RUN, NEXT, OTHER = public_signer("run"), public_signer("next"), public_signer("other")


def first() -> Registry:
    """A registry of one run key under the first root."""
    return with_keys(first_version(ROOTS[0], now=NOW, days=365), [RUN.public], start=NOW)


def rerooted(times: int) -> Registry:
    """A registry whose root changed that often, each in a version of its own."""
    registry = first()
    for k in range(times):
        registry = with_new_root(next_version(registry, now=NOW + k + 1, days=365), ROOTS[k], ROOTS[k + 1])
    return registry


def test_a_registry_reads_back() -> None:
    """What was signed is what is read, under the root that signed it and under nobody else."""
    signed = decode_registry(sign_registry(first(), ROOTS[0]))
    assert signed.registry == first()
    assert signed.registry.version == 1
    assert signed.registry.expires - signed.registry.issued == 365 * DAY_S
    assert signed.registry.key(RUN.kid) == key_record(RUN.public, start=NOW)
    assert signed.registry.key(OTHER.kid) is None
    assert signed.vouched_by(ROOTS[0].kid)
    assert not any(signed.vouched_by(text) for text in (ROOTS[1].kid, RUN.kid, "", "é"))


def test_the_same_registry_gives_the_same_bytes() -> None:
    """Signing is deterministic."""
    assert sign_registry(first(), ROOTS[0]) == sign_registry(first(), ROOTS[0])


def test_only_its_root_signs_it() -> None:
    """Another key is refused before anything is written."""
    with pytest.raises(InputError, match="is not the registry's root"):
        sign_registry(first(), ROOTS[1])


@pytest.mark.parametrize("times", [1, 2, 3])
def test_an_old_pin_follows_every_handover(times: int) -> None:
    """Whoever pinned any root on the way, the first too, reaches the current one; a later stranger is not vouched."""
    signed = decode_registry(sign_registry(rerooted(times), ROOTS[times]))
    assert [signed.vouched_by(root.kid) for root in ROOTS] == [k <= times for k in range(4)]


def test_a_new_root_is_a_new_key() -> None:
    """No root comes back, and no run key becomes one."""
    registry = next_version(rerooted(1), now=NOW + 9, days=1)
    for key in (ROOTS[0], ROOTS[1], RUN):
        with pytest.raises(InputError, match="a new root is a new key"):
            with_new_root(registry, ROOTS[1], key)


def test_a_root_is_no_run_key() -> None:
    """The root that signs the registry, and one before it, cannot be listed as keys that sign runs."""
    for root in ROOTS[:2]:
        with pytest.raises(InputError, match="a root signs nothing but the registry"):
            with_keys(rerooted(1), [root.public], start=NOW)
        smuggled = msgspec.structs.replace(rerooted(1), keys=(key_record(root.public, start=NOW),))
        with pytest.raises(InputError, match="a root signs nothing but the registry"):
            sign_registry(smuggled, ROOTS[1])


@pytest.mark.parametrize("key", sorted(WEAK_KEYS), ids=lambda key: key.hex()[:8])
def test_a_weak_key_is_not_added(key: bytes) -> None:
    """None of the 14 weak keys gets into a registry."""
    with pytest.raises(InputError, match="KEY_WEAK"):
        with_keys(first(), [PublicKey(x=key, name="weak")], start=NOW)


def test_a_key_is_added_once() -> None:
    """A key that is there is not added again, nor twice at once."""
    for keys in ([RUN.public], [NEXT.public, NEXT.public]):
        with pytest.raises(InputError, match="already"):
            with_keys(first(), keys, start=NOW)


def _record(status: str = "active", start: int = 100, end: int | None = None, since: int | None = None) -> KeyRecord:
    record = key_record(RUN.public, start=start)
    return msgspec.structs.replace(record, status=status, valid_for=ValidFor(start=start, end=end), invalid_since=since)


@pytest.mark.parametrize(
    ("record", "at", "code"),
    [
        (_record(), None, "UNTIMED"),
        (_record(), 99, "KEY_EXPIRED"),
        (_record(), 100, None),
        (_record(), 2**53 - 1, None),
        (_record(end=200), 200, None),
        (_record(end=200), 201, "KEY_EXPIRED"),
        (_record("deprecated", end=200), None, "KEY_EXPIRED"),
        (_record("deprecated", end=200), 99, "KEY_EXPIRED"),
        (_record("deprecated", end=200), 100, None),
        (_record("deprecated", end=200), 200, None),
        (_record("deprecated", end=200), 201, "KEY_EXPIRED"),
        (_record("deprecated", end=100), 100, None),
        (_record("revoked", since=150), None, "KEY_REVOKED"),
        (_record("revoked", since=150), 99, "KEY_EXPIRED"),
        (_record("revoked", since=150), 149, None),
        (_record("revoked", since=150), 150, "KEY_REVOKED"),
        (_record("revoked", since=150), 151, "KEY_REVOKED"),
        (_record("revoked", since=0), 0, "KEY_REVOKED"),
        (_record("revoked", end=140, since=150), 140, None),
        (_record("revoked", end=140, since=150), 145, "KEY_EXPIRED"),
        (_record("revoked", end=140, since=150), 150, "KEY_REVOKED"),
    ],
)
def test_what_a_registry_says_of_a_key_at_a_time(record: KeyRecord, at: int | None, code: str | None) -> None:
    """Each status at each edge of its time; without a witness only an active key is more than a no."""
    assert status_at(record, at) == code


@pytest.mark.parametrize("key", sorted(WEAK_KEYS), ids=lambda key: key.hex()[:8])
def test_a_weak_key_is_never_good(key: bytes) -> None:
    """A record of a weak key is KEY_WEAK at every time, as is one whose key cannot be read."""
    weak = key_record(PublicKey(x=key, name="weak"), start=0)
    assert {status_at(weak, at) for at in (None, 0, NOW)} == {"KEY_WEAK"}
    assert status_at(msgspec.structs.replace(weak, x="%"), NOW) == "KEY_WEAK"


def test_a_replaced_key_is_deprecated_and_its_successor_active() -> None:
    """From one second on the new key signs; what a witness saw of the old one up to then still counts."""
    registry = with_replaced(next_version(first(), now=NOW + 50, days=1), RUN.kid, NEXT.public, now=NOW + 50)
    old, new = registry.keys
    assert (old.status, old.valid_for) == ("deprecated", ValidFor(start=NOW, end=NOW + 50))
    assert (new.kid, new.status, new.valid_for) == (NEXT.kid, "active", ValidFor(start=NOW + 50, end=None))
    assert [status_at(old, NOW + second) for second in (50, 51)] == [None, "KEY_EXPIRED"]
    with pytest.raises(InputError, match="is deprecated"):
        with_replaced(registry, RUN.kid, OTHER.public, now=NOW + 60)


def test_a_revocation_moves_to_earlier_only() -> None:
    """A leak that was found to be older is told; one cannot be taken back, later or in full."""
    once = with_revoked(first(), RUN.kid, since=NOW + 50, reason="laptop lost")
    assert (once.keys[0].status, once.keys[0].invalid_since, once.keys[0].reason) == (
        "revoked",
        NOW + 50,
        "laptop lost",
    )
    twice = with_revoked(once, RUN.kid, since=NOW + 40)
    assert (twice.keys[0].invalid_since, twice.keys[0].reason) == (NOW + 40, "laptop lost")
    for since in (NOW + 40, NOW + 41):
        with pytest.raises(InputError, match="only an earlier time"):
            with_revoked(twice, RUN.kid, since=since)


def test_a_key_is_found_by_fingerprint_or_by_its_own_name() -> None:
    """A name that two keys have finds none: both fingerprints are listed."""
    twin = PublicKey(x=NEXT.x, name=RUN.name)
    registry = with_keys(first(), [OTHER.public], start=NOW)
    assert find_record(registry, RUN.name).kid == find_record(registry, RUN.kid).kid == RUN.kid
    with pytest.raises(InputError, match="no key in the registry"):
        find_record(registry, "nobody")
    with pytest.raises(InputError) as error:
        find_record(with_keys(registry, [twin], start=NOW), RUN.name)
    assert error.value.problems == (RUN.kid, NEXT.kid)


def _check(old: Registry, old_root: Signer, new: Registry, new_root: Signer) -> None:
    check_successor(decode_registry(sign_registry(old, old_root)), decode_registry(sign_registry(new, new_root)))


def test_a_later_version_takes_the_place_of_an_earlier_one() -> None:
    """Further keys, a revocation, a new root, and the very same file again are fine; versions may be left out."""
    one = first()
    two = with_keys(next_version(one, now=NOW + 1, days=1), [NEXT.public], start=NOW)
    three = with_revoked(next_version(two, now=NOW + 2, days=1), RUN.kid, since=NOW)
    four = with_new_root(next_version(three, now=NOW + 3, days=1), ROOTS[0], ROOTS[1])
    for old, new in ((one, one), (one, two), (two, three), (one, three)):
        _check(old, ROOTS[0], new, ROOTS[0])
    _check(one, ROOTS[0], four, ROOTS[1])


def test_what_must_not_take_the_place_of_a_registry() -> None:
    """An older version, another of the same number, one of another root, one that forgets a key or a revocation."""
    one = first()
    two = with_revoked(
        with_keys(next_version(one, now=NOW + 1, days=1), [NEXT.public], start=NOW), RUN.kid, since=NOW + 5
    )
    three = next_version(two, now=NOW + 2, days=1)
    cases = [
        (one, ROOTS[0], "older than version 2"),
        (msgspec.structs.replace(two, expires=two.expires + 1), ROOTS[0], "a version is signed once"),
        (msgspec.structs.replace(three, root=root_ref(ROOTS[1])), ROOTS[1], "does not descend"),
        (msgspec.structs.replace(three, keys=three.keys[:1]), ROOTS[0], r"\) is gone"),
        (msgspec.structs.replace(three, keys=(one.keys[0], three.keys[1])), ROOTS[0], "is taken back"),
    ]
    for new, root, message in cases:
        with pytest.raises(InputError, match=message):
            _check(two, ROOTS[0], new, root)


def test_a_handover_is_not_rewritten() -> None:
    """A later version that drops the handovers of an earlier one is not its successor."""
    old = rerooted(2)
    new = msgspec.structs.replace(next_version(old, now=NOW + 9, days=1), rotations=old.rotations[1:])
    with pytest.raises(InputError, match="does not descend"):
        _check(old, ROOTS[2], new, ROOTS[2])
