"""Where literals hit: the declared folds, the two boundary rules, and what they say of a claim."""

from __future__ import annotations

import pytest

from ragassay.errors import InputError
from ragassay.literals import hits, judge_claim, judgeable
from ragassay.records import Claim


def claim(*must: tuple[str, ...], must_not: tuple[str, ...] = ()) -> Claim:
    """Return a claim with these literals."""
    return Claim(id=1, text="a claim", central=True, must=must, must_not=must_not)


@pytest.mark.parametrize(
    ("literal", "text", "found"),
    [
        ("aws-lc-rs", "It uses AWS‑LC‑rs.", "AWS‑LC‑rs"),  # case and dashes
        ("isn't installed", "The group isn’t\n installed", "isn’t\n installed"),  # quotes and white space
        ("1,664", "at most 1664 columns", "1664"),
        ("1664", "at most 1 664 columns", "1 664"),
        ("400,000,000", "400'000'000", "400'000'000"),
        ("2000", "２０００ m", "２０００"),  # NFKC: full-width digits
        ("café", "the cafe\u0301!", "cafe\u0301"),
        ("UV_LOCK_TIMEOUT", "UV_\u200bLOCK_TIMEOUT", "UV_\u200bLOCK_TIMEOUT"),  # zero-width
        ("mod ", "taken mod n", "mod "),  # a written space belongs to the literal
        ("{1,1}?", "{1,1}? is lazy", "{1,1}?"),
        ("10²", "about 10² items", "10²"),
        ("permission", "no permissions", "permission"),  # longer than four letters: a substring
    ],
)
def test_a_fold_keeps_the_original_span(literal: str, text: str, found: str) -> None:
    """A literal is found under the declared folds, and the span is the original's."""
    span = hits(literal, text)
    assert span is not None
    assert text[slice(*span)] == found


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("http", "https"),
        ("log", "catalog and log_file and log2"),
        ("1", "v1"),
        ("3", "13"),
        ("3", "31"),
        ("3", "3.5"),
        ("3", "2.3"),
        ("5", "0,5"),
        ("2.22", "2.22.0"),
        ("2.22", "12.22"),
        ("N-2", "N-21"),
        ("2", "2 000 metres"),
        ("102", "10²"),
        ("10", "10²"),
        ("10", "10½"),
        ("2", "x²"),
        ("mod ", "model"),
        ("", "anything"),
        (" \u200b", "any thing"),
    ],
)
def test_a_boundary_keeps_a_number_or_word_whole(literal: str, text: str) -> None:
    """Parts of words and numbers, and digits written as exponents or fractions, are no hits."""
    assert hits(literal, text) is None


@pytest.mark.parametrize(
    ("literal", "text", "at"),
    [
        ("3", "13 or 3.5, finally 3.", 19),
        ("five", "five.", 0),
        ("1", "(1)", 1),
        ("32MB", "only 32MB", 5),
        ("9", "9,", 0),
    ],
)
def test_a_later_whole_hit_counts(literal: str, text: str, at: int) -> None:
    """A partial hit does not hide a whole one, and sentence punctuation ends a number."""
    assert hits(literal, text) == (at, at + len(literal))


def test_all_lists_hit_is_supports_from_first_to_last() -> None:
    """SUPPORTS needs a hit in each list; its span runs from the first hit to the last, must_not notwithstanding."""
    text = "The limit is 253 (default: 100)."
    word, span = judge_claim(claim(("100",), ("253", "two hundred")), text)
    assert (word, text[slice(*(span or (0, 0)))]) == ("SUPPORTS", "253 (default: 100")
    assert judge_claim(claim(("100",), must_not=("253",)), text)[0] == "SUPPORTS"


def test_a_must_not_hit_contradicts_only_what_is_not_supported() -> None:
    """With a list unhit, a hit of any must_not literal is CONTRADICTS with that hit as its span; otherwise OMITS."""
    text = "It returns 2."
    assert judge_claim(claim(("1",), must_not=("0", "2")), text) == ("CONTRADICTS", (11, 12))
    assert judge_claim(claim(("1",), must_not=("0",)), text) == ("OMITS", None)
    assert judge_claim(claim(("1",), ("2",)), text) == ("OMITS", None)


@pytest.mark.parametrize("must", [(), ((),), (("a",), ()), ((" ",),)])
def test_a_claim_without_literals_is_refused(must: tuple[tuple[str, ...], ...]) -> None:
    """A claim with no literals, or with a list that nothing can hit, is an error and never OMITS."""
    bare = claim(*must)
    assert not judgeable(bare)
    with pytest.raises(InputError, match="claim 1 carries no literals"):
        judge_claim(bare, "a")
