"""An http(s) address in its one normal form, and whether it lies under a prefix. Pure."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from ragassay.errors import InputError, PluginError

MAX_CHARS = 8_192
"""The longest address that is taken."""
_PORTS = {"http": 80, "https": 443}
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_IN_PATH = _UNRESERVED | frozenset(b"!$&'()*+,;=:@/")
_IN_QUERY = _IN_PATH | frozenset(b"?")
_OF = {plain: bytes(plain) for plain in (_IN_PATH, _IN_QUERY)}
_HEX = frozenset(b"0123456789abcdefABCDEF")
_EDGES = "".join(map(chr, range(0x21)))
_NOT_IN_ADDRESSES = str.maketrans("", "", "\t\n\r")
_BRACKETED = re.compile(r"\[[0-9A-Fa-f:.]+\](:[0-9]*)?")
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")


def normal(url: str) -> str:
    """Return the one form of an absolute http(s) address; `normal(normal(url)) == normal(url)`.

    Scheme and host are lower case, the default port, dot segments, the fragment and an empty query are gone, and an
    octet is percent-encoded only where it must be. Raises `InputError` for anything else, a user name included.
    """
    cleaned = _cleaned(url)
    try:
        parts = urlsplit(cleaned)
        port = parts.port
    except ValueError as error:
        raise InputError(f"it is no address: {error}") from error
    scheme = parts.scheme.lower()
    if scheme not in _PORTS:
        raise InputError("it is no absolute http or https address")
    if "[" in parts.netloc and not _BRACKETED.fullmatch(parts.netloc):
        raise InputError("its host is no address: in brackets stands an IPv6 address without a zone, and nothing else")
    if "@" in parts.netloc:
        raise InputError("it holds a user name or password; give the address without it")
    host = _host(parts.hostname or "")
    origin = f"{scheme}://{host}" + ("" if port in (None, _PORTS[scheme]) else f":{port}")
    query = _encoded(parts.query, _IN_QUERY)
    address = origin + _path(parts.path) + (f"?{query}" if query else "")
    if len(address) > MAX_CHARS:
        raise InputError(f"it has {len(address):,} characters when written out; {MAX_CHARS:,} are allowed")
    return address


def joined(base: str, reference: str) -> str | None:
    """Return the normal address of a link on the page `base`, None for what is no usable http(s) address."""
    try:
        return normal(_absolute(base, _cleaned(reference)))
    except (InputError, ValueError):
        return None


def _absolute(base: str, reference: str) -> str:
    """Return a reference as an absolute address; nothing in its path is dropped, not even an empty parameter."""
    at, to = urlsplit(base), urlsplit(reference)
    if to.scheme:
        return reference
    if to.netloc:
        return f"{at.scheme}:{reference}"
    origin = f"{at.scheme}://{at.netloc}"
    if reference.startswith("/"):
        return origin + reference
    if to.path:
        return f"{origin}{at.path.rpartition('/')[0]}/{reference}"
    return f"{origin}{at.path}" + (f"?{to.query or at.query}")


def within(url: str, prefix: str) -> bool:
    """Return whether an address has the origin of `prefix` and its path, or a path below it.

    `/docs` and `/docs/` as prefixes are the same: both hold `/docs`, `/docs/` and `/docs/a`, none `/docs-old`.
    """
    (origin, path), (wanted, folder) = _split(url), _split(prefix)
    folder = folder.rstrip("/")
    return origin == wanted and (path == folder or path.startswith(f"{folder}/"))


def below(url: str, prefix: str) -> str | None:
    """Return the path of an address below the folder `prefix`, without a leading slash; None where it is not below."""
    (origin, path), (wanted, folder) = _split(url), _split(prefix)
    folder = folder.rstrip("/") + "/"
    return path.removeprefix(folder) if origin == wanted and path.startswith(folder) else None


def _split(url: str) -> tuple[str, str]:
    parts = urlsplit(normal(url))
    return f"{parts.scheme}://{parts.netloc}", parts.path


def _cleaned(url: str) -> str:
    """Return an address as browsers read it: no control characters around it, no line breaks inside."""
    if len(url) > MAX_CHARS:
        raise InputError(f"it has {len(url):,} characters; {MAX_CHARS:,} are allowed")
    cleaned = url.strip(_EDGES).translate(_NOT_IN_ADDRESSES)
    head, mark, rest = cleaned.partition("?")
    path, hash_, fragment = head.partition("#")
    return path.replace("\\", "/") + hash_ + fragment + mark + rest


def _host(name: str) -> str:
    if ":" in name:
        try:
            return f"[{ipaddress.IPv6Address(name).compressed}]"
        except ValueError as error:
            raise InputError(f"its host is no address: {error}") from error
    lower = name.removesuffix(".").lower()
    if not lower.isascii():
        lower = _ascii(lower)
    if not _HOST.fullmatch(lower) or len(lower) > 253:
        raise InputError("it has no host that can be asked")
    return lower


def _ascii(host: str) -> str:
    try:
        import idna
    except ImportError as error:
        raise PluginError("an address with letters beyond ASCII needs 'idna': pip install 'ragassay[run]'") from error
    try:
        return idna.encode(host, uts46=True).decode("ascii").removesuffix(".")
    except (idna.IDNAError, UnicodeError) as error:
        raise InputError(f"its host cannot be written in ASCII: {error}") from error


def _path(path: str) -> str:
    kept: list[str] = []
    segments = _encoded(path or "/", _IN_PATH).split("/")[1:]
    for at, segment in enumerate(segments):
        last = at == len(segments) - 1
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
        if last and segment in (".", ".."):
            kept.append("")
    return "/" + "/".join(kept)


def _encoded(text: str, plain: frozenset[int]) -> str:
    """Return `text` with every octet that is not in `plain` as %XX, escapes of unreserved octets undone."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError("it holds a character that cannot be encoded") from error
    if b"%" not in data and not data.translate(None, _OF[plain]):
        return text
    written: list[str] = []
    at = 0
    while at < len(data):
        octet, is_escape = data[at], False
        if octet == 0x25 and at + 2 < len(data) and data[at + 1] in _HEX and data[at + 2] in _HEX:
            octet, is_escape = int(data[at + 1 : at + 3], 16), True
        as_is = octet in _UNRESERVED or (not is_escape and octet in plain)
        written.append(chr(octet) if as_is else f"%{octet:02X}")
        at += 3 if is_escape else 1
    return "".join(written)
