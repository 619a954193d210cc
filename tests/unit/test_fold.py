"""Folds keep the way back to the original text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay import fold


@pytest.mark.parametrize(
    ("needle", "haystack", "folds"),
    [
        ("a b", "x a b y", ()),
        ("a b", "x a\u00a0b y", ("whitespace",)),
        ("a b", "a\n  b", ("whitespace",)),
        ("it's", "it’s", ("quotes",)),
        ("cooperate", "co\u00adoperate", ("invisible",)),
        ("café", "cafe\u0301", ("nfc",)),
        ("office", "o\ufb03ce", ("ligatures",)),
        ("1-2", "1–2", ("dashes",)),
    ],
)
def test_presentation_folds(needle: str, haystack: str, folds: tuple[str, ...]) -> None:
    """Each way of writing the same words matches, and only the folds that were needed are named."""
    match = fold.find(needle, haystack)
    assert match is not None
    assert match.folds == folds


@pytest.mark.parametrize(
    ("needle", "haystack"), [("port 80", "port 81"), ("102", "10²"), ("is not set", "is set"), ("", "abc")]
)
def test_a_changed_word_or_digit_is_missing(needle: str, haystack: str) -> None:
    """No fold hides a changed word or digit."""
    assert fold.find(needle, haystack) is None


def test_offsets_point_into_the_original() -> None:
    """A folded match gives the original span."""
    haystack = "The o\ufb03ce  is\u00a0open"
    match = fold.find("office is open", haystack)
    assert match is not None
    assert haystack[match.start : match.end] == "o\ufb03ce  is\u00a0open"


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("2,000 m", "2000 m"),
        ("12 500", "12500"),
        ("1,23", "1,23"),
        ("v1.2,300", "v1.2,300"),
        ("1,2345", "1,2345"),
        ("1,000,000.", "1000000."),
    ],
)
def test_thousands(text: str, folded: str) -> None:
    """Only separators between groups of three are dropped."""
    assert fold.fold(text, ("thousands",)).text == folded


@given(st.text(), st.sampled_from([fold.PRESENTATION, fold.LITERAL, fold.QUOTE]))
def test_spans_stay_inside_and_in_order(text: str, folds: tuple[fold.FoldName, ...]) -> None:
    """Every folded character came from a non-empty span of the original, in order."""
    folded = fold.fold(text, folds)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert all(0 <= a < b <= len(text) for a, b in zip(folded.starts, folded.ends, strict=True))
    assert list(folded.starts) == sorted(folded.starts)


@given(st.text(), st.text(alphabet="aAßẞİ \t\u00a0Σς.ﬃ", max_size=6), st.integers(0, 40))
def test_quotes_stand_where_the_quote_folds_find_them(text: str, quote: str, at: int) -> None:
    """The quick way of the verifier says what `find` says, for quotes of the text and others."""
    for answer, sought in ((text, quote), (text[:at] + quote.swapcase() + " " + text[at:], quote), (text, text[at:])):
        found = bool(sought.strip()) and fold.find(sought, answer, fold.QUOTE) is not None
        assert fold.quotes_of(answer)(sought) is found
