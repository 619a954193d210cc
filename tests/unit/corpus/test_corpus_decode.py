"""Bytes become text strictly: marks dropped, line ends written as LF, nothing guessed."""

from __future__ import annotations

import pytest

from ragassay.corpus.decode import decode
from ragassay.errors import InputError


def test_utf8_is_kept_as_it_is() -> None:
    """Right-to-left, combining and astral characters pass through unchanged."""
    text = "שלום e\u0301 \u202eabc\u202c 👩‍👩‍👧 \u00a0 \ufeff"
    decoded = decode(text.encode(), html=False)
    assert (decoded.text, decoded.charset, decoded.mark, decoded.line_ends) == (text, "utf-8", False, False)


def test_byte_order_mark_is_dropped_and_said() -> None:
    """A UTF-8 mark does not reach the text."""
    decoded = decode(b"\xef\xbb\xbf# Title", html=False)
    assert (decoded.text, decoded.mark) == ("# Title", True)


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
def test_utf16_is_read_by_its_mark(charset: str) -> None:
    """A UTF-16 byte order mark declares the encoding."""
    decoded = decode("\ufeffgrüße".encode(charset), html=False)
    assert (decoded.text, decoded.charset, decoded.mark) == ("grüße", charset, True)


def test_line_ends_become_lf_and_are_said() -> None:
    """CRLF and lone CR are written as LF."""
    decoded = decode(b"a\r\nb\rc\nd\r\n", html=False)
    assert (decoded.text, decoded.line_ends) == ("a\nb\nc\nd\n", True)


@pytest.mark.parametrize(
    ("data", "html", "message"),
    [
        (b"line\ncaf\xe9", False, "byte 0xe9 at offset 8 (line 2) is not UTF-8, the only encoding read here"),
        (b"\xef\xbb\xbfcaf\xe9", False, "byte 0xe9 at offset 6 (line 1)"),
        (b"<p>caf\xe9", True, "no charset is declared"),
        (b"<meta charset=utf-8><p>caf\xe9", True, "declared charset 'utf-8' does not help"),
        (b"<meta charset=x-none><p>caf\xe9", True, "declared charset 'x-none' does not help"),
        (b"<meta charset=rot13><p>caf\xe9", True, "declared charset 'rot13' does not help"),
        (b"<meta charset=unicode_escape><p>\xe9", True, "does not help"),
        (b"<meta charset=windows-1252><p>\x81", True, "nor can it be read in its declared charset 'windows-1252'"),
        (b"\xff\xfea\x00\x00\xd8", False, "byte offset 4 is not UTF-16-LE"),
        (b"\xff\xfe\x00\x00a\x00\x00\x00", False, "UTF-32"),
        (b"a\x00b", False, "character 1 is NUL"),
        (b"\xed\xa0\x80", False, "byte 0xed at offset 0"),
        (b"\xc0\xaf", False, "byte 0xc0 at offset 0"),
    ],
    ids=[
        "latin-1 without declaration",
        "latin-1 after a mark",
        "html without declaration",
        "wrong declaration",
        "unknown charset",
        "codec that is no charset",
        "codec that runs escapes",
        "undefined in its charset",
        "half a surrogate pair",
        "utf-32",
        "binary",
        "encoded surrogate",
        "overlong slash",
    ],
)
def test_undecodable_bytes_are_refused_by_offset(data: bytes, html: bool, message: str) -> None:
    """The error names the first byte that cannot be read."""
    with pytest.raises(InputError) as caught:
        decode(data, html=html)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("head", "charset", "used"),
    [
        ('<meta charset="iso-8859-1">', "cp1252", "cp1252"),
        ("<META http-equiv=Content-Type content='text/html; CHARSET=windows-1251'>", "cp1251", "cp1251"),
        ('<?xml version="1.0" encoding="ISO-8859-2"?>', "iso8859-2", "iso8859-2"),
        ('<meta charset="shift_jis">', "shift_jis", "shift_jis"),
        ('<meta charset="gb2312">', "gb18030", "gb18030"),
    ],
)
def test_declared_charset_of_html_is_used_when_utf8_fails(head: str, charset: str, used: str) -> None:
    """A page is read in the charset that its own head declares, labels meaning what browsers take them for."""
    word = {"cp1252": "naïve €", "cp1251": "Привет", "iso8859-2": "Łódź", "shift_jis": "設定", "gb18030": "设置"}[used]
    decoded = decode((head + word).encode(charset), html=True)
    assert decoded.text == head + word
    assert decoded.charset == used


def test_utf8_wins_over_a_declaration() -> None:
    """Bytes that are valid UTF-8 are UTF-8, whatever an old template declares."""
    assert decode("<meta charset=iso-8859-1>é".encode(), html=True).text.endswith("é")


def test_declaration_counts_in_html_only() -> None:
    """A Markdown page that shows a meta tag declares nothing."""
    with pytest.raises(InputError, match="only encoding"):
        decode(b"<meta charset=iso-8859-1> \xe9", html=False)
