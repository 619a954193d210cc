"""Bundles with one defect each, made from good files, and the reason codes that reading them must give."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragassay.manifest.files import CONFIG, MANIFEST, MAX_BYTES, MAX_MEMBERS, MAX_TOTAL_BYTES, OUTPUTS

FILE = 0o100644 << 16
UTF8 = 1 << 11
DESCRIPTOR = 1 << 3
TIMES = struct.pack("<2HB4s", 0x5455, 5, 1, b"\0\0\0\0")


@dataclass(frozen=True, kw_only=True)
class Part:
    """One member and every field of its two headers; None stands for the honest value."""

    name: bytes
    content: bytes = b""
    method: int = 8
    flags: int = 0
    data: bytes | None = None
    crc: int | None = None
    size: int | None = None
    extra: bytes = b""
    comment: bytes = b""
    disk: int = 0
    attributes: int = FILE
    offset: int | None = None
    local: Mapping[str, Any] = field(default_factory=dict)
    """Fields that the local header says otherwise: name, flags, method, crc, packed, size, extra."""
    after: bytes = b""
    """Bytes between this member and what follows."""

    def packed(self) -> bytes:
        """The member's bytes as they stand in the file."""
        if self.data is not None:
            return self.data
        if self.method != 8:
            return self.content
        deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
        return deflater.compress(self.content) + deflater.flush()

    def sizes(self) -> tuple[int, int, int]:
        """CRC-32, packed size, size."""
        crc = zlib.crc32(self.content) if self.crc is None else self.crc
        return crc, len(self.packed()), len(self.content) if self.size is None else self.size


def pack(parts: Sequence[Part], *, before: bytes = b"", gap: bytes = b"", rest: bytes = b"", **end: int) -> bytes:
    """Return a ZIP file of `parts`; `end` overrides fields of the end record."""
    members, directory = bytearray(before), bytearray()
    for part in parts:
        crc, packed, size = part.sizes()
        offset = len(members) if part.offset is None else part.offset
        said: dict[str, Any] = {"name": part.name, "flags": part.flags, "method": part.method, "extra": part.extra}
        said |= {"crc": crc, "packed": packed, "size": size} | dict(part.local)
        head = (20, said["flags"], said["method"], 0, 33, said["crc"], said["packed"], said["size"])
        members += struct.pack("<4s5H3I2H", b"PK\3\4", *head, len(said["name"]), len(said["extra"]))
        members += said["name"] + said["extra"] + part.packed() + part.after
        lengths = (len(part.name), len(part.extra), len(part.comment))
        entry = (788, 20, part.flags, part.method, 0, 33, crc, packed, size)
        directory += struct.pack("<4s6H3I5H2I", b"PK\1\2", *entry, *lengths, part.disk, 0, part.attributes, offset)
        directory += part.name + part.extra + part.comment
    members += gap
    directory += rest
    said_end = {"disk": 0, "directory_disk": 0, "here": len(parts), "count": len(parts)}
    said_end |= {"size": len(directory), "offset": len(members), "comment": 0} | end
    return bytes(members + directory + struct.pack("<4s4H2IH", b"PK\5\6", *said_end.values()))


def streamed(part: Part, *, signature: bool = True, **wrong: int) -> Part:
    """Return the member as a writer to a pipe writes it: sizes after the data."""
    said = dict(zip(("crc", "packed", "size"), part.sizes(), strict=True)) | wrong
    after = (b"PK\7\10" if signature else b"") + struct.pack("<3I", *said.values())
    local = {"crc": 0, "packed": 0, "size": 0}
    return replace(part, flags=part.flags | DESCRIPTOR, local=local, after=after)


def parts_of(files: Mapping[str, bytes]) -> list[Part]:
    """Return honest members of `files`."""
    return [Part(name=name.encode(), content=content) for name, content in files.items()]


def defects(files: Mapping[str, bytes]) -> dict[str, tuple[bytes, set[str]]]:
    """Return bundles of a run by the name of their only defect, with the codes that must come of it."""
    groups = {
        "BUNDLE_NAME": _bad_names(files),
        "BUNDLE_DUPLICATE": _duplicates(files),
        "BUNDLE_LINK": _links(files),
        "BUNDLE_TOO_LARGE": _too_large(),
        "BUNDLE_DAMAGED": _bad_ends(files) | _bad_members(files) | _bad_contents(files) | _ways_of_being_else(files),
    }
    return {f"{code}-{name}": (data, {code}) for code, group in groups.items() for name, data in group.items()}


def _with(files: Mapping[str, bytes], *added: Part) -> bytes:
    return pack([*parts_of(files), *added])


def _first(files: Mapping[str, bytes], **changed: Any) -> bytes:
    first, *others = parts_of(files)
    return pack([replace(first, **changed), *others])


def _bad_names(files: Mapping[str, bytes]) -> dict[str, bytes]:
    names = {
        "parent": b"../run.dsse.json",
        "parent-inside": b"a/../../run.dsse.json",
        "absolute": b"/etc/passwd",
        "backslash": b"..\\run.dsse.json",
        "drive": b"C:run.dsse.json",
        "nul": b"run.dsse.json\0.txt",
        "empty": b"",
        "dot": b".",
        "dot-dot": b"..",
        "folder-part": b"keys/run.pem",
        "folder-entry": b"keys/",
        "added-by-macos": b"__MACOSX/._run.dsse.json",
        "not-ascii-and-not-marked": "ü".encode(),
    }
    bad = {name: _with(files, Part(name=raw)) for name, raw in names.items()}
    bad["no-utf-8-though-marked"] = _with(files, Part(name=b"\xff\xfe", flags=UTF8))
    bad["folder-by-unix-mode"] = _with(files, Part(name=b"keys", attributes=0o040755 << 16))
    bad["folder-by-windows-attribute"] = _with(files, Part(name=b"keys", attributes=0x10))
    bad["all-in-one-folder"] = pack([replace(part, name=b"run/" + part.name) for part in parts_of(files)])
    bad["all-in-one-folder-with-its-entry"] = pack(
        [Part(name=b"run/", method=0), *(replace(part, name=b"run/" + part.name) for part in parts_of(files))]
    )
    return bad


def _duplicates(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {
        "same-bytes": _with(files, parts_of(files)[0]),
        "other-bytes": _with(files, Part(name=OUTPUTS.encode(), content=b"other")),
        "other-case": _with(files, Part(name=b"OUTPUTS.jsonl", content=b"other")),
        "other-case-of-unicode": _with(files, Part(name="output\u017f.jsonl".encode(), flags=UTF8)),
        "unknown-name-of-one-letter": _with(files, Part(name=b"x"), Part(name=b"x")),
        "sharp-s": _with(files, Part(name="ß".encode(), flags=UTF8), Part(name=b"SS")),
    }


def _links(files: Mapping[str, bytes]) -> dict[str, bytes]:
    kinds = {"symlink": 0o120777, "pipe": 0o010644, "device": 0o020644, "block-device": 0o060644, "socket": 0o140644}
    bad = {name: _first(files, attributes=mode << 16) for name, mode in kinds.items()}
    bad["symlink-of-unknown-name"] = _with(files, Part(name=b"x", content=b"/etc/passwd", attributes=0o120777 << 16))
    bad["windows-link"] = _first(files, attributes=0x400)
    return bad


def _too_large() -> dict[str, bytes]:
    zeros = bytes(MAX_BYTES[CONFIG] + 1)
    return {
        "too-many-members": pack([Part(name=b"%d" % i, method=0) for i in range(MAX_MEMBERS + 1)]),
        "bomb-that-says-its-size": pack([Part(name=CONFIG.encode(), content=zeros)]),
        "stored-over-the-cap": pack([Part(name=CONFIG.encode(), content=zeros, method=0)]),
        "size-over-the-cap-is-a-lie": pack([Part(name=MANIFEST.encode(), size=MAX_BYTES[MANIFEST] + 1)]),
        "all-together": pack([Part(name=name, size=MAX_TOTAL_BYTES // 2 + 1) for name in (b"a", b"b")]),
    }


def _bad_ends(files: Mapping[str, bytes]) -> dict[str, bytes]:
    good = pack(parts_of(files))
    directory = good.index(b"PK\1\2")
    return {
        "empty": b"",
        "no-zip": b"\x1f\x8b\x08" + bytes(100),
        "cut-in-a-member": good[: directory // 2],
        "cut-before-the-directory": good[:directory],
        "cut-in-the-directory": good[: directory + 60],
        "cut-by-one-byte": good[:-1],
        "byte-after-the-end": good + b"\0",
        "comment": pack(parts_of(files), comment=5) + b"hello",
        "comment-length-without-comment": pack(parts_of(files), comment=5),
        "two-archives-in-a-row": good + good,
        "end-record-in-a-comment": pack(parts_of(files), comment=len(good)) + good,
        "prepended": pack(parts_of(files), before=b"#!/bin/sh\n"),
        "prepended-like-a-member": pack(parts_of(files), before=b"PK\3\4" + bytes(40)),
        "prepended-and-offsets-not-moved": b"PK\3\4" + bytes(40) + good,
        "gap-before-the-directory": pack(parts_of(files), gap=b"hidden"),
        "directory-holds-more": pack(parts_of(files), rest=b"hidden"),
        "directory-size-too-small": pack(parts_of(files), size=len(good) - directory - 23),
        "directory-offset-outside": pack(parts_of(files), offset=len(good) + 1),
        "count-too-low": pack(parts_of(files), here=len(files) - 1, count=len(files) - 1),
        "count-too-high": pack(parts_of(files), here=len(files) + 1, count=len(files) + 1),
        "counts-disagree": pack(parts_of(files), here=len(files) - 1),
        "several-disks": pack(parts_of(files), disk=1),
        "directory-on-another-disk": pack(parts_of(files), directory_disk=1),
        "zip64-count": pack(parts_of(files), here=0xFFFF, count=0xFFFF),
        "zip64-offset": pack(parts_of(files), offset=0xFFFFFFFF),
        "zip64-end-record": pack(parts_of(files), rest=b"PK\6\6" + bytes(52) + b"PK\6\7" + bytes(16)),
    }


def _bad_members(files: Mapping[str, bytes]) -> dict[str, bytes]:
    first, second, *others = parts_of(files)
    end_of_first = 30 + len(first.name) + len(first.packed())
    inside = Part(name=b"x", content=b"x", method=0)
    bad = {
        "gap-between-members": _first(files, after=b"hidden"),
        "hidden-member-between": _first(files, after=pack([inside])[:32]),
        "two-entries-one-member": pack([first, replace(first, name=b"twin", offset=0), second, *others]),
        "entries-in-another-order": pack([replace(first, offset=end_of_first), replace(second, offset=0), *others]),
        "member-outside": pack([first, replace(second, offset=1 << 30), *others]),
        "last-member-in-the-directory": pack([first, replace(second, offset=end_of_first + 1_000_000)]),
        "overlap": pack([first, replace(second, offset=end_of_first - 1), *others]),
    }
    said = {
        "name": b"run.dsse.jsom",
        "longer-name": b"run.dsse.json.",
        "flags": 2,
        "method": 0,
        "crc": 0,
        "packed": len(first.packed()) - 1,
        "size": 0,
    }
    for what, value in said.items():
        bad[f"local-{what}-differs"] = _first(files, local={what.removeprefix("longer-"): value})
    bad["member-in-the-last-bytes"] = _member_in_the_last_bytes()
    bad["local-signature"] = (good := pack(parts_of(files)))[:3] + b"\5" + good[4:]
    return bad


def _member_in_the_last_bytes() -> bytes:
    """Return a bundle whose first member spans the directory, the second begins 26 bytes before the end."""
    first = Part(name=CONFIG.encode(), content=b"{}", method=0)
    second, third = Part(name=b"y", method=0), Part(name=b"x" * 20 + b"PK\3\4", method=0, offset=1 << 30)
    offset = len(pack([first, second, third])) - 26
    data = bytearray(pack([first, replace(second, offset=offset), third]))
    for at in (18, 22, (directory := data.index(b"PK\1\2")) + 20, directory + 24):
        data[at : at + 4] = struct.pack("<I", offset - 30 - len(first.name))
    return bytes(data)


def _bad_contents(files: Mapping[str, bytes]) -> dict[str, bytes]:
    first, *others = parts_of(files)
    packed = first.packed()
    bomb = Part(name=OUTPUTS.encode(), content=bytes(50 << 20))
    return {
        "wrong-crc": _first(files, crc=1),
        "wrong-bytes": _first(files, method=0, data=first.content[:-1] + b"!"),
        "size-too-small": _first(files, size=len(first.content) - 1),
        "size-too-large": _first(files, size=len(first.content) + 1),
        "size-zero": _first(files, size=0),
        "stored-with-two-sizes": _first(files, method=0, size=len(first.content) + 1),
        "bomb-that-hides-its-size": pack([replace(bomb, size=100)]),
        "bomb-with-the-crc-of-what-it-says": pack([replace(bomb, size=100, crc=zlib.crc32(bytes(100)))]),
        "bytes-after-the-stream": _first(files, data=packed + b"hidden"),
        "stream-cut-off": _first(files, data=packed[:-1]),
        "no-stream": _first(files, data=b""),
        "no-deflate": _first(files, data=b"\xff" * 20),
        "zlib-wrapper": _first(files, data=zlib.compress(first.content)),
        "wrong-descriptor-crc": pack([streamed(first, crc=1), *others]),
        "wrong-descriptor-size": pack([streamed(first, size=1, signature=False), *others]),
        "descriptor-missing": pack([replace(streamed(first), after=b""), *others]),
        "descriptor-cut-off": pack([replace(streamed(first), after=streamed(first).after[:-1]), *others]),
        "descriptor-of-zip64": pack([replace(streamed(first), after=b"PK\7\10" + bytes(20)), *others]),
        "descriptor-not-announced": _first(files, after=streamed(first).after),
        "descriptor-and-wrong-local-size": pack(
            [replace(streamed(first), local={"crc": 0, "packed": 7, "size": 0}), *others]
        ),
    }


def _ways_of_being_else(files: Mapping[str, bytes]) -> dict[str, bytes]:
    zip64 = struct.pack("<2H2Q", 1, 16, 1, 1)
    other_name = struct.pack("<2HBI", 0x7075, 6, 1, 0) + b"x"
    flags = {
        "encrypted": 1,
        "strongly-encrypted": 1 | 1 << 6,
        "masked-headers": 1 << 13,
        "patch": 1 << 5,
        "bit-15": 1 << 15,
    }
    bad = {name: _first(files, flags=value) for name, value in flags.items()}
    for method in (1, 9, 12, 14, 93, 99):
        bad[f"method-{method}"] = _first(files, method=method)
    bad |= {
        "zip64-field": _first(files, extra=zip64),
        "zip64-field-local": _first(files, local={"extra": zip64}),
        "zip64-size": _first(files, size=0xFFFFFFFF),
        "another-name-in-an-extra-field": _first(files, extra=other_name),
        "another-name-in-a-local-extra-field": _first(files, local={"extra": other_name}),
        "aes": _first(files, extra=struct.pack("<2H7s", 0x9901, 7, bytes(7))),
        "extra-field-cut-off": _first(files, extra=TIMES[:-1]),
        "extra-field-of-three-bytes": _first(files, extra=TIMES + b"\0\0\0"),
        "member-comment": _first(files, comment=b"hidden"),
        "member-on-another-disk": _first(files, disk=1),
    }
    return bad
