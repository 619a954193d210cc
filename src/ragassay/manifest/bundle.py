"""A run as one ZIP file: read strictly from bytes in memory, written the same way each time. Pure.

The form of the file is that of `manifest.zipform`; where it is another, nothing is read (BUNDLE_DAMAGED). Then, member
by member in their order, the first of these that applies is the problem, and the member is not read:

1. BUNDLE_NAME: the name is not ASCII and not marked as UTF-8, is no valid UTF-8, is empty, holds NUL, is absolute,
   holds a backslash, begins with a drive letter, or has a folder part. Where every member lies in one and the same
   folder, that is said once for all of them, and nothing is read.
2. BUNDLE_DUPLICATE: an earlier member has the same name, or one that differs in case only. Neither of them is read.
   Names are compared after lower-, upper- and again lower-casing by Unicode's full mappings.
3. BUNDLE_LINK: the Unix file type is there and is neither a file nor a folder, or the Windows attributes hold 0x400 (a
   link). BUNDLE_NAME: the type is a folder, or the attributes hold 0x10.
4. A name that no file of a run has is kept with no bytes; the verifier refuses it by its name.
5. BUNDLE_TOO_LARGE: the entry's size is over the cap of that name.
6. BUNDLE_DAMAGED: the data do not inflate to exactly the entry's size (inflating stops one byte after it), do not end
   with the deflate stream, or have another CRC-32.

BUNDLE_TOO_LARGE for the whole: more than `MAX_BUNDLE_BYTES` in the file, or sizes that add up to more than
`MAX_TOTAL_BYTES`; then nothing is read either.
"""

from __future__ import annotations

import re
import stat
import zlib
from collections.abc import Mapping, Sequence

from ragassay.errors import InputError, VerifyError
from ragassay.manifest.files import BESIDE, MAX_BYTES, MAX_TOTAL_BYTES
from ragassay.manifest.folder import RunFiles
from ragassay.manifest.zipform import (
    CENTRAL,
    CENTRAL_HEADER,
    DEFLATED,
    END,
    END_RECORD,
    FLAG_UTF8,
    LOCAL,
    LOCAL_HEADER,
    STORED,
    Member,
    read_members,
)

MAX_BUNDLE_BYTES = 64 << 20
"""The most bytes that a bundle may have."""

_CAPS = {**MAX_BYTES, **BESIDE}
_LINK, _FOLDER = 0x400, 0x10
_DATE = 1 << 5 | 1
"""1 January 1980, the first day that ZIP can name."""


def read_bundle(data: bytes) -> RunFiles:
    """Return the files of a bundle and why others were not read; whatever the bytes are, it never raises."""
    try:
        if len(data) > MAX_BUNDLE_BYTES:
            _fail("BUNDLE_TOO_LARGE", f"the bundle has {len(data)} bytes; {MAX_BUNDLE_BYTES} are allowed")
        members = read_members(data)
        total = sum(member.size for member in members)
        if total > MAX_TOTAL_BYTES:
            _fail("BUNDLE_TOO_LARGE", f"the bundle inflates to {total} bytes; {MAX_TOTAL_BYTES} are allowed")
        _refuse_one_folder(members)
    except VerifyError as error:
        return RunFiles(files={}, problems=(error,))
    return _read_all(members)


def _fail(code: str, message: str) -> None:
    raise VerifyError(message, code=code)


def _refuse_one_folder(members: Sequence[Member]) -> None:
    tops = {member.raw_name.partition(b"/")[0] for member in members if b"/" in member.raw_name}
    if len(tops) != 1 or not all(b"/" in member.raw_name for member in members):
        return
    top = tops.pop()
    if top not in (b"", b"..", b"."):
        shown = _shown(top.decode("utf-8", "backslashreplace"))
        remedy = "zip the files themselves, or use `ragassay export bundle`"
        _fail("BUNDLE_NAME", f"everything lies in the folder {shown}; {remedy}")


def _read_all(members: Sequence[Member]) -> RunFiles:
    files: dict[str, bytes] = {}
    problems: list[VerifyError] = []
    seen: dict[str, Member] = {}
    for member in members:
        try:
            name = _name(member)
            earlier = seen.setdefault(_folded(name), member)
            if earlier is not member:
                files.pop(_name(earlier), None)
                _fail("BUNDLE_DUPLICATE", f"{_shown(name)} is there twice, or differs from another name in case only")
            _check_kind(name, member)
            files[name] = _content(name, member)
        except VerifyError as error:
            problems.append(error)
    return RunFiles(files=files, problems=tuple(problems))


def _folded(name: str) -> str:
    return name.lower().upper().lower()


def _shown(name: str) -> str:
    return ascii(name[:80])


def _name(member: Member) -> str:
    shown = _shown(member.raw_name.decode("utf-8", "backslashreplace"))
    try:
        name = member.raw_name.decode("utf-8" if member.flags & FLAG_UTF8 else "ascii")
    except UnicodeDecodeError as error:
        raise VerifyError(f"the name {shown} is neither ASCII nor UTF-8 that says so", code="BUNDLE_NAME") from error
    if not name or "\0" in name:
        _fail("BUNDLE_NAME", f"the name {shown} is empty or holds NUL")
    if name.startswith("/") or "\\" in name or re.match("[A-Za-z]:", name):
        _fail("BUNDLE_NAME", f"the name {shown} is absolute or holds a backslash")
    if name.startswith("__MACOSX/"):
        _fail(
            "BUNDLE_NAME", f"{shown} was added by macOS; use `ragassay export bundle`, or `zip -X` in the run's folder"
        )
    if "/" in name or name in (".", ".."):
        _fail("BUNDLE_NAME", f"the name {shown} has a folder part; a bundle holds files only")
    return name


def _check_kind(name: str, member: Member) -> None:
    kind = stat.S_IFMT(member.attributes >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR) or member.attributes & _LINK:
        _fail("BUNDLE_LINK", f"{_shown(name)} is a link or special; a bundle holds files only")
    if kind == stat.S_IFDIR or member.attributes & _FOLDER:
        _fail("BUNDLE_NAME", f"{_shown(name)} is a folder; a bundle holds files only")


def _content(name: str, member: Member) -> bytes:
    cap = _CAPS.get(name)
    if cap is None:
        return b""  # refused by its name: its bytes are not needed
    if member.size > cap:
        _fail("BUNDLE_TOO_LARGE", f"{name} has {member.size} bytes; {cap} are allowed")
    content = bytes(member.data) if member.method == STORED else _inflate(name, member)
    if zlib.crc32(content) != member.crc:
        _fail("BUNDLE_DAMAGED", f"{name} is damaged: its CRC-32 is another")
    return content


def _inflate(name: str, member: Member) -> bytes:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = inflater.decompress(member.data, member.size + 1)
    except zlib.error as error:
        raise VerifyError(f"{name} is damaged: it cannot be inflated", code="BUNDLE_DAMAGED") from error
    if len(content) != member.size or not inflater.eof or inflater.unused_data:
        _fail("BUNDLE_DAMAGED", f"{name} is damaged: it does not inflate to the {member.size} bytes that it says")
    return content


def write_bundle(files: Mapping[str, bytes]) -> bytes:
    """Return a bundle of `files` that `read_bundle` gives back unchanged; one zlib writes the same bytes each time.

    Members stand in the order of `manifest.files`, dated 1 January 1980, mode 0644, deflated at level 9, or stored
    where that is smaller. Raises `InputError` for a name that no file of a run has, and for what is over a cap.
    """
    problems = [f"{_shown(name)} is no file of a run" for name in files if name not in _CAPS]
    problems += [
        f"{n} has {len(files[n])} bytes; {c} are allowed" for n, c in _CAPS.items() if len(files.get(n, b"")) > c
    ]
    if sum(map(len, files.values())) > MAX_TOTAL_BYTES:
        problems.append(f"all files together may have {MAX_TOTAL_BYTES} bytes")
    if problems:
        raise InputError("these files cannot be bundled", problems)
    members, directory = bytearray(), bytearray()
    ordered = [name for name in _CAPS if name in files]
    for name in ordered:
        method, stored = _deflated(files[name])
        sizes = (zlib.crc32(files[name]), len(stored), len(files[name]), len(name), 0)
        head = (20, 0, method, 0, _DATE, *sizes)
        attributes = (stat.S_IFREG | 0o644) << 16
        directory += CENTRAL_HEADER.pack(CENTRAL, 3 << 8 | 20, *head, 0, 0, 0, attributes, len(members))
        directory += name.encode("ascii")
        members += LOCAL_HEADER.pack(LOCAL, *head) + name.encode("ascii") + stored
    end = END_RECORD.pack(END, 0, 0, len(ordered), len(ordered), len(directory), len(members), 0)
    if len(members) + len(directory) + len(end) > MAX_BUNDLE_BYTES:
        raise InputError(f"the bundle would have more than the {MAX_BUNDLE_BYTES} bytes allowed; share the folder")
    return bytes(members + directory + end)


def _deflated(content: bytes) -> tuple[int, bytes]:
    deflater = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    deflated = deflater.compress(content) + deflater.flush()
    return (DEFLATED, deflated) if len(deflated) < len(content) else (STORED, content)
