"""A thousand mutations of a run with texts withheld, of bytes, members and files: none is accepted, none crashes."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest

from ragassay import canon
from ragassay.testing.logged_run import KEY_POLICY, NOW
from ragassay.testing.redacted_run import Redacting, redact
from ragassay.verify import CODES, Unpinned, load_policy, verify

FILES = redact(Redacting()).files
POLICY = load_policy(KEY_POLICY)
VALUES: list[Any] = [None, True, 0, -1, 2**53 - 1, "", "x", "[withheld]", "[redacted]", "0" * 64, [], {}, [1], NOW]
Files = dict[str, bytes]


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every member below a JSON value."""
    found = [path] if path else []
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in members:
        found.extend(paths_of(inner, (*path, key)))
    return found


def change_member(value: Any, chance: random.Random) -> None:
    """Change one member of a JSON value, or take it out."""
    path = chance.choice(paths_of(value))
    at = value
    for key in path[:-1]:
        at = at[key]
    if chance.random() < 0.3:
        at.pop(path[-1])
    else:
        at[path[-1]] = chance.choice(VALUES)


def mutate(seed: int) -> Files:
    """Return the files after one mutation; the same seed gives the same."""
    chance = random.Random(seed)
    files = dict(FILES)
    name = chance.choice(sorted(files))
    data, how = files[name], chance.randrange(6)
    if how == 0:
        flipped = bytearray(data)
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
        files[name] = bytes(flipped)
    elif how == 1:
        at = chance.randrange(len(data))
        files[name] = data[:at] + chance.randbytes(chance.randrange(5)) + data[at + chance.randrange(50) :]
    elif how == 2:
        lines = data.splitlines(keepends=True)
        chance.shuffle(lines)
        files[name] = b"".join(lines)
    elif how == 3:
        files[name] = files[chance.choice(sorted(files))]
    elif how == 4:
        del files[name]
    elif name.endswith(".jsonl"):
        rows = [json.loads(line) for line in data.splitlines()]
        change_member(rows, chance)
        files[name] = b"".join(canon.canonical(row) + b"\n" for row in rows)
    elif name.endswith(".json"):
        outer = json.loads(data)
        if "payload" in outer:
            inner = json.loads(base64.b64decode(outer["payload"]))
            change_member(inner, chance)
            outer["payload"] = base64.b64encode(canon.canonical(inner)).decode()
        else:
            change_member(outer, chance)
        files[name] = canon.canonical(outer)
    return files


def check(seeds: range) -> int:
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


def test_the_untouched_copy_is_accepted() -> None:
    """It is accepted strictly, so that the mutations mean something."""
    assert verify(FILES, policy=POLICY, now=NOW).ok(strict=True)


def test_a_thousand_mutations() -> None:
    """A sample for every run of the tests."""
    assert check(range(1000)) > 750


@pytest.mark.slow
def test_ten_thousand_mutations() -> None:
    """Ten times as many."""
    assert check(range(1000, 11_000)) > 7500
