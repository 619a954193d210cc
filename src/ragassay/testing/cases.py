"""What a case of the tables is: a bundle, the policy it is read under, and what must come out; and registries for it.

Pure and repeatable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from ragassay.errors import VerifyError
from ragassay.manifest.files import REGISTRY
from ragassay.manifest.registry import (
    KeyRecord,
    KeyStatus,
    Registry,
    Rotation,
    ValidFor,
    root_ref,
    rotate,
    sign_registry,
)
from ragassay.manifest.sign import Signer, encode_x
from ragassay.manifest.tiles import read_log
from ragassay.testing.logged_run import (
    KEY_POLICY,
    NOW,
    OURS,
    PLAIN_KEY_POLICY,
    PLAIN_ROOT_POLICY,
    ROOT_POLICY,
    ROOT_SIGNER,
    TWO_KEYS_POLICY,
    Bundle,
    Story,
    tell,
)
from ragassay.testing.signed_run import STARTED, public_signer
from ragassay.verify import Policy, Report, Unpinned, load_policy, verify

PolicyKind: TypeAlias = Literal[
    "none", "key", "root", "key, log and witness", "root, log and witness", "two keys, log and witness"
]

POLICIES: dict[PolicyKind, bytes | None] = {
    "none": None,
    "key": PLAIN_KEY_POLICY,
    "root": PLAIN_ROOT_POLICY,
    "key, log and witness": KEY_POLICY,
    "root, log and witness": ROOT_POLICY,
    "two keys, log and witness": TWO_KEYS_POLICY,
}
"""The policy file of each kind; with none the signer is not pinned."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One bundle with the policy it is read under, and what must come out.

    `codes` are among the findings of an attack, and all findings of an honest bundle. `ok` and `strict` say whether it
    is accepted.
    """

    build: Callable[[], Bundle]
    policy: PolicyKind
    codes: frozenset[str]
    ok: bool
    strict: bool


def report_on(case: Case) -> Report:
    """Return what our verifier says of a case; a log that cannot be read is a problem of the bundle."""
    bundle = case.build()
    data = POLICIES[case.policy]
    log, problems = None, []
    try:
        log = read_log(bundle.log) if bundle.log is not None else None
    except VerifyError as error:
        problems.append(error)
    policy: Policy = load_policy(data) if data is not None else Unpinned()
    return verify(bundle.files, policy=policy, now=bundle.now, log=log, registry=bundle.registry, problems=problems)


def key_record(
    signer: Signer = OURS,
    *,
    status: KeyStatus = "active",
    start: int = STARTED - 10_000,
    end: int | None = None,
    invalid_since: int | None = None,
) -> KeyRecord:
    """Return what a registry says of a key; an active one without end unless told otherwise."""
    return KeyRecord(
        kid=signer.kid,
        kty="OKP",
        crv="Ed25519",
        x=encode_x(signer.x),
        name=signer.name,
        status=status,
        valid_for=ValidFor(start=start, end=end),
        invalid_since=invalid_since,
    )


def registry_of(
    *keys: KeyRecord,
    root: Signer = ROOT_SIGNER,
    version: int = 1,
    expires: int = NOW + 10_000_000,
    rotations: tuple[Rotation, ...] = (),
) -> bytes:
    """Return a signed registry."""
    registry = Registry(
        version=version, issued=STARTED - 10_000, expires=expires, root=root_ref(root), keys=keys, rotations=rotations
    )
    return sign_registry(registry, root)


def rotated_registry(*keys: KeyRecord) -> bytes:
    """Return version 2 of a registry, whose root handed over to another."""
    new = public_signer("root-2")
    return registry_of(*keys, root=new, version=2, rotations=(rotate(2, ROOT_SIGNER, new),))


def with_registry(story: Story, registry: bytes, *, beside: bool = True) -> Callable[[], Bundle]:
    """Return what builds a story's bundle with a registry in it, or else given apart."""

    def build() -> Bundle:
        bundle = tell(story)
        if beside:
            return msgspec.structs.replace(bundle, files={**bundle.files, REGISTRY: registry})
        return msgspec.structs.replace(bundle, registry=registry)

    return build


def told(story: Story, *, with_log: bool = False) -> Callable[[], Bundle]:
    """Return what builds the bundle of a story."""
    return lambda: tell(story, with_log=with_log)
