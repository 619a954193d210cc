"""Bytes become text: strict, by a byte order mark, the server's charset, UTF-8, or what an HTML page declares."""

from __future__ import annotations

import codecs
import re

import msgspec

from ragassay.errors import InputError

_MARKS = (
    (b"\x00\x00\xfe\xff", None),
    (b"\xff\xfe\x00\x00", None),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
)
_DECLARED = re.compile(
    rb"""<\?xml[^>]*?\bencoding\s*=\s*["']\s*([\w.:-]+)|<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)""", re.I
)
_DECLARED_WITHIN = 4096
_KNOWN = re.compile(r"utf-8|iso8859-\d+|cp\d+|koi8[-_][rut]|mac-?\w+|gb\w+|big5\w*|euc_\w+|shift_jis\w*|johab|tis-620")
_AS_BROWSERS_DO = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
}


_SERVED = {
    "utf-16": "utf-16-le",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "iso-2022-jp": "iso2022_jp",
}
"""Charsets that cannot be told from UTF-8 by their bytes, so that only a server can name them."""


class Decoded(msgspec.Struct, frozen=True, kw_only=True):
    """A text with LF line ends and no byte order mark, and what was done to get there."""

    text: str
    charset: str
    mark: bool
    """True when a byte order mark was dropped."""
    line_ends: bool
    """True when CRLF or CR line ends were written as LF."""


def decode(data: bytes, *, html: bool, charset: str | None = None) -> Decoded:
    """Decode the bytes of one page; nothing is guessed.

    `charset` is what the server named: it stands before UTF-8 and before what the page declares, and behind a byte
    order mark; where it is not known here, or the bytes are not in it, it says nothing. Raises `InputError` naming the
    offset of the first byte that cannot be read.
    """
    body, codec, mark = _unmarked(data)
    if codec is None and not mark and charset is not None:
        codec = served(charset, body)
    text = _text(body, codec) if codec else None
    if text is None:
        text, codec = _undeclared(body, html=html, offset=len(data) - len(body))
    if (at := text.find("\0")) >= 0:
        raise InputError(f"character {at} is NUL: this is no text; leave the file out or save it as UTF-8")
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return Decoded(text=plain, charset=codec or "utf-8", mark=mark, line_ends=plain != text)


def served(charset: str, body: bytes) -> str | None:
    """Return the codec of what a server named, None where it is not known here or cannot be true.

    UTF-16 has a NUL in every mark-up character: what has none, and is UTF-8, was served under a wrong name.
    """
    codec = _SERVED.get(charset.strip().lower())
    if codec in ("utf-16-le", "utf-16-be") and b"\0" not in body and _text(body, "utf-8") is not None:
        return None
    return codec or charset_named(charset)


def _unmarked(data: bytes) -> tuple[bytes, str | None, bool]:
    for mark, charset in _MARKS:
        if data.startswith(mark):
            if charset is None:
                raise InputError("it begins with a UTF-32 byte order mark; save it as UTF-8")
            if charset == "utf-8":
                return data[len(mark) :], None, True
            try:
                data[len(mark) :].decode(charset)
            except UnicodeDecodeError as error:
                at = error.start + len(mark)
                raise InputError(f"byte offset {at} is not {charset.upper()}; save it as UTF-8") from error
            return data[len(mark) :], charset, True
    return data, None, False


def _text(body: bytes, charset: str) -> str | None:
    try:
        return body.decode(charset)
    except UnicodeDecodeError:
        return None


def _undeclared(body: bytes, *, html: bool, offset: int) -> tuple[str, str]:
    try:
        return body.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        at = error.start
    line = body.count(b"\n", 0, at) + 1
    where = f"byte 0x{body[at]:02x} at offset {at + offset} (line {line}) is not UTF-8"
    label = declared(body) if html else None
    if label is None:
        how = "and no charset is declared" if html else "the only encoding read here"
        raise InputError(f"{where}, {how}; save it as UTF-8" + (" or declare its charset" if html else ""))
    charset = charset_named(label)
    if charset in (None, "utf-8"):
        raise InputError(f"{where}, and its declared charset {label!r} does not help; save it as UTF-8")
    if (text := _text(body, charset or "")) is None:
        raise InputError(f"{where}, nor can it be read in its declared charset {label!r}; save it as UTF-8")
    return text, charset or ""


def declared(body: bytes) -> str | None:
    """Return the charset label that an HTML page declares in its first 4,096 bytes, None where it declares none."""
    found = _DECLARED.search(body, 0, _DECLARED_WITHIN)
    return None if found is None else (found.group(1) or found.group(2)).decode("ascii", "replace").lower()


def charset_named(label: str) -> str | None:
    """Return the codec that browsers take for a charset label, None for a label that is not known here."""
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    name = _AS_BROWSERS_DO.get(name, name)
    return name if _KNOWN.fullmatch(name) else None
