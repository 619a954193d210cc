"""Honest bundles, each accepted with exactly the warnings named: what a verifier must not refuse. Pure.

Together with `attacks` they are a table from which a conformance pack is written: every entry gives bytes, the reader's
policy and clock, and what must come out.
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
    OTHER,
    OURS,
    PLAIN_KEY_POLICY,
    PLAIN_ROOT_POLICY,
    ROOT_POLICY,
    ROOT_SIGNER,
    SEEN_AT,
    Bundle,
    Story,
    planned_id,
    tell,
    void_pass,
    void_run,
)
from ragassay.testing.republished_run import republished_files
from ragassay.testing.signed_run import STARTED, OpenedRun, public_signer, signed_run
from ragassay.verify import Policy, Report, Unpinned, load_policy, verify

PolicyKind: TypeAlias = Literal["none", "key", "root", "key, log and witness", "root, log and witness"]

POLICIES: dict[PolicyKind, bytes | None] = {
    "none": None,
    "key": PLAIN_KEY_POLICY,
    "root": PLAIN_ROOT_POLICY,
    "key, log and witness": KEY_POLICY,
    "root, log and witness": ROOT_POLICY,
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


def _fill(run: OpenedRun) -> None:
    run.outputs[0]["fill"] = {"run": planned_id(2), "pass": 2}
    run.predicate["counts"]["filled"] = 1


def _withhold(run: OpenedRun) -> None:
    run.outputs[0]["chunks"][0]["text"] = None


def told(story: Story, *, with_log: bool = False) -> Callable[[], Bundle]:
    """Return what builds the bundle of a story."""
    return lambda: tell(story, with_log=with_log)


def _of_profile_1() -> Bundle:
    return tell(Story(others=()), signed_run(run_id=planned_id(1), profile="factual-consistency/1"))


def _one_missing() -> Bundle:
    return tell(Story(), signed_run(run_id=planned_id(1), items=60, failed=[7]))


def _two_missing() -> Bundle:
    return tell(Story(), signed_run(run_id=planned_id(1), items=60, failed=[7, 9]))


def _unlogged() -> Bundle:
    return Bundle(files=signed_run())


def _republished() -> Bundle:
    return Bundle(files=republished_files())


def _case(build: Callable[[], Bundle], policy: PolicyKind, *codes: str) -> Case:
    return Case(build=build, policy=policy, codes=frozenset(codes), ok=True, strict=set(codes) <= {"TEXT_WITHHELD"})


_LOGGED: PolicyKind = "key, log and witness"
_ROOT: PolicyKind = "root, log and witness"
_DEPRECATED = key_record(status="deprecated", end=SEEN_AT + 100)
_REVOKED = key_record(status="revoked", invalid_since=SEEN_AT + 1)

HONEST: dict[str, Case] = {
    "announced, logged, witnessed": _case(told(Story()), _LOGGED),
    "the same with its whole log": _case(told(Story(), with_log=True), _LOGGED),
    "a pass given up, in its whole log": _case(told(Story(others=(2,), after=void_pass(3)), with_log=True), _LOGGED),
    "profile 1": _case(_of_profile_1, _LOGGED),
    "key of a registry beside the run": _case(with_registry(Story(), registry_of(key_record())), _ROOT),
    "key of a registry given apart": _case(with_registry(Story(), registry_of(key_record()), beside=False), _ROOT),
    "key of a registry whose root was replaced": _case(with_registry(Story(), rotated_registry(key_record())), _ROOT),
    "key deprecated, seen while it was valid": _case(with_registry(Story(), registry_of(_DEPRECATED)), _ROOT),
    "key revoked after the run was seen": _case(with_registry(Story(), registry_of(_REVOKED)), _ROOT),
    "announced by another key of the registry": _case(
        with_registry(Story(announcer=OTHER), registry_of(key_record(), key_record(OTHER))), _ROOT,
    ),
    "a text withheld": _case(told(Story(change=_withhold)), _LOGGED, "TEXT_WITHHELD"),
    "rows filled in": _case(told(Story(change=_fill)), _LOGGED, "FILLED"),
    "one retrieval of sixty failed": _case(_one_missing, _LOGGED, "RETRIEVAL_FAILED"),
    "two of sixty failed": _case(_two_missing, _LOGGED, "RETRIEVAL_FAILED", "MISSING_ITEMS"),
    "taken back by somebody else": _case(told(Story(after=void_run(OTHER)), with_log=True), _LOGGED),
    "logged, and only the key is pinned": _case(told(Story()), "key", "UNWITNESSED", "UNTIMED"),
    "logged, and nothing is pinned": _case(told(Story()), "none", "SIGNER_UNPINNED", "UNWITNESSED", "UNTIMED"),
    "key of a registry, and no log is pinned": _case(
        with_registry(Story(), registry_of(key_record())), "root", "UNWITNESSED", "UNTIMED",
    ),
    "registry past its expiry": _case(
        with_registry(Story(), registry_of(key_record(), expires=NOW - 1)), _ROOT, "REGISTRY_EXPIRED",
    ),
    "not announced": _case(_unlogged, "key", "NO_INTENT", "UNWITNESSED", "UNTIMED"),
    "republished": _case(_republished, "key", "REPUBLISHED", "NO_INTENT", "UNWITNESSED", "UNTIMED"),
}  # fmt: skip
"""Each honest bundle by its name, with all reason codes that it has."""
