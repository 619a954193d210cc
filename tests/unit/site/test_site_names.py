"""File names for ids that may hold anything."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ragassay.site.names import file_names
from ragassay.site.segments import Segment, cut


@given(st.lists(st.text(max_size=80), max_size=20))
def test_names_are_safe_and_distinct(ids: list[str]) -> None:
    """Whatever the ids, names hold only [a-z0-9._-], are never hidden, and differ even where case is ignored."""
    names = file_names(ids)
    assert set(names) == set(ids)
    assert len({name.lower() for name in names.values()}) == len(set(ids))
    assert all(re.fullmatch(r"[a-z0-9_][a-z0-9._-]*", name) and len(name) < 80 for name in names.values())


def test_plain_ids_keep_their_names() -> None:
    """An id that is a file name already stays as it is."""
    assert file_names(["q-014", "q-015"]) == {"q-014": "q-014", "q-015": "q-015"}


def test_clashing_ids_are_told_apart() -> None:
    """Two ids that differ in case alone, or in what a file name cannot hold, get different names."""
    names = file_names(["Q-1", "q-1", "a/b", "a b", "../../etc", "con", "", "."])
    assert len(set(names.values())) == 8
    assert all("/" not in name and not name.startswith(".") for name in names.values())


spans = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=6)


@given(st.text(min_size=40, max_size=60), spans)
def test_marking_changes_no_character(text: str, found: list[tuple[int, int]]) -> None:
    """The pieces of a marked text join to the text, whatever the spans, and marks never overlap."""
    pieces = cut(text, [(min(a, b), max(a, b), "evidence", "") for a, b in found])
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text for piece in pieces)


def test_marks_stand_where_they_belong() -> None:
    """A span marks exactly its characters."""
    assert cut("abcdef", [(2, 4, "evidence", "1")]) == (Segment("ab"), Segment("cd", "evidence", "1"), Segment("ef"))
