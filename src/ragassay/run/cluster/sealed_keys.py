"""Keys on their way to a worker: sealed for it alone, so that no store, log or dashboard of a cluster holds them.

X25519 between a key pair of the worker's process and one that is made for this message, HKDF-SHA256, ChaCha20-Poly1305.
Ray's own connections are not encrypted; whoever listens to them reads no key. Whoever may start code on the cluster
can still take a worker's place: a cluster is as trusted as those who may use it.
"""

from __future__ import annotations

import json

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ragassay.errors import PluginError
from ragassay.records import Secret
from ragassay.run.build import Keys

_PUBLIC_BYTES = 32
_NONCE = bytes(12)
"""Each message has a key of its own, so that the nonce may be the same."""


class Unsealer:
    """A worker's key pair: `public` is told to everybody, and what was sealed for it is opened here alone."""

    def __init__(self) -> None:
        self._private = X25519PrivateKey.generate()
        self.public = self._private.public_key().public_bytes_raw()

    def opened(self, sealed: bytes) -> Keys:
        """Return the keys by the name of their variable; raises `PluginError` for what was not sealed for it."""
        sender = sealed[:_PUBLIC_BYTES]
        try:
            shared = self._private.exchange(X25519PublicKey.from_public_bytes(sender))
            plain = _cipher(shared, sender, self.public).decrypt(_NONCE, sealed[_PUBLIC_BYTES:], None)
        except (InvalidTag, ValueError) as error:
            raise PluginError("the keys for a worker were sealed for another; run again") from error
        return {name: Secret(text) for name, text in json.loads(plain).items()}


def sealed_for(public: bytes, keys: Keys) -> bytes:
    """Return the keys so that only the worker with that public key can read them."""
    sender = X25519PrivateKey.generate()
    own = sender.public_key().public_bytes_raw()
    shared = sender.exchange(X25519PublicKey.from_public_bytes(public))
    plain = json.dumps({name: key.reveal() for name, key in keys.items()}).encode()
    return own + _cipher(shared, own, public).encrypt(_NONCE, plain, None)


def _cipher(shared: bytes, sender: bytes, receiver: bytes) -> ChaCha20Poly1305:
    about = b"ragassay/cluster-keys/1" + sender + receiver
    return ChaCha20Poly1305(HKDF(algorithm=SHA256(), length=32, salt=None, info=about).derive(shared))
