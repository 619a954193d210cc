"""Twenty thousand mutations of an honest bundle, of bytes, JSON members and files: none is accepted, none crashes."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from ragassay import canon
from ragassay.manifest.files import REGISTRY
from ragassay.testing.bundles import key_record, registry_of
from ragassay.testing.logged_run import NOW, ROOT_POLICY, Story, tell
from ragassay.verify import CODES, Unpinned, load_policy, verify

FILES = {**tell(Story()).files, REGISTRY: registry_of(key_record())}
POLICY = load_policy(ROOT_POLICY)
VALUES: list[Any] = [None, True, 0, -1, 2**53 - 1, "", "x", "0" * 64, [], {}, [1], {"a": 1}, NOW]
Files = dict[str, bytes]


def flip(files: Files, name: str, chance: random.Random) -> None:
    """Flip one bit of a file."""
    data = bytearray(files[name])
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    files[name] = bytes(data)


def splice(files: Files, name: str, chance: random.Random) -> None:
    """Put a few other bytes in the place of up to fifty."""
    data = files[name]
    at = chance.randrange(len(data))
    files[name] = data[:at] + chance.randbytes(chance.randrange(5)) + data[at + chance.randrange(50) :]


def shuffle(files: Files, name: str, chance: random.Random) -> None:
    """Change the order of a file's lines."""
    lines = files[name].splitlines(keepends=True)
    chance.shuffle(lines)
    files[name] = b"".join(lines)


def swap(files: Files, name: str, chance: random.Random) -> None:
    """Put one file in the place of another."""
    files[name] = files[chance.choice(sorted(files))]


def drop(files: Files, name: str, chance: random.Random) -> None:
    """Take a file out."""
    del files[name]


def member(files: Files, name: str, chance: random.Random) -> None:
    """Change or take out one member of the JSON of a file, or of what is signed in it, and write it canonically."""
    if not name.endswith(".json"):
        return flip(files, name, chance)
    outer = json.loads(files[name])
    signed = "payload" in outer and chance.random() < 0.8
    value = json.loads(base64.b64decode(outer["payload"])) if signed else outer
    path = chance.choice(_paths(value))
    at = value
    for key in path[:-1]:
        at = at[key]
    if chance.random() < 0.3:
        at.pop(path[-1])
    else:
        at[path[-1]] = chance.choice(VALUES)
    if signed:
        outer["payload"] = base64.b64encode(canon.canonical(value)).decode()
    files[name] = canon.canonical(outer)
    return None


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in members:
        found.extend(_paths(inner, (*path, key)))
    return found


MUTATIONS: list[Callable[[Files, str, random.Random], None]] = [flip, splice, shuffle, swap, drop, member]


def mutate(seed: int) -> Files:
    """Return the bundle after one mutation; the same seed gives the same."""
    chance = random.Random(seed)
    files = dict(FILES)
    chance.choice(MUTATIONS)(files, chance.choice(sorted(files)), chance)
    return files


def _check(seeds: range) -> int:
    """Return how many of these seeds changed anything, after checking that none was accepted."""
    changed = 0
    for seed in seeds:
        files = mutate(seed)
        if files == FILES:
            continue
        changed += 1
        report = verify(files, policy=POLICY, now=NOW)
        assert not report.ok(strict=True), seed
        assert report.codes <= set(CODES), seed
        assert verify(files, policy=Unpinned(), now=NOW).codes <= set(CODES), seed
    return changed


def test_the_bundle_itself_is_accepted() -> None:
    """The untouched bundle is accepted strictly, so that the mutations mean something."""
    assert verify(FILES, policy=POLICY, now=NOW).ok(strict=True)


def test_a_thousand_mutations() -> None:
    """A sample for every run of the tests."""
    assert _check(range(1000)) > 750


@pytest.mark.slow
def test_twenty_thousand_mutations() -> None:
    """All of them."""
    assert _check(range(1000, 26_500)) > 20_000
