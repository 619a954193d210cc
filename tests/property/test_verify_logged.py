"""Whatever is done to the bytes of an announced, logged and witnessed run, strict does not accept it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay import canon
from ragassay.errors import InputError, VerifyError
from ragassay.manifest.files import INTENT, INTENT_PROOF, REGISTRY, RUN_PROOF
from ragassay.manifest.tiles import read_log
from ragassay.testing.bundles import key_record, registry_of
from ragassay.testing.logged_run import KEY_POLICY, NOW, ROOT_POLICY, MemoryLog, Story, tell
from ragassay.verify import CODES, Report, Unpinned, load_policy, verify

BUNDLE = tell(Story(), with_log=True)
FILES = {**BUNDLE.files, REGISTRY: registry_of(key_record())}
LOG = BUNDLE.log or {}
KEY, ROOT = load_policy(KEY_POLICY), load_policy(ROOT_POLICY)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


def mutated(data: bytes, at: int, how: int) -> bytes:
    """Return `data` with one byte changed, taken out, doubled, or everything after it cut off."""
    at %= len(data)
    if how < 256:
        return data[:at] + bytes([data[at] ^ (how or 1)]) + data[at + 1 :]
    return (data[:at] + data[at + 1 :], data[: at + 1] + data[at:], data[:at])[how % 3]


def reports(files: dict[str, bytes]) -> list[Report]:
    """Return what each kind of trust says of some files; every code is in the table."""
    found = [verify(files, policy=policy, now=NOW) for policy in (ROOT, KEY, Unpinned())]
    assert all(report.codes <= set(CODES) for report in found)
    return found


def test_the_bundle_itself_is_accepted() -> None:
    """The untouched bundle is accepted strictly, so that what follows means something."""
    assert [report.ok(strict=True) for report in reports(FILES)] == [True, True, False]
    assert verify(FILES, policy=ROOT, now=NOW, log=read_log(LOG)).ok(strict=True)


@pytest.mark.parametrize("name", [INTENT, INTENT_PROOF, RUN_PROOF, REGISTRY])
def test_no_byte_beside_the_run_can_change(name: str) -> None:
    """Any byte of announcement, proof or registry, changed, leaves no bundle that a pinned root accepts strictly."""
    data = FILES[name]
    for at in range(len(data)):
        files = {**FILES, name: mutated(data, at, 1 << at % 8)}
        assert not verify(files, policy=ROOT, now=NOW).ok(strict=True)


@given(st.sampled_from(sorted(FILES)), st.integers(0, 2**31), st.integers(0, 400))
def test_mutations_are_refused(name: str, at: int, how: int) -> None:
    """A mutation of any file is refused by a pinned root; nobody crashes on it."""
    data = mutated(FILES[name], at, how)
    if data != FILES[name]:
        assert not reports({**FILES, name: data})[0].ok(strict=True)


@given(st.sampled_from(sorted(FILES)), st.binary(max_size=80))
def test_any_bytes_in_place_of_a_file(name: str, data: bytes) -> None:
    """Arbitrary bytes in the place of any file are refused."""
    assert not any(report.ok(strict=True) for report in reports({**FILES, name: data}))


@given(st.sampled_from(sorted(LOG)), st.integers(0, 2**31), st.integers(0, 400))
def test_mutations_of_the_log_are_refused(name: str, at: int, how: int) -> None:
    """A mutated log is not read, or is not the one that was witnessed."""
    data = mutated(LOG[name], at, how)
    try:
        log = read_log({**LOG, name: data})
    except VerifyError:
        return
    report = verify(FILES, policy=KEY, now=NOW, log=log)
    assert report.codes <= set(CODES)
    if log.entries != read_log(LOG).entries:
        assert not report.ok()


@given(st.lists(st.binary(max_size=40), max_size=4))
def test_any_entries_in_a_log(entries: list[bytes]) -> None:
    """Entries that are nothing known, behind those of the run, change nothing of what is said of it."""
    log = MemoryLog(entries=[*read_log(LOG).entries, *entries])
    assert verify(FILES, policy=KEY, now=NOW, log=read_log(log.files())).ok(strict=True)


@settings(max_examples=300)
@given(JSON | st.binary(max_size=60))
def test_any_policy_file(value: Any) -> None:
    """Arbitrary JSON or bytes are no policy, told by one kind of error."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    with pytest.raises(InputError):
        load_policy(data)


@given(st.sampled_from(["keys", "roots", "minRegistryVersion", "log", "witnesses"]), JSON)
def test_any_member_of_a_policy(name: str, value: Any) -> None:
    """Any value of any member is read as a policy or refused by one kind of error."""
    policy = {**json.loads(ROOT_POLICY), name: value}
    try:
        loaded = load_policy(canon.canonical(policy))
    except InputError:
        return
    assert verify(FILES, policy=loaded, now=NOW).codes <= set(CODES)
