"""Which sets stand frozen in a folder under the names that a set would get: its own versions, and those of others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragassay.errors import VerifyError
from ragassay.manifest.item_set import MAX_ITEM_MANIFEST_BYTES, decode_items, items_file, set_file, set_slug
from ragassay.manifest.log_disk import read_file
from ragassay.question.printable import printable
from ragassay.question.versions import DRAFT, raised
from ragassay.records import Benchmark
from ragassay.run.question_sets.frozen import frozen_versions


def own_versions(folder: Path, name: str) -> list[str]:
    """Return the frozen versions of the set of that very name in a folder, lowest first.

    A manifest that cannot be read counts: nobody knows that it is of another set.
    """
    return [one for one in frozen_versions(folder, name) if _named(folder, name, one) in (None, name)]


def other_set(folder: Path, name: str, versions: Sequence[str]) -> str | None:
    """Return what to do where one of `versions` is of a set with another name that gives the same file names."""
    for version in versions:
        found = _named(folder, name, version)
        if found not in (None, name):
            return (
                f"{folder / set_file(name, version)} is another set, {printable(str(found))!r}: its name and "
                f"{printable(name)!r} give the same file name, {set_slug(name)}; name another folder with --out"
            )
    return None


def copy_of(file: Path, benchmark: Benchmark) -> Path | None:
    """Return the frozen file beside an editable copy that `questions bump` made it of, None where none stands there."""
    if not benchmark.version.endswith(DRAFT):
        return None
    versions = own_versions(file.parent, benchmark.name)
    made = [one for one in versions if raised(one, "patch") + DRAFT == benchmark.version]
    return file.parent / set_file(benchmark.name, made[0]) if made else None


def _named(folder: Path, name: str, version: str) -> str | None:
    """Return the name of the set that an item manifest signs, None where it cannot be read."""
    data = read_file(folder / items_file(name, version), MAX_ITEM_MANIFEST_BYTES)
    try:
        return None if data is None else decode_items(data).predicate.benchmark.name
    except VerifyError:
        return None
