"""A run as one file beside its page and, where it is small enough, inside the page that checks it. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping

import msgspec

from ragassay.errors import InputError
from ragassay.manifest.bundle import write_bundle

MAX_EMBEDDED_BYTES = 8 << 20
"""The most bytes of a bundle that stands inside its page."""


class RunBundle(msgspec.Struct, frozen=True, kw_only=True):
    """The bundle of a run, None where its files are too large for one; `text` is its base64 where the page holds it."""

    data: bytes | None
    text: str | None

    @property
    def size(self) -> str:
        """The size of the bundle in words."""
        count = len(self.data or b"")
        return f"{count / (1 << 20):.1f} MiB" if count >= 1 << 20 else f"{-(-count >> 10)} KiB"


def run_bundle(files: Mapping[str, bytes]) -> RunBundle:
    """Return the bundle of a run's files."""
    try:
        data = write_bundle(files)
    except InputError:
        return RunBundle(data=None, text=None)
    small = len(data) <= MAX_EMBEDDED_BYTES
    return RunBundle(data=data, text=base64.b64encode(data).decode("ascii") if small else None)
