"""The one form of ZIP that a bundle may have, read from bytes: every byte of the file belongs to something. Pure.

ZIP (PKWARE APPNOTE 6.3) can be read in several ways: from the front or from the back, with gaps, with two headers that
disagree. Here there is one way, so that two readers never see two contents. All numbers are little-endian.

1. The file begins with `PK 03 04`, or with `PK 05 06` where it has no member. The last 22 bytes are the end record
   `PK 05 06`: disk numbers 0, both entry counts equal and at most 32, comment length 0. The central directory ends
   where the end record begins: its offset plus its size is that place.
2. There is no ZIP64: no count is FFFF, no size or offset FFFFFFFF, and no extra field 0001.
3. The central directory holds exactly the counted entries `PK 01 02`, each with disk 0 and no comment.
4. The flags hold nothing but bits 1 and 2 (how hard it was deflated), 3 (a descriptor follows) and 11 (UTF-8). Bits 0,
   6 and 13 mean encrypted. The method is 0 (stored) or 8 (deflate); stored has equal sizes.
5. Extra fields are whole, and of the kinds that hold times and owners: 000A, 5455, 5855, 7855, 7875. They are not
   read.
6. In the order of the entries, the first local header `PK 03 04` begins at byte 0, each next one where the member
   before it ends, and the last member ends where the central directory begins.
7. A local header has the flags, the method and the name of its entry. Without flag bit 3 its CRC-32 and both sizes are
   the entry's. With it each is 0 or the entry's, and after the data stand CRC-32, compressed and plain size once more,
   with `PK 07 08` before them or without.

Not read: versions, times, internal attributes. What a member is called, is, and holds is checked in `manifest.bundle`.
"""

from __future__ import annotations

import struct
from typing import NoReturn

import msgspec

from ragassay.errors import VerifyError
from ragassay.manifest.files import MAX_MEMBERS

LOCAL, CENTRAL, END, DESCRIPTOR = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x07\x08"
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
"""Signature, version needed, flags, method, time, date, CRC-32, compressed size, size, lengths of name and extra."""
CENTRAL_HEADER = struct.Struct("<4s6H3I5H2I")
"""As local with the version made by first; then lengths of name, extra, comment; disk; attributes; local offset."""
END_RECORD = struct.Struct("<4s4H2IH")
"""Signature, disk, disk of the directory, entries here, entries, directory size, directory offset, comment length."""
SIZES = struct.Struct("<3I")

STORED, DEFLATED = 0, 8
FLAG_DESCRIPTOR, FLAG_UTF8 = 1 << 3, 1 << 11
_FLAGS = 1 << 1 | 1 << 2 | FLAG_DESCRIPTOR | FLAG_UTF8
_FLAGS_ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13
_EXTRA = frozenset({0x000A, 0x5455, 0x5855, 0x7855, 0x7875})
_EXTRA_ZIP64 = 0x0001


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One member as the central directory names it; `data` are its bytes as they stand in the file."""

    raw_name: bytes
    flags: int
    method: int
    crc: int
    size: int
    attributes: int
    """External attributes: the Unix mode in the upper 16 bits, those of DOS and Windows in the lower."""
    data: memoryview


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    raw_name: bytes
    flags: int
    method: int
    sizes: tuple[int, int, int]
    """CRC-32, compressed size, size."""
    attributes: int
    offset: int


def read_members(data: bytes) -> list[Member]:
    """Return the members in their order; raises BUNDLE_DAMAGED for any other form, BUNDLE_TOO_LARGE for too many."""
    begin, count = _end(data)
    entries = _directory(data, begin, count)
    starts = [*(entry.offset for entry in entries), begin]
    if starts[0] != 0:
        _damaged("there are bytes before the first member, or the members stand in another order than their entries")
    if max(starts) > begin:
        _damaged("a member lies outside the file's part for members")
    view = memoryview(data)
    return [_member(view, entry, end) for entry, end in zip(entries, starts[1:], strict=True)]


def _damaged(message: str) -> NoReturn:
    raise VerifyError(message, code="BUNDLE_DAMAGED")


def _end(data: bytes) -> tuple[int, int]:
    """Return where the central directory begins and how many entries it has."""
    if not data.startswith((LOCAL, END)):
        _damaged("this is no ZIP file")
    place = len(data) - END_RECORD.size
    if place < 0 or not data.startswith(END, place):
        _damaged("the ZIP file is cut off, or a comment or other bytes stand at its end")
    _, disk, directory_disk, here, count, size, begin, comment = END_RECORD.unpack_from(data, place)
    if 0xFFFF in (disk, directory_disk, here, count) or 0xFFFFFFFF in (size, begin):
        _damaged("the file uses ZIP64; a bundle does not need it")
    if comment:
        _damaged("the ZIP file is cut off, or has a comment")
    if disk or directory_disk or here != count:
        _damaged("the ZIP file is one of several parts")
    if count > MAX_MEMBERS:
        raise VerifyError(f"the bundle has {count} members; {MAX_MEMBERS} are allowed", code="BUNDLE_TOO_LARGE")
    if begin + size != place:
        _damaged("the central directory does not end where the end record begins")
    return begin, count


def _directory(data: bytes, begin: int, count: int) -> list[_Entry]:
    end = len(data) - END_RECORD.size
    entries: list[_Entry] = []
    at = begin
    for _ in range(count):
        if at + CENTRAL_HEADER.size > end or not data.startswith(CENTRAL, at):
            _damaged("the central directory is damaged")
        (_, _, _, flags, method, _, _, *sizes, name, extra, comment, disk, _, attributes, offset) = (
            CENTRAL_HEADER.unpack_from(data, at)
        )
        at += CENTRAL_HEADER.size
        if at + name + extra + comment > end:
            _damaged("the central directory is damaged")
        raw_name = data[at : at + name]
        shown = _shown(raw_name)
        if 0xFFFFFFFF in (*sizes[1:], offset):
            _damaged(f"{shown} uses ZIP64; a bundle does not need it")
        if comment or disk:
            _damaged(f"{shown} has a comment or lies in another part")
        _check_method(shown, flags, method, sizes)
        _check_extra(shown, data[at + name : at + name + extra])
        at += name + extra
        entries.append(
            _Entry(
                raw_name=raw_name,
                flags=flags,
                method=method,
                sizes=(sizes[0], sizes[1], sizes[2]),
                attributes=attributes,
                offset=offset,
            )
        )
    if at != end:
        _damaged("the central directory holds more than its entries")
    return entries


def _check_method(shown: str, flags: int, method: int, sizes: list[int]) -> None:
    if flags & _FLAGS_ENCRYPTED:
        _damaged(f"{shown} is encrypted; a bundle has no password")
    if flags & ~_FLAGS:
        _damaged(f"{shown} has flags {flags:#06x}, which a bundle does not use")
    if method not in (STORED, DEFLATED):
        _damaged(f"{shown} is compressed by method {method}; a bundle uses 0 (stored) or 8 (deflate)")
    if method == STORED and sizes[1] != sizes[2]:
        _damaged(f"{shown} is stored, yet its two sizes differ")


def _check_extra(shown: str, extra: bytes) -> None:
    at = 0
    while at < len(extra):
        if at + 4 > len(extra):
            _damaged(f"{shown} has a damaged extra field")
        kind, length = struct.unpack_from("<2H", extra, at)
        at += 4 + length
        if at > len(extra):
            _damaged(f"{shown} has a damaged extra field")
        if kind == _EXTRA_ZIP64:
            _damaged(f"{shown} uses ZIP64; a bundle does not need it")
        if kind not in _EXTRA:
            _damaged(f"{shown} has an extra field {kind:04x}, which might change what is read")


def _member(view: memoryview, entry: _Entry, end: int) -> Member:
    """Return the member that fills the bytes from its offset to `end` exactly."""
    shown = _shown(entry.raw_name)
    start = entry.offset + LOCAL_HEADER.size
    if start > end or view[entry.offset : entry.offset + 4] != LOCAL:
        _damaged(f"{shown} does not begin where the member before it ends")
    _, _, flags, method, _, _, *sizes, name, extra = LOCAL_HEADER.unpack_from(view, entry.offset)
    begin = start + name + extra
    if begin + entry.sizes[1] > end:
        _damaged(f"{shown} overlaps what follows it")
    if (flags, method, bytes(view[start : start + name])) != (entry.flags, entry.method, entry.raw_name):
        _damaged(f"{shown} is described in two ways")
    _check_extra(shown, bytes(view[start + name : begin]))
    after = bytes(view[begin + entry.sizes[1] : min(end, begin + entry.sizes[1] + 17)])
    if entry.flags & FLAG_DESCRIPTOR:
        sizes_agree = all(here in (0, there) for here, there in zip(sizes, entry.sizes, strict=True))
        ends_well = after in (SIZES.pack(*entry.sizes), DESCRIPTOR + SIZES.pack(*entry.sizes))
    else:
        sizes_agree, ends_well = tuple(sizes) == entry.sizes, not after
    if not sizes_agree:
        _damaged(f"{shown} is described in two ways")
    if not ends_well:
        _damaged(f"bytes that belong to no member stand after {shown}, or its descriptor is wrong")
    return Member(
        raw_name=entry.raw_name,
        flags=entry.flags,
        method=entry.method,
        crc=entry.sizes[0],
        size=entry.sizes[2],
        attributes=entry.attributes,
        data=view[begin : begin + entry.sizes[1]],
    )


def _shown(raw_name: bytes) -> str:
    return ascii(raw_name[:80].decode("utf-8", "backslashreplace"))
