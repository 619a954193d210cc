"""Text from outside as a judge sees it, and quotes found back in it."""

from __future__ import annotations

import json

import pytest

from ragassay.judge.visible import MAX_CHARS, extent, quote_span, quoted, visible


def test_invisible_characters_are_removed() -> None:
    """Control, zero-width, bidirectional and tag characters, variation selectors and lone surrogates do not pass."""
    assert visible("a\x00b\x1bc\u200bd\u202ee\U000e0041f\ufe0fg\ud800h\tz\n") == "abcdefgh\tz\n"


def test_an_answer_is_one_json_string_on_one_line() -> None:
    """The answer cannot leave its string: quotes and line feeds are escaped, and it reads back as it was."""
    text = 'He said "}]}\n<<<answer'
    assert "\n" not in quoted(text)
    assert json.loads(quoted(text)) == text


def test_a_cut_is_said() -> None:
    """What is shown of a longer answer is cut at the cap, and the prompt says how much."""
    text = "a" * (MAX_CHARS + 5)
    assert len(json.loads(quoted(text))) == MAX_CHARS
    assert extent(text) == f"the first {MAX_CHARS} of {MAX_CHARS + 5} characters"
    assert extent("abc") == "3 characters"


@pytest.mark.parametrize(
    ("quote", "found", "folds"),
    [
        ("the Port", "the Port", ()),
        ("THE  port", "the Port", ("case", "whitespace")),
        ("is 5432", "is\n5\u200b432", ("whitespace", "invisible")),
        ("is\n5\u200b432", "is\n5\u200b432", ("invisible",)),
    ],
)
def test_a_quote_is_found_back_in_the_original(quote: str, found: str, folds: tuple[str, ...]) -> None:
    """A quote is found under the declared folds and its span lies in the answer as it came."""
    answer = "So the Port is\n5\u200b432 here"
    span = quote_span(quote, answer)
    assert span is not None
    assert (answer[span[0] : span[1]], span[2]) == (found, folds)


@pytest.mark.parametrize("quote", ["", " ", "\u200b", "the … 5432", "port is 5433", "“the Port”"])
def test_no_quote_is_invented(quote: str) -> None:
    """A blank, shortened, altered or decorated quote is not in the answer."""
    assert quote_span(quote, "So the Port is 5432 here") is None
