"""The next version of a key registry: keys are added, replaced and revoked, never removed. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from ragassay.errors import InputError
from ragassay.manifest.registry import (
    KeyRecord,
    Registry,
    SignedRegistry,
    ValidFor,
    key_record,
    root_ref,
    rotate,
)
from ragassay.manifest.sign import PublicKey, Signer, is_weak

DAY_S = 86_400


def first_version(root: Signer, *, now: int, days: int, version: int = 1) -> Registry:
    """Return a registry without keys, issued now (Unix seconds) for that many days."""
    return Registry(version=version, issued=now, expires=now + days * DAY_S, root=root_ref(root), keys=(), rotations=())


def next_version(registry: Registry, *, now: int, days: int) -> Registry:
    """Return the same registry one version on, issued now (Unix seconds) for that many days."""
    return msgspec.structs.replace(registry, version=registry.version + 1, issued=now, expires=now + days * DAY_S)


def with_keys(registry: Registry, keys: Iterable[PublicKey], *, start: int) -> Registry:
    """Return the registry with further active keys; raises `InputError` for a weak one and one that is there."""
    records = list(registry.keys)
    known = {record.kid for record in records}
    for key in keys:
        if is_weak(key.x):
            raise InputError(f"{key.name} is a weak key (KEY_WEAK): anyone can sign under it")
        if key.kid in registry.roots():
            raise InputError(f"the key {key.name} ({key.kid}) is a root; a root signs nothing but the registry")
        if key.kid in known:
            raise InputError(f"the key {key.name} ({key.kid}) is in the registry already")
        known.add(key.kid)
        records.append(key_record(key, start=start))
    return msgspec.structs.replace(registry, keys=tuple(records))


def with_replaced(registry: Registry, old: str, new: PublicKey, *, now: int) -> Registry:
    """Return the registry with the key `old` deprecated from now on and `new` active; raises `InputError`."""

    def deprecate(record: KeyRecord) -> KeyRecord:
        if record.status != "active":
            raise InputError(f"the key {record.name} ({record.kid}) is {record.status} and cannot be replaced")
        start, end = record.valid_for.start, record.valid_for.end
        if start > now:
            raise InputError(f"the key {record.name} ({record.kid}) is not valid yet and cannot be replaced")
        until = now if end is None else min(now, end)
        return msgspec.structs.replace(record, status="deprecated", valid_for=ValidFor(start=start, end=until))

    return with_keys(_changed(registry, old, deprecate), [new], start=now)


def with_revoked(registry: Registry, kid: str, *, since: int, reason: str | None = None) -> Registry:
    """Return the registry with a key revoked since a time (Unix seconds), which may only move to earlier."""

    def revoke(record: KeyRecord) -> KeyRecord:
        if record.invalid_since is not None and since >= record.invalid_since:
            raise InputError(
                f"the key {record.name} ({record.kid}) is revoked since {record.invalid_since} already; "
                "only an earlier time changes that"
            )
        return msgspec.structs.replace(
            record, status="revoked", invalid_since=since, reason=record.reason if reason is None else reason
        )

    return _changed(registry, kid, revoke)


def with_new_root(registry: Registry, old: Signer, new: Signer) -> Registry:
    """Return the registry under a new root, with the handover signed by both; raises `InputError`."""
    if new.kid in registry.roots() or registry.key(new.kid) is not None:
        raise InputError(f"the key {new.name} ({new.kid}) was in the registry before; a new root is a new key")
    link = rotate(registry.version, old, new)
    return msgspec.structs.replace(registry, root=root_ref(new), rotations=(*registry.rotations, link))


def _changed(registry: Registry, kid: str, change: Callable[[KeyRecord], KeyRecord]) -> Registry:
    keys = tuple(change(record) if record.kid == kid else record for record in registry.keys)
    return msgspec.structs.replace(registry, keys=keys)


def find_record(registry: Registry, kid_or_name: str) -> KeyRecord:
    """Return the key of that fingerprint or, if only one has it, that name; raises `InputError`."""
    named = [record for record in registry.keys if kid_or_name in (record.kid, record.name)]
    if len(named) == 1:
        return named[0]
    if not named:
        raise InputError(f"no key in the registry has the fingerprint or name {kid_or_name[:80]!r}")
    raise InputError(
        f"{len(named)} keys in the registry are called {kid_or_name[:80]!r}; give the fingerprint",
        [record.kid for record in named],
    )


def check_successor(old: SignedRegistry, new: SignedRegistry) -> None:
    """Raise `InputError` where `new` must not take the place of `old`.

    It must be of a later version (or the very same bytes) and descend from the same root; every key is still there and
    no revocation is taken back.
    """
    before, after = old.registry, new.registry
    if after.version < before.version:
        raise InputError(f"version {after.version} is older than version {before.version}, which is there already")
    if after.version == before.version:
        if (new.payload, new.signature) != (old.payload, old.signature):
            raise InputError(f"there is another version {before.version} already; a version is signed once")
        return
    if after.rotations[: len(before.rotations)] != before.rotations or before.root.kid not in after.roots():
        raise InputError(
            f"it does not descend from the root {before.root.kid}; a root changes with `keys rotate --root`"
        )
    problems = [problem for record in before.keys if (problem := _lost(record, after)) is not None]
    if problems:
        raise InputError("a registry forgets nothing", problems)


def _lost(record: KeyRecord, after: Registry) -> str | None:
    now = after.key(record.kid)
    if now is None:
        return f"the key {record.name} ({record.kid}) is gone"
    if record.invalid_since is not None and (now.invalid_since is None or now.invalid_since > record.invalid_since):
        return f"the revocation of {record.name} ({record.kid}) is taken back"
    return None
