"""A sitemap becomes addresses: XML or plain text, gzipped or not; what cannot be read is listed. Pure.

No entity and no document type is read: a sitemap has no use for either.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from typing import NoReturn
from xml.parsers import expat

import msgspec

from ragassay.corpus import names
from ragassay.corpus.crawl.address import joined, normal
from ragassay.errors import InputError

_GZIP = b"\x1f\x8b"
_SHOWN_CHARS = 200
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_DEEPEST = 32
_PIECE = 64 * 1024
_LONGEST_TAG = 1024 * 1024
_ROOTS = {"urlset": "url", "sitemapindex": "sitemap"}


class SitemapLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much of one sitemap is read; the rest is told as a problem."""

    bytes: int = 64 * 1024 * 1024
    """After inflating; the format allows 50 MiB."""
    entries: int = 50_000


class Sitemap(msgspec.Struct, frozen=True):
    """The normal addresses of pages and of further sitemaps, in order and once each, and what could not be read."""

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]
    problems: tuple[str, ...]


NO_LIMITS_GIVEN = SitemapLimits()


def read_sitemap(data: bytes, base: str, limits: SitemapLimits = NO_LIMITS_GIVEN) -> Sitemap:
    """Return what the sitemap at the address `base` lists; never raises for what it holds."""
    reading = _Reading(base, limits)
    try:
        body = _inflated(data, limits.bytes)
        start = body.removeprefix(b"\xef\xbb\xbf").lstrip()
        if start.startswith((b"<", b"\xff\xfe", b"\xfe\xff")):
            _Xml(reading).read(start)
        else:
            _read_lines(start, reading)
    except InputError as error:
        reading.problems.append(error.message)
    return Sitemap(tuple(reading.pages), tuple(reading.sitemaps), tuple(reading.problems))


def _inflated(data: bytes, cap: int) -> bytes:
    if data.startswith(_GZIP):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
                data = file.read(cap + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"its gzip data is damaged: {error}") from error
        if data.startswith(_GZIP):
            raise InputError("it is gzipped twice, which is not read")
    if len(data) > cap:
        raise InputError(f"it holds more than the {cap:,} bytes allowed for a sitemap")
    return data


class _Reading:
    """What was found so far; each entry is an address or a problem."""

    def __init__(self, base: str, limits: SitemapLimits) -> None:
        self._base = base
        self._limits = limits
        self._entries = 0
        self.pages: dict[str, None] = {}
        self.sitemaps: dict[str, None] = {}
        self.problems: list[str] = []

    def take(self, address: str, line: int, into: dict[str, None]) -> None:
        """Keep the next address; raises `InputError` above the number of entries that are read."""
        self._entries += 1
        if self._entries > self._limits.entries:
            raise InputError(
                f"line {line}: it lists more than {self._limits.entries:,} addresses; the rest is not read"
            )
        shown = names.shown(address[:_SHOWN_CHARS])
        if not address:
            self.problems.append(f"line {line}: an entry without an address")
        elif not _ABSOLUTE.match(address):
            self.problems.append(
                f"line {line}: {shown!r} is relative, which a sitemap does not allow; {self._meant(address)}"
            )
        else:
            try:
                into[normal(address)] = None
            except InputError as error:
                self.problems.append(f"line {line}: {shown!r}: {error.message}")

    def _meant(self, address: str) -> str:
        meant = joined(self._base, address)
        return f"perhaps {meant[:_SHOWN_CHARS]} is meant" if meant else "write it whole"


def _read_lines(body: bytes, reading: _Reading) -> None:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"it is neither XML nor UTF-8 text: byte 0x{body[error.start]:02x} at {error.start}"
        ) from error
    for number, line in enumerate(text.splitlines(), start=1):
        if address := line.strip():
            reading.take(address, number, reading.pages)


class _Xml:
    """One pass of the XML parser; only `loc` right inside an entry counts, whatever its namespace is called."""

    def __init__(self, reading: _Reading) -> None:
        self._reading = reading
        self._open: list[str] = []
        self._text: list[str] | None = None
        self._address: str | None = None
        self._line = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = _refused

    def read(self, body: bytes) -> None:
        """Read all of it; raises `InputError` at the first place that is not well formed."""
        try:
            for at in range(0, len(body), _PIECE):
                self._parser.Parse(body[at : at + _PIECE], False)
                if at - self._parser.CurrentByteIndex > _LONGEST_TAG:
                    raise InputError(
                        f"line {self._parser.CurrentLineNumber}: a tag has more than {_LONGEST_TAG:,} bytes"
                    )
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            where = f"line {error.lineno}: it is not well-formed XML ({expat.ErrorString(error.code)})"
            raise InputError(f"{where}; what follows is not read") from error

    def _start(self, name: str, _attributes: object) -> None:
        local = name.rpartition(" ")[2]
        self._open.append(local)
        if len(self._open) > _DEEPEST:
            raise InputError(f"line {self._parser.CurrentLineNumber}: it is nested more than {_DEEPEST} deep")
        if len(self._open) == 1 and local not in _ROOTS:
            raise InputError(f"it is no sitemap: its root is <{names.shown(local[:_SHOWN_CHARS])}>")
        if len(self._open) == 2:
            self._address, self._line = None, self._parser.CurrentLineNumber
        if self._is_location():
            self._text = []

    def _is_location(self) -> bool:
        return len(self._open) == 3 and self._open[2] == "loc" and self._open[1] == _ROOTS[self._open[0]]

    def _characters(self, text: str) -> None:
        if self._text is not None and len(self._open) == 3:
            self._text.append(text)

    def _end(self, _name: str) -> None:
        if self._is_location() and self._text is not None:
            self._address, self._text = "".join(self._text).strip(), None
        elif len(self._open) == 2 and self._open[1] == _ROOTS[self._open[0]]:
            found = self._reading.pages if self._open[0] == "urlset" else self._reading.sitemaps
            self._reading.take(self._address or "", self._line, found)
        self._open.pop()


def _refused(*_declared: object) -> NoReturn:
    raise InputError("it declares a document type, which is refused: entities could be hidden there")
