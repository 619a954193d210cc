"""An address becomes a page id: a path that every file system can hold, and never the id of another address. Pure.

Most addresses keep their path. What has no suffix of its format, or would meet another address there, has `~` and
the suffix appended; what a file system cannot hold, or holds twice, is written plainly with a digest of the address.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from urllib.parse import unquote, urlsplit

from ragassay.corpus.crawl.address import below, normal
from ragassay.errors import InputError

SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/x-rst": ".rst",
    "text/prs.fallenstein.rst": ".rst",
    "text/plain": ".txt",
    "application/pdf": ".pdf",
}
"""The media types that are documentation, and the suffix that says so in a page id."""
OWN_SUFFIXES = (".html", ".htm", ".md", ".rst", ".txt", ".pdf")
_SAME = {".html": (".html", ".htm")}
_INDEX = "index.html"
_SOURCE = (".md", ".rst", ".txt")
_UNKNOWN = ("", "application/octet-stream", "binary/octet-stream")
_PLAIN = re.compile(r"[a-z0-9_-]([a-z0-9._+-]*[a-z0-9_+-])?")
_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.I)
_NOT_WORDS = re.compile(r"[^\w+-]+")
_LONGEST_NAME = 100
_LONGEST_ID = 200
_DIGEST_CHARS = 16


def suffix_of(url: str, content_type: str | None) -> str | None:
    """Return the suffix that pages of this media type have here, None for a type that is no documentation.

    Without a type, or for one that says nothing, the path of the address decides. Plain text whose path ends in
    `.md`, `.rst` or `.txt` is what the path says.
    """
    media = (content_type or "").partition(";")[0].strip().lower()
    own = _own_suffix(urlsplit(url).path.lower())
    if media in _UNKNOWN:
        return ".html" if own == ".htm" else own
    suffix = SUFFIXES.get(media)
    return own if suffix == ".txt" and own in _SOURCE else suffix


def page_id(url: str, content_type: str | None, prefix: str | None = None) -> str:
    """Return the id of the page at an address: its path, below the folder `prefix` where one is given.

    Two addresses of one origin (with a prefix: any two addresses) never have one id, not even where a file system
    ignores case. Raises `InputError` where the address is none, or the media type is no documentation.
    """
    address = normal(url)
    suffix = suffix_of(address, content_type)
    if suffix is None:
        raise InputError(f"{content_type or 'no media type'}: this is no documentation format")
    parts = urlsplit(address)
    relative = parts.path[1:] if prefix is None else below(address, prefix)
    if relative is not None and not parts.query:
        *folders, name = relative.split("/")
        kept = "/".join((*folders, _named(name, suffix)))
        if _is_plain(folders, name) and len(kept) <= _LONGEST_ID:
            return kept
    return _written(address, parts.path, parts.query, suffix)


def _own_suffix(path: str) -> str | None:
    return next((suffix for suffix in OWN_SUFFIXES if path.endswith(suffix)), None)


def _named(name: str, suffix: str) -> str:
    """Return the file name of the last segment; `index.html` is kept for the folder itself, which is mostly HTML."""
    if not name and suffix == ".html":
        return _INDEX
    keeps = name.endswith(_SAME.get(suffix, (suffix,))) and name != _INDEX
    return name if keeps else f"{name}~{suffix}"


def _is_plain(folders: list[str], name: str) -> bool:
    """Return whether the path can be a path of files as it is."""
    segments = [*folders, *([name] if name else [])]
    return not any(_own_suffix(folder) for folder in folders) and all(
        len(segment) <= _LONGEST_NAME and _PLAIN.fullmatch(segment) and not _DEVICES.fullmatch(segment)
        for segment in segments
    )


def _written(address: str, path: str, query: str, suffix: str) -> str:
    """Return a readable path that ends in a digest of the address."""
    end = f"~{hashlib.sha256(address.encode('ascii')).hexdigest()[:_DIGEST_CHARS]}{suffix}"
    shown = path[1 : -len(suffix)] if path.lower().endswith(suffix) else path[1:]
    *folders, name = [_words(segment) for segment in shown.split("/")]
    last = "-".join(filter(None, (name or "index", _words(query)))) + end
    kept = [folder for folder in folders if folder]
    whole = "/".join((*kept, last))
    if len(whole.encode("utf-8")) <= _LONGEST_ID:
        return whole
    return _cut("-".join((*kept, name)), _LONGEST_NAME) + end


def _words(segment: str) -> str:
    """Return a segment as lower-case words, marks joined to `-`; empty where there are none."""
    plain = unicodedata.normalize("NFC", unquote(segment, errors="replace").lower())
    words = _cut(_NOT_WORDS.sub("-", plain), _LONGEST_NAME // 2).strip("-")
    return f"{words}-" if _DEVICES.fullmatch(words) else words


def _cut(text: str, octets: int) -> str:
    return text.encode("utf-8")[:octets].decode("utf-8", "ignore")
