"""Ed25519 keys and signatures: pure Ed25519, RFC 7638 thumbprints, and the refusal of weak keys. No I/O."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, NoReturn, TypeAlias, get_args

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest.statement import SignerRef
from ragassay.records import Secret

KeyKind: TypeAlias = Literal["run", "log", "root", "witness"]
"""What a key is for: it signs runs, a log's checkpoints, a key registry, or what it saw of another's log."""

KINDS: tuple[KeyKind, ...] = get_args(KeyKind)

Unlock: TypeAlias = Callable[[str], Secret | None]
"""Gives the passphrase of the key of that name, or None; called for an encrypted key only."""

MAX_PASSPHRASE_BYTES = 1000

FIELD_PRIME = 2**255 - 19

_SMALL_ORDER_Y = (
    0,
    1,
    FIELD_PRIME - 1,
    FIELD_PRIME,
    FIELD_PRIME + 1,
    int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"),
    int.from_bytes(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little"),
)
WEAK_KEYS: frozenset[bytes] = frozenset(
    (y | sign << 255).to_bytes(32, "little") for y in _SMALL_ORDER_Y for sign in (0, 1)
)
"""The 14 encodings of points of small order: under them one fixed forgery verifies for any message."""


def is_weak(x: bytes) -> bool:
    """Tell whether a 32-byte public key is of small order or not the canonical encoding of its point."""
    y = int.from_bytes(x, "little") & ((1 << 255) - 1)
    return x in WEAK_KEYS or y >= FIELD_PRIME


def encode_x(x: bytes) -> str:
    """Return a public key as unpadded base64url, as JSON Web Keys carry it."""
    return base64.urlsafe_b64encode(x).rstrip(b"=").decode("ascii")


def decode_x(text: str) -> bytes:
    """Read 32 bytes of unpadded base64url that re-encode to the same characters; raises `ValueError`."""
    x = base64.b64decode(text.encode("ascii") + b"=", altchars=b"-_", validate=True)
    if len(x) != 32 or encode_x(x) != text:
        raise ValueError("a public key is 32 bytes as 43 characters of base64url")
    return x


def thumbprint(x: bytes) -> str:
    """Return the fingerprint of a public key: its RFC 7638 thumbprint (SHA-256, unpadded base64url)."""
    members = {"crv": "Ed25519", "kty": "OKP", "x": encode_x(x)}
    return encode_x(hashlib.sha256(canon.canonical(members)).digest())


class WrongPassphrase(InputError):
    """A private key does not open with the passphrase that was given."""


class PublicKey(msgspec.Struct, frozen=True, kw_only=True):
    """A public key that is not weak, with the name and, where known, the kind that its file gives it."""

    x: bytes
    name: str
    kind: KeyKind | None = None

    @property
    def kid(self) -> str:
        """The key's fingerprint."""
        return thumbprint(self.x)

    def jwk(self) -> bytes:
        """Return the public key file: a JSON Web Key with `kid`, `name` and `kind` where known, one canonical line."""
        members = {"crv": "Ed25519", "kid": self.kid, "kty": "OKP", "name": self.name, "x": encode_x(self.x)}
        if self.kind is not None:
            members["kind"] = self.kind
        return canon.canonical(members) + b"\n"


@lru_cache(maxsize=4096)
def check_signature(x: bytes, signature: bytes, message: bytes) -> bool:
    """Tell whether `signature` over `message` is by `x`; False for every malformed input, never an exception."""
    try:
        Ed25519PublicKey.from_public_bytes(x).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def parse_public_key(data: bytes, *, name: str) -> PublicKey:
    """Read a public key from a JSON Web Key or a PEM file; raises `InputError` (private, other kind, weak)."""
    if b"PRIVATE KEY" in data:
        raise InputError(f"{name} is a private key; give its public key file (`ragassay keys list` names it)")
    try:
        if data.lstrip().startswith(b"-----"):
            loaded = serialization.load_pem_public_key(data)
            if not isinstance(loaded, Ed25519PublicKey):
                raise InputError(f"{name} is a public key of another kind; runs are signed with Ed25519")
            key = PublicKey(x=loaded.public_bytes_raw(), name=name)
        else:
            key = _from_jwk(data, name)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InputError(f"{name} is neither a JSON Web Key nor a PEM public key: {error}") from error
    if is_weak(key.x):
        raise InputError(f"{name} is a weak key (KEY_WEAK): anyone can sign under it; ask its owner for a real one")
    return key


def _from_jwk(data: bytes, name: str) -> PublicKey:
    value = canon.load_strict(data, max_bytes=16_384, max_depth=4)
    if not isinstance(value, dict) or value.get("kty") != "OKP" or value.get("crv") != "Ed25519":
        raise ValueError('a JSON Web Key for Ed25519 has "kty":"OKP" and "crv":"Ed25519"')
    if "d" in value:
        raise InputError(f"{name} holds a private key (member `d`); give a public key file")
    text, given = value.get("x"), value.get("kid")
    if not isinstance(text, str):
        raise ValueError("the member `x` is missing")  # noqa: TRY004 (the caller wraps value errors)
    x = decode_x(text)
    if given is not None and given != thumbprint(x):
        raise InputError(f"{name} names the fingerprint {given!r}, but its key has {thumbprint(x)!r}")
    own = value.get("name")
    kind = next((kind for kind in KINDS if kind == value.get("kind")), None)
    return PublicKey(x=x, name=own if isinstance(own, str) else name, kind=kind)


def is_encrypted(pem: bytes) -> bool:
    """Tell whether a PEM file holds a private key that needs a passphrase."""
    return any(line.startswith((b"-----BEGIN ENCRYPTED", b"Proc-Type: 4,ENCRYPTED")) for line in pem.splitlines())


def passphrase_bytes(passphrase: Secret) -> bytes:
    """Return the bytes of a passphrase; raises `InputError` for an empty or oversized one."""
    data = passphrase.reveal().encode("utf-8", "surrogateescape")
    if not data:
        raise InputError("the passphrase is empty; take one that nobody guesses, of six random words or more")
    if len(data) > MAX_PASSPHRASE_BYTES:
        raise InputError(f"the passphrase has more than {MAX_PASSPHRASE_BYTES} bytes; take a shorter one")
    return data


class Signer:
    """A private key that signs; it never prints itself and cannot be pickled."""

    __slots__ = ("_key", "name", "x")

    def __init__(self, key: Ed25519PrivateKey, name: str) -> None:
        self._key = key
        self.name = name
        self.x = key.public_key().public_bytes_raw()
        if is_weak(self.x):
            raise InputError("this private key has a weak public key (KEY_WEAK); make another")

    @classmethod
    def generate(cls, name: str) -> Signer:
        """Return a new key from the system's randomness, whose fingerprint no command line takes for an option."""
        while True:
            signer = cls(Ed25519PrivateKey.generate(), name)
            if not signer.kid.startswith("-"):
                return signer

    @classmethod
    def from_seed(cls, seed: bytes, name: str) -> Signer:
        """Return the key of a 32-byte seed; the same seed gives the same key and the same signatures."""
        return cls(Ed25519PrivateKey.from_private_bytes(seed), name)

    @classmethod
    def from_pem(cls, data: bytes, name: str, unlock: Unlock | None = None) -> Signer:
        """Read a PKCS #8 PEM file, encrypted or not; raises `InputError` without quoting any of it.

        `unlock` is asked for the passphrase where the key is encrypted; a wrong one raises `WrongPassphrase`.
        """
        password: bytes | None = None
        if is_encrypted(data):
            passphrase = unlock(name) if unlock else None
            if passphrase is None:
                raise InputError(f"the key {name} is encrypted and no passphrase was given")
            password = passphrase_bytes(passphrase)
        try:
            key = serialization.load_pem_private_key(data, password)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            if password is not None:
                raise WrongPassphrase(
                    f"the key {name} does not open: the passphrase is wrong, or the file is damaged; it was not changed"
                ) from None
            raise InputError(f"the key {name} is no PEM private key; restore it or make another") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise InputError(f"the key {name} is of another kind; runs are signed with Ed25519")
        return cls(key, name)

    @property
    def kid(self) -> str:
        """The key's fingerprint."""
        return thumbprint(self.x)

    @property
    def public(self) -> PublicKey:
        """The public half."""
        return PublicKey(x=self.x, name=self.name)

    def ref(self, registry_version: int | None = None) -> SignerRef:
        """Return what a manifest says of its signer; the version is that of the key registry it was signed under."""
        return SignerRef(kid=self.kid, x=encode_x(self.x), name=self.name, registry_version=registry_version)

    def sign(self, message: bytes) -> bytes:
        """Return the 64-byte pure Ed25519 signature over `message`."""
        return self._key.sign(message)

    def to_pem(self, passphrase: Secret) -> bytes:
        """Return the PKCS #8 PEM bytes encrypted under `passphrase`; raises `InputError` for an empty one."""
        return self._key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(passphrase_bytes(passphrase)),
        )

    def __repr__(self) -> str:
        return f"Signer(kid={self.kid!r}, name={self.name!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a signing key is written to its key file and nowhere else")
