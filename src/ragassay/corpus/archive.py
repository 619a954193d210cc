"""A tar archive is read in memory, never unpacked: members in, entries out, under caps on everything.

The cap on the total counts all bytes that come out of the decompressor, skipped members included, so a small
archive that inflates without end stops there.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import tarfile
import zlib
from functools import partial
from pathlib import Path
from typing import IO, cast

from ragassay.corpus import names
from ragassay.corpus.found import Entry, Found, LeftOut, Limits, too_large
from ragassay.errors import InputError

_BLOCK = 512
_DRAIN = 64 * 1024
_BROKEN = (tarfile.TarError, EOFError, OSError, lzma.LZMAError, zlib.error, ValueError, OverflowError)
_UNKNOWN_MAGIC = {b"\x28\xb5\x2f\xfd": "Zstandard", b"PK\x03\x04": "ZIP"}


def find(path: Path, limits: Limits, *, pdf: bool = False) -> Found:
    """Return the members that are pages, in page order, their bytes in memory.

    Raises `InputError` when the archive is truncated or damaged, passes a cap, or holds an absolute or `..` name.
    """
    with path.open("rb") as file:
        origin = {"kind": "archive", "name": path.name, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
        file.seek(0)
        stream = _Stream(_inflated(file, path), limits.total_bytes, path)
        members = _Members(limits, pdf)
        try:
            readable = cast("IO[bytes]", stream)
            with tarfile.open(fileobj=readable, mode="r|", bufsize=_BLOCK, encoding="utf-8") as tar:
                for member in tar:
                    members.take(tar, member)
            ended, more = stream.last == bytes(_BLOCK), stream.drained()
        except _BROKEN as error:
            raise InputError(f"{path} cannot be read as a tar archive: {error}") from error
    if not ended:
        raise InputError(f"{path} ends without its end-of-archive mark: it is truncated or damaged; fetch it again")
    if more:
        raise InputError(f"{path} holds more data after its end-of-archive mark; repack it as one archive")
    return members.found(origin)


def _inflated(file: IO[bytes], path: Path) -> IO[bytes]:
    magic = file.read(6)
    file.seek(0)
    for start, name in _UNKNOWN_MAGIC.items():
        if magic.startswith(start):
            raise InputError(f"{path} is a {name} file; repack it as .tar, .tar.gz, .tar.bz2 or .tar.xz")
    if magic.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file))
    if magic.startswith(b"BZh"):
        return bz2.BZ2File(file)
    return cast("IO[bytes]", lzma.LZMAFile(file)) if magic.startswith(b"\xfd7zXZ\x00") else file


class _Stream:
    """Reads through to the decompressed bytes, counts them, and remembers the last block that was asked for."""

    def __init__(self, inner: IO[bytes], cap: int, path: Path) -> None:
        self._inner = inner
        self._left = cap
        self._cap = cap
        self._path = path
        self.last = b""

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes; raises `InputError` once the total passes the cap."""
        self.last = self._inner.read(min(size, self._left + 1))
        self._left -= len(self.last)
        if self._left < 0:
            raise InputError(f"{self._path} inflates to more than the {self._cap:,} bytes allowed in total")
        return self.last

    def drained(self) -> bool:
        """Read to the end, so that the compressed checksum is compared; return whether any byte was not zero."""
        found = False
        while piece := self.read(_DRAIN):
            found = found or any(piece)
        return found


class _Members:
    """The members of one archive, sorted into pages, left out and problems."""

    def __init__(self, limits: Limits, pdf: bool) -> None:
        self._limits = limits
        self._pdf = pdf
        self._pages: dict[str, bytes] = {}
        self._left: list[LeftOut] = []
        self._problems: list[str] = []
        self._seen = 0

    def take(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        """Look at the next member and keep its bytes when it is a page."""
        name = _plain(member.name)
        where = names.shown(member.name)
        if member.isdir() and not _unsafe(member.name):
            return
        self._seen += 1
        if self._seen > self._limits.entries:
            raise InputError(f"the archive holds more than the {self._limits.entries:,} members allowed")
        if _unsafe(member.name):
            self._problems.append(f"{where}: an absolute name or a `..` in an archive is refused; repack it")
        elif reason := _kind(member) or names.reason_unread(name, pdf=self._pdf):
            self._left.append(LeftOut(where, reason))
        elif problem := names.name_problem(name):
            self._problems.append(f"{where}: {problem}")
        elif member.size > self._limits.page_bytes:
            self._problems.append(f"{where}: {too_large(member.size, self._limits.page_bytes)}")
        elif (id_ := names.page_id(name)) in self._pages:
            self._problems.append(f"{where}: this name stands twice in the archive; repack it")
        else:
            data = tar.extractfile(member)
            self._pages[id_] = b"" if data is None else data.read()

    def found(self, origin: dict[str, str]) -> Found:
        """Return all of it, ids relative to the one folder that holds every page, if there is one."""
        root = _root(list(self._pages))
        strip = len(root) + 1 if root else 0
        return Found(
            origin={**origin, "root": root},
            entries=[Entry(id_[strip:], partial(bytes, data)) for id_, data in sorted(self._pages.items())],
            left_out=tuple(sorted(self._left, key=lambda left: left.path)),
            seen=self._seen,
            problems=tuple(self._problems),
        )


def _plain(name: str) -> str:
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def _unsafe(name: str) -> bool:
    return name.startswith("/") or ".." in name.split("/") or not (_plain(name) or name == ".")


def _kind(member: tarfile.TarInfo) -> str | None:
    if member.issym() or member.islnk():
        return "link"
    return None if member.isreg() else "no regular file"


def _root(ids: list[str]) -> str:
    """Return the top folder that all ids share (tar archives of a folder carry its name), or an empty string."""
    tops = {id_.partition("/")[0] if "/" in id_ else "" for id_ in ids}
    return tops.pop() if len(tops) == 1 else ""
