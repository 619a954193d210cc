"""The policy file: whom one trusts, as JSON that can be read, compared and handed on. Pure.

```
{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "…", "name": "…"}, …],
 "roots": ["fingerprint of a registry's root", …], "minRegistryVersion": 1,
 "log": "name+id+key", "witnesses": {"quorum": 1, "keys": ["name+id+key", …]}}
```
A run has to be by one of the keys, or by a key of a registry of one of the roots; at least one of the two is given.
Where a log is named, it has to hold run and announcement, as the quorum of witnesses saw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest.note import KeyKind, NoteKey, parse_vkey
from ragassay.manifest.sign import PublicKey, decode_x, parse_public_key
from ragassay.records import JSON, Record, to_json
from ragassay.verify.policy import AllOf, AnyOf, PinnedKey, PinnedRoot, Policy, TrustedLog

MAX_POLICY_BYTES = 1 << 20
MAX_ENTRIES = 1000
"""The most keys, roots or witnesses of a policy."""

T = TypeVar("T")


class Witnesses(Record, frozen=True):
    """The keys of witnesses, and how many of them have to have seen a statement."""

    quorum: int
    keys: tuple[str, ...]


class PolicyFile(Record, frozen=True):
    """A policy file as it stands, its keys unread."""

    keys: tuple[JSON, ...] = ()
    roots: tuple[str, ...] = ()
    min_registry_version: int | None = None
    log: str | None = None
    witnesses: Witnesses | None = None


def load_policy(data: bytes) -> Policy:
    """Read a policy file; raises `InputError` that lists every problem of it."""
    file = _read(data)
    problems: list[str] = []
    keys = _each(file.keys, "keys", _public_key, problems)
    roots = _each(file.roots, "roots", _fingerprint, problems)
    logs = _each([file.log] if file.log is not None else [], "log", _vkey("log"), problems)
    given = file.witnesses or Witnesses(quorum=0, keys=())
    witnesses = _each(given.keys, "witnesses.keys", _vkey("witness"), problems)
    if not file.keys and not file.roots:
        problems.append("neither `keys` nor `roots` names anyone; give at least one of them")
    if file.min_registry_version is not None and not (file.roots and file.min_registry_version >= 1):
        problems.append("`minRegistryVersion` is at least 1 and stands beside `roots`")
    if file.witnesses is not None and file.log is None:
        problems.append("`witnesses` are those of a log; give `log` too")
    trusted: list[Policy] = []
    if logs and len(witnesses) == len(given.keys):
        try:
            trusted.append(TrustedLog(logs[0], tuple(witnesses), given.quorum))
        except ValueError as error:
            problems.append(f"`witnesses`: {error}")
    if problems:
        raise InputError("the policy cannot be used:", problems)
    signers: list[Policy] = [*map(PinnedKey, keys), *(PinnedRoot(root, file.min_registry_version) for root in roots)]
    return AllOf((AnyOf(tuple(signers)), *trusted))


def write_policy(
    *,
    keys: Sequence[PublicKey] = (),
    roots: Sequence[str] = (),
    min_registry_version: int | None = None,
    log: NoteKey | None = None,
    witnesses: Sequence[NoteKey] = (),
    quorum: int | None = None,
) -> bytes:
    """Return the policy file of these keys, as `load_policy` reads it: one canonical line without what is not given.

    `quorum` is all of the witnesses where it is not given. Raises `InputError` for what cannot be a policy.
    """
    members = {
        "keys": [msgspec.json.decode(key.jwk()) for key in keys],
        "roots": list(roots),
        "minRegistryVersion": min_registry_version,
        "log": log.vkey() if log else None,
        "witnesses": to_json(
            Witnesses(quorum=len(witnesses) if quorum is None else quorum, keys=tuple(w.vkey() for w in witnesses))
        )
        if witnesses
        else None,
    }
    data = canon.canonical({name: value for name, value in members.items() if value}) + b"\n"
    load_policy(data)
    return data


def _read(data: bytes) -> PolicyFile:
    try:
        value = canon.load_strict(data, max_bytes=MAX_POLICY_BYTES, max_depth=6)
        file = msgspec.convert(value, PolicyFile)
    except (canon.NotCanonical, msgspec.ValidationError) as error:
        raise InputError(f"the policy is no JSON of the form of a policy: {error}") from error
    if max(len(file.keys), len(file.roots), len(file.witnesses.keys) if file.witnesses else 0) > MAX_ENTRIES:
        raise InputError(f"the policy names more than {MAX_ENTRIES} keys, roots or witnesses")
    return file


def _each(values: Sequence[Any], name: str, read: Callable[[Any], T], problems: list[str]) -> list[T]:
    found = []
    for at, value in enumerate(values, 1):
        try:
            found.append(read(value))
        except (InputError, ValueError) as error:
            problems.append(f"`{name}`, {at}: {error}")
    return found


def _public_key(jwk: JSON) -> PublicKey:
    return run_key(parse_public_key(canon.canonical(jwk), name="the key"))


def run_key(key: PublicKey) -> PublicKey:
    """Return a key that may sign runs; raises `InputError` for one that calls itself another's, such as a log's."""
    if key.kind not in (None, "run"):
        raise InputError(f"{key.name} is the key of a {key.kind}, and runs are signed by run keys")
    return key


def _fingerprint(text: str) -> str:
    try:
        decode_x(text)
    except ValueError:
        raise InputError(f"{text[:80]!r} is no fingerprint: 43 characters of base64url") from None
    return text


def _vkey(kind: KeyKind) -> Callable[[str], NoteKey]:
    def read(text: str) -> NoteKey:
        key = parse_vkey(text)
        if key.kind != kind:
            raise InputError(f"{key.name!r} is the key of a {key.kind}, not of a {kind}")
        return key

    return read
