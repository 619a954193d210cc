"""The signed list of a publisher's keys: its form, its strict reading, and what it says of a key at a time. Pure."""

from __future__ import annotations

import base64
from collections import Counter
from typing import Literal, TypeAlias

import msgspec

from ragassay import canon
from ragassay.errors import InputError, VerifyError
from ragassay.manifest import dsse
from ragassay.manifest.sign import PublicKey, Signer, check_signature, decode_x, encode_x, is_weak, thumbprint
from ragassay.records import Record, to_json

REGISTRY_TYPE = "application/vnd.ragassay.keys+json"
ROTATION_TYPE = "application/vnd.ragassay.root-rotation+json"
MAX_KEYS = 1000
MAX_ROTATIONS = 100
MAX_TEXT = 200
"""The most characters of a name or a reason."""

KeyStatus: TypeAlias = Literal["active", "deprecated", "revoked"]


class RootRef(Record, frozen=True):
    """A root key: its fingerprint (RFC 7638 thumbprint) and its 32 bytes as base64url."""

    kid: str
    x: str


class ValidFor(Record, frozen=True):
    """Unix seconds between which a key signs, both included; no end is None."""

    start: int
    end: int | None


class KeyRecord(Record, frozen=True):
    """One key: a JSON Web Key (RFC 8037) with what its owner says of it.

    `invalid_since` (Unix seconds) is there exactly if the key is revoked; a deprecated key has an end.
    """

    kid: str
    kty: Literal["OKP"]
    crv: Literal["Ed25519"]
    x: str
    name: str
    status: KeyStatus
    valid_for: ValidFor
    invalid_since: int | None
    reason: str | None = None


class Rotation(Record, frozen=True):
    """One root hands over to the next in the registry's version `version`.

    Both sign the pre-authentication encoding (type `ROTATION_TYPE`) of the canonical {version, from, to}; the
    signatures are standard base64.
    """

    version: int
    from_: RootRef = msgspec.field(name="from")
    to: RootRef
    from_sig: str
    to_sig: str


class Registry(Record, frozen=True):
    """All keys that a publisher ever used, under the root that signs this version; times in Unix seconds."""

    version: int
    issued: int
    expires: int
    root: RootRef
    keys: tuple[KeyRecord, ...]
    rotations: tuple[Rotation, ...]

    def key(self, kid: str) -> KeyRecord | None:
        """Return the record of the key with that fingerprint, or None."""
        return next((record for record in self.keys if record.kid == kid), None)

    def roots(self) -> tuple[str, ...]:
        """Return the fingerprints of all roots, the first one first and the current one last."""
        return (*(link.from_.kid for link in self.rotations), self.root.kid)


class SignedRegistry(msgspec.Struct, frozen=True, kw_only=True):
    """A registry with the signature over its bytes."""

    registry: Registry
    payload: bytes
    signature: bytes

    def vouched_by(self, root_fingerprint: str) -> bool:
        """Tell whether the root of that fingerprint, or one that it handed over to, signed exactly this registry."""
        message = dsse.pae(REGISTRY_TYPE, self.payload)
        return root_fingerprint in self.registry.roots() and check_signature(
            decode_x(self.registry.root.x), self.signature, message
        )


def root_ref(signer: Signer) -> RootRef:
    """Return what a registry says of a root."""
    return RootRef(kid=signer.kid, x=encode_x(signer.x))


def key_record(key: PublicKey, *, start: int, end: int | None = None) -> KeyRecord:
    """Return the record of an active key that signs from `start` on (Unix seconds)."""
    return KeyRecord(
        kid=key.kid,
        kty="OKP",
        crv="Ed25519",
        x=encode_x(key.x),
        name=key.name,
        status="active",
        valid_for=ValidFor(start=start, end=end),
        invalid_since=None,
    )


def rotation_message(version: int, from_: RootRef, to: RootRef) -> bytes:
    """Return the bytes that both roots of a handover sign."""
    value = {"version": version, "from": to_json(from_), "to": to_json(to)}
    return dsse.pae(ROTATION_TYPE, canon.canonical(value))


def rotate(version: int, old: Signer, new: Signer) -> Rotation:
    """Return the handover from one root to the next, signed by both."""
    from_, to = root_ref(old), root_ref(new)
    message = rotation_message(version, from_, to)
    return Rotation(
        version=version,
        from_=from_,
        to=to,
        from_sig=base64.b64encode(old.sign(message)).decode("ascii"),
        to_sig=base64.b64encode(new.sign(message)).decode("ascii"),
    )


def sign_registry(registry: Registry, root: Signer) -> bytes:
    """Return the signed envelope of a registry; raises `InputError` where no verifier would take it."""
    if root.kid != registry.root.kid:
        raise InputError(f"the root key {root.name} ({root.kid}) is not the registry's root {registry.root.kid}")
    payload = canon.canonical(to_json(registry))
    signature = root.sign(dsse.pae(REGISTRY_TYPE, payload))
    data = dsse.encode_envelope(payload_type=REGISTRY_TYPE, payload=payload, keyid=root.kid, signature=signature)
    try:
        decode_registry(data)
    except VerifyError as error:
        raise InputError(f"the registry cannot be signed: {error} ({error.code})") from error
    return data


def decode_registry(data: bytes) -> SignedRegistry:
    """Read a signed registry, as strictly as a run; whatever the bytes are, the only errors are `VerifyError`s.

    Raises ENVELOPE_MALFORMED, ENVELOPE_NOT_CANONICAL, TYPE_UNKNOWN, KEY_WEAK, and SIGNATURE_INVALID where it is not
    signed by the root that it names or a handover not by both roots. Whether that root is trusted is asked with
    `vouched_by`.
    """
    envelope = dsse.decode_envelope(data)
    payload = dsse.decode_base64(envelope.payload)
    signature = dsse.decode_base64(envelope.signatures[0].sig)
    if envelope.payload_type != REGISTRY_TYPE:
        raise VerifyError(
            f"the payload type is {envelope.payload_type[:200]!r}, not {REGISTRY_TYPE!r}", code="TYPE_UNKNOWN"
        )
    registry = _decode_payload(payload)
    if envelope.signatures[0].keyid != registry.root.kid:
        raise _malformed("the key id of its signature is not that of the root that it names")
    _check_times(registry)
    _check_root(registry.root, "its root")
    _check_keys(registry)
    _check_rotations(registry)
    signed = SignedRegistry(registry=registry, payload=payload, signature=signature)
    if not signed.vouched_by(registry.root.kid):
        raise VerifyError("the key registry is not signed by the root that it names", code="SIGNATURE_INVALID")
    return signed


def _malformed(problem: str) -> VerifyError:
    return VerifyError(f"the file is no key registry: {problem}", code="ENVELOPE_MALFORMED")


def _decode_payload(payload: bytes) -> Registry:
    try:
        value = canon.load_strict(payload, max_bytes=dsse.MAX_ENVELOPE_BYTES, max_depth=8)
        written = canon.canonical(value)
        registry = msgspec.convert(value, Registry)
    except (canon.NotCanonical, msgspec.ValidationError) as error:
        raise _malformed(str(error)) from error
    if written != payload:
        raise VerifyError(
            "the payload of the key registry is not in canonical form (RFC 8785)", code="ENVELOPE_NOT_CANONICAL"
        )
    return registry


def _check_times(registry: Registry) -> None:
    if registry.version < 1:
        raise _malformed(f"there is no version {registry.version}; the first is 1")
    if not 0 <= registry.issued < registry.expires:
        raise _malformed("it expires before it was issued, or was issued before 1970")


def _check_key_bytes(kid: str, x: str, what: str) -> bytes:
    try:
        key = decode_x(x)
    except ValueError as error:
        raise _malformed(f"{what}: {error}") from error
    if is_weak(key):
        raise VerifyError(f"the key registry holds a weak key: {what}", code="KEY_WEAK")
    if thumbprint(key) != kid:
        raise _malformed(f"{what} names the fingerprint of another key")
    return key


def _check_root(root: RootRef, what: str) -> bytes:
    return _check_key_bytes(root.kid, root.x, what)


def _check_keys(registry: Registry) -> None:
    if len(registry.keys) > MAX_KEYS:
        raise _malformed(f"it holds {len(registry.keys)} keys; {MAX_KEYS} are allowed")
    times, roots = Counter(record.kid for record in registry.keys), set(registry.roots())
    for at, record in enumerate(registry.keys, start=1):
        what = f"key {at}"
        _check_key_bytes(record.kid, record.x, what)
        if times[record.kid] > 1:
            raise _malformed(f"{what} stands twice")
        if record.kid in roots:
            raise _malformed(f"{what} is a root; a root signs nothing but the registry")
        if (problem := _record_problem(record)) is not None:
            raise _malformed(f"{what} {problem}")


def _record_problem(record: KeyRecord) -> str | None:
    start, end, since = record.valid_for.start, record.valid_for.end, record.invalid_since
    if len(record.name) > MAX_TEXT or len(record.reason or "") > MAX_TEXT:
        return f"has a name or reason of more than {MAX_TEXT} characters"
    if start < 0 or (end is not None and end < start):
        return "is valid to a time before it begins, or since before 1970"
    if (since is not None) != (record.status == "revoked"):
        return "must have `invalidSince` if it is revoked, and only then"
    if since is not None and since < 0:
        return "is invalid since a time before 1970"
    if record.status == "deprecated" and end is None:
        return "is deprecated and must have an end"
    return None


def _check_rotations(registry: Registry) -> None:
    links = registry.rotations
    if len(links) > MAX_ROTATIONS:
        raise _malformed(f"its root changed {len(links)} times; {MAX_ROTATIONS} are allowed")
    roots = registry.roots()
    if len(set(roots)) != len(roots):
        raise _malformed("a root that handed over came back")
    after = [*(link.from_ for link in links[1:]), registry.root]
    last = 0
    for at, (link, following) in enumerate(zip(links, after, strict=False), start=1):
        if link.to != following:
            raise _malformed(f"handover {at} does not lead to the root that follows")
        if not last < link.version <= registry.version:
            raise _malformed(f"handover {at} is of version {link.version}, out of order")
        last = link.version
        _check_link(link, at)


def _check_link(link: Rotation, at: int) -> None:
    message = rotation_message(link.version, link.from_, link.to)
    for root, signature, side in ((link.from_, link.from_sig, "old"), (link.to, link.to_sig, "new")):
        x = _check_root(root, f"the {side} root of handover {at}")
        if not check_signature(x, dsse.decode_base64(signature), message):
            raise VerifyError(f"handover {at} is not signed by the {side} root", code="SIGNATURE_INVALID")


def status_at(record: KeyRecord, witnessed_at: int | None) -> str | None:
    """Return the reason code against a key whose statement a witness saw at `witnessed_at` (Unix seconds), or None.

    The signer's own claims of time never count. Without a witnessed time an active key gives UNTIMED, a deprecated one
    KEY_EXPIRED, a revoked one KEY_REVOKED. With one, a revoked key is good before `invalid_since` only, and every key
    is good from the start of its time to the end, both seconds included.
    """
    try:
        if is_weak(decode_x(record.x)):
            return "KEY_WEAK"
    except ValueError:
        return "KEY_WEAK"
    if record.status == "revoked" and (witnessed_at is None or witnessed_at >= (record.invalid_since or 0)):
        return "KEY_REVOKED"
    if witnessed_at is None:
        return "UNTIMED" if record.status == "active" else "KEY_EXPIRED"
    end = record.valid_for.end
    if witnessed_at < record.valid_for.start or (end is not None and witnessed_at > end):
        return "KEY_EXPIRED"
    return None
