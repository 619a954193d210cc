"""Whether a run that is about to be written could be read again by those who verify it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from ragassay.canon import NotCanonical
from ragassay.errors import VerifyError, legible
from ragassay.manifest.decode import decode_run
from ragassay.manifest.files import BESIDE, MAX_BYTES, MAX_TOTAL_BYTES


def unreadable(files: Mapping[str, bytes]) -> str | None:
    """Return why every reader would refuse these files as a run, whatever they say; None where none would."""
    caps = {**MAX_BYTES, **BESIDE}
    for name, data in files.items():
        if len(data) > caps[name]:
            return f"{name} has {len(data)} bytes, more than the {caps[name]} allowed"
    if (total := sum(map(len, files.values()))) > MAX_TOTAL_BYTES:
        return f"its files have {total} bytes together, more than the {MAX_TOTAL_BYTES} allowed"
    try:
        decode_run(files)
    except (VerifyError, NotCanonical) as error:
        return legible(error)
    return None
