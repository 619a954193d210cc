"""Hostile headers that are accepted anyway mean the same to another reader."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.manifest.bundle import read_bundle
from ragassay.manifest.files import BESIDE, MAX_BYTES
from ragassay.testing.bundle_defects import Part, pack, streamed

KNOWN = {*MAX_BYTES, *BESIDE}
NAMES = (b"config.json", b"outputs.jsonl", b"run.dsse.json", b"x")
NUMBERS = st.sampled_from([0, 1, 2, 8, 30, 0x800, 0xFFFF])


@st.composite
def some_part(draw: st.DrawFn, name: bytes) -> Part:
    """Return a member of whose headers some may lie."""
    part = Part(name=name, content=draw(st.binary(max_size=20)), method=draw(st.sampled_from([0, 8])))
    if draw(st.booleans()):
        part = streamed(part, signature=draw(st.booleans()))
    if draw(st.integers(0, 9)) == 0:
        key = draw(st.sampled_from(["flags", "method", "crc", "packed", "size"]))
        part = replace(part, local={**part.local, key: draw(NUMBERS)})
    if draw(st.integers(0, 9)) == 0:
        key = draw(st.sampled_from(["flags", "size", "attributes", "offset", "crc"]))
        changed: dict[str, Any] = {key: draw(NUMBERS)}
        part = replace(part, **changed)
    return part


@settings(max_examples=400)
@given(data=st.data())
def test_what_is_accepted_means_the_same_to_zipfile(data: st.DataObject) -> None:
    """Names and bytes are those that the standard library reads."""
    names = data.draw(st.lists(st.sampled_from(NAMES), max_size=3))
    end: dict[str, Any] = data.draw(
        st.just({}) | st.dictionaries(st.sampled_from(["here", "count", "size", "offset"]), NUMBERS)
    )
    archive_bytes = pack([data.draw(some_part(name)) for name in names], **end)
    read = read_bundle(archive_bytes)
    if read.problems:
        return
    with zipfile.ZipFile(io.BytesIO(archive_bytes)) as archive:
        assert archive.namelist() == list(read.files)
        for name, content in read.files.items():
            assert name not in KNOWN or archive.read(name) == content
