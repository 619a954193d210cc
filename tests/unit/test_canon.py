"""Canonical bytes and the strict loader."""

from __future__ import annotations

import pytest

from ragassay import canon


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"a":1,"a":1}', "twice"),
        (b'{"a":1.0}', "not an integer"),
        (b'{"a":NaN}', "not an integer"),
        (b'{"a":9007199254740992}', "outside"),
        (b'{"a":-0}', "outside"),
        (b'\xef\xbb\xbf{"a":1}', "strict JSON"),
        (b'{"a":"\xff"}', "strict JSON"),
        (b"[" * 65 + b"]" * 65, "nested deeper"),
        (b'{"a":"\\ud800"}', "canonical"),
        (b'{"\\ud800":1}', "canonical"),
        (b'{"a": 1}', "canonical form"),
        (b'{"b":1,"a":2}', "canonical form"),
        (b"", "strict JSON"),
    ],
)
def test_strict_loader_refuses(data: bytes, why: str) -> None:
    """Every parser trick is refused with a reason, never a crash."""
    with pytest.raises(canon.NotCanonical, match=why):
        canon.load_canonical(data, max_bytes=1000)


def test_canonical_round_trip() -> None:
    """What was written canonically reads back equal."""
    value = {"b": [1, None, True, "é\u2028\U0001f600"], "a": {"x": -5}}
    assert canon.load_canonical(canon.canonical(value), max_bytes=1000) == value


def test_fractions_are_refused_everywhere() -> None:
    """A float anywhere in a document is refused, so that no two languages can round it differently."""
    with pytest.raises(canon.NotCanonical, match="decimal string"):
        canon.canonical({"a": [1, {"b": 0.5}]})


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (1e-7, "0.0000001"), (2.50, "2.5"), (-0.0, "0"), (3, "3"), ("1e2", "100")],
)
def test_decimal_string(value: float | str, text: str) -> None:
    """The shortest decimal string, without exponent."""
    assert canon.decimal_string(value) == text


@pytest.mark.parametrize(
    ("num", "den", "text"), [(4392, 6000, "0.7320"), (1, 8, "0.1250"), (1, 20000, "0.0001"), (1, 1, "1.0000")]
)
def test_ratio_string_rounds_half_up(num: int, den: int, text: str) -> None:
    """Four places, half-up, by integers."""
    assert canon.ratio_string(num, den) == text
