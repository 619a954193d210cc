"""Reads the item manifests that a workspace keeps, each under the SHA-256 by which runs name it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest.item_set import MAX_ITEM_MANIFEST_BYTES, items_kept_at
from ragassay.manifest.log_disk import read_file
from ragassay.site.frozen import manifest_of
from ragassay.site.loaded import LoadedRun


def with_items(run: LoadedRun, workspace: Path) -> LoadedRun:
    """Return a run with the item manifest that it names, where the workspace keeps exactly these bytes."""
    digest = manifest_of(run)
    if digest is None:
        return run
    try:
        data = read_file(workspace / items_kept_at(digest), MAX_ITEM_MANIFEST_BYTES)
    except InputError:
        return run  # the board says that it is not kept
    return msgspec.structs.replace(run, items=data) if data is not None and canon.sha256(data) == digest else run
