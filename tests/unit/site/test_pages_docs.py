"""The reference pages of board and site: every member and every kind of page stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pages_factory as rich
import pytest

from ragassay.records import Record
from ragassay.site.judgerecord import Judging
from ragassay.site.record import SCHEMA, Board

DOCS = Path(__file__).resolve().parents[3] / "docs"
SHARED = {"num", "den", "decimal", "low", "high"}
"""Members of exact numbers and intervals, which stand wherever a number does."""


def members(kind: type[Record], seen: set[type[Record]]) -> Iterator[tuple[str, str]]:
    """Yield the record and the name of each member that a board can hold, as it is written in JSON."""
    if kind in seen:
        return
    seen.add(kind)
    for field in msgspec.structs.fields(kind):
        yield kind.__name__, field.encode_name
        for part in _records(field.type):
            yield from members(part, seen)


def _records(found: Any) -> Iterator[type[Record]]:
    if isinstance(found, type) and issubclass(found, Record):
        yield found
    for part in get_args(found):
        yield from _records(part)


def test_every_member_of_board_json_is_described() -> None:
    """Each name of the record tree stands in code on the page, and so does the schema."""
    text = (DOCS / "reference" / "records" / "board.md").read_text(encoding="utf-8")
    described = set(re.findall(r"`([A-Za-z0-9_]+)`", text))
    absent = sorted({f"{kind}.{name}" for kind, name in members(Board, set()) if name not in described | SHARED})
    assert absent == []
    assert f"`{SCHEMA}`" in text
    assert Judging in set(_records(next(f.type for f in _fields() if f.name == "judging")))


def _fields() -> list[Any]:
    table = next(part for part in _records(next(f.type for f in msgspec.structs.fields(Board) if f.name == "tables")))
    return list(msgspec.structs.fields(table))


def test_every_kind_of_file_of_a_site_is_described(tmp_path: Path) -> None:
    """The address of each file of a public site fits one of those that the page lists."""
    text = (DOCS / "reference" / "site.md").read_text(encoding="utf-8")
    addresses = [part.strip(" `") for line in text.splitlines() if line.startswith("| `") for part in _first(line)]
    patterns = [re.compile(_pattern(address)) for address in addresses]
    runs = rich.rich(tmp_path)
    files = rich.public_site(runs)
    assert [path for path in files if not any(pattern.fullmatch(path) for pattern in patterns)] == []
    unused = [pattern.pattern for pattern in patterns if not any(pattern.fullmatch(path) for path in files)]
    assert unused == [_pattern("log/…")]


def _first(line: str) -> list[str]:
    return line.split("|")[1].split(", ")


def _pattern(address: str) -> str:
    plain = re.escape(address).replace("…", ".+")
    return r"(tables/[^/]+/)?" + re.sub(r"<[a-z]+>", "[^/]+", plain)


@pytest.mark.parametrize("name", ["reference/site.md", "reference/records/board.md", "explain/reading-a-board.md"])
def test_the_pages_are_linked_from_the_index(name: str) -> None:
    """Whoever opens the documentation finds them."""
    assert f"({name})" in (DOCS / "index.md").read_text(encoding="utf-8")
