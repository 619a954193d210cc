"""What the person who verifies asks for beyond what the bytes themselves have to hold."""

from __future__ import annotations

import msgspec

from ragassay.manifest.sign import PublicKey


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """`key` pins the one signer who is accepted; None checks the signature and trusts nobody (SIGNER_UNPINNED)."""

    key: PublicKey | None = None
