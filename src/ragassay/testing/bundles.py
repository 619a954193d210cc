"""Honest bundles, each accepted with exactly the warnings named: what a verifier must not refuse. Pure.

Together with `attacks` they are a table from which a conformance pack is written: every entry gives bytes, the reader's
policy and clock, and what must come out.
"""

from __future__ import annotations

from collections.abc import Callable

from ragassay.testing.cases import (
    POLICIES,
    Case,
    PolicyKind,
    key_record,
    registry_of,
    report_on,
    rotated_registry,
    told,
    with_registry,
)
from ragassay.testing.logged_run import NOW, OTHER, SEEN_AT, Bundle, Story, planned_id, tell, void_pass, void_run
from ragassay.testing.redactions import HONEST_REDACTIONS
from ragassay.testing.republished_run import republished_files
from ragassay.testing.signed_run import OpenedRun, signed_run

__all__ = [
    "HONEST",
    "POLICIES",
    "Case",
    "PolicyKind",
    "key_record",
    "registry_of",
    "report_on",
    "rotated_registry",
    "told",
    "with_registry",
]


def _fill(run: OpenedRun) -> None:
    run.outputs[0]["fill"] = {"run": planned_id(2), "pass": 2}
    run.predicate["counts"]["filled"] = 1


def _withhold(run: OpenedRun) -> None:
    run.outputs[0]["chunks"][0]["text"] = None


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
    **HONEST_REDACTIONS,
}  # fmt: skip
"""Each honest bundle by its name, with all reason codes that it has."""
