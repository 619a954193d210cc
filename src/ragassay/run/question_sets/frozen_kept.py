"""What a workspace keeps of frozen sets that its runs asked: their item manifests, and so their names and versions."""

from __future__ import annotations

from pathlib import Path

from ragassay.errors import InputError, VerifyError
from ragassay.manifest.item_set import ITEMS_FOLDER, MAX_ITEM_MANIFEST_BYTES, decode_items
from ragassay.manifest.item_statement import QuestionSetPredicate
from ragassay.manifest.log_disk import read_file
from ragassay.records import Benchmark
from ragassay.run.question_sets.frozen import NEXT


def check_name_free(root: Path, benchmark: Benchmark) -> None:
    """Raise `InputError` where a workspace keeps the item manifest of another set of this name and version.

    A version of a frozen set is one file for good. Without this an altered one would pass as it once its manifest is
    taken away.
    """
    about = benchmark.name, benchmark.version
    for path in sorted((root / ITEMS_FOLDER).glob("*.dsse.json")):
        kept = _kept(path)
        if kept is None or (kept.benchmark.name, kept.benchmark.version) != about:
            continue
        if kept.benchmark.digest.sha256 != benchmark.digest():
            raise InputError(
                f"the question set calls itself {benchmark.name} {benchmark.version}, and a run of this workspace "
                f"asked another one of that name and version, frozen ({path}); {NEXT}, or give the set another name"
            )


def _kept(path: Path) -> QuestionSetPredicate | None:
    """Return what a kept item manifest says; None where it is not the bytes that its name is the SHA-256 of."""
    try:
        data = read_file(path, MAX_ITEM_MANIFEST_BYTES)
        signed = None if data is None else decode_items(data)
    except (InputError, VerifyError):
        return None  # no run can name these bytes: they are none of ours
    if signed is None or f"{signed.digest}.dsse.json" != path.name or not signed.signed_by_named():
        return None
    return signed.predicate
