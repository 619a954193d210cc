"""Which rows of a workspace were measured on a version of a question set that has a successor."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ragassay.errors import InputError, VerifyError
from ragassay.manifest import dsse
from ragassay.manifest.decode import decode_statement
from ragassay.manifest.files import MANIFEST, MAX_BYTES
from ragassay.manifest.log_disk import read_file


def rows_measured_on(runs: Path, digest: str) -> dict[str, int]:
    """Return the rows with runs on the question set of that digest, and how many, in the order of their names.

    Nothing is verified; a run that cannot be read is passed over.
    """
    found: Counter[str] = Counter()
    for folder in sorted(runs.iterdir()) if runs.is_dir() else []:
        try:
            data = read_file(folder / MANIFEST, MAX_BYTES[MANIFEST])
            if data is None:
                continue
            envelope = dsse.decode_envelope(data)
            predicate = decode_statement(envelope.payload_type, dsse.decode_base64(envelope.payload)).predicate
        except (InputError, VerifyError):
            continue
        found[predicate.row.name] += predicate.benchmark.digest.sha256 == digest
    return {row: count for row, count in sorted(found.items()) if count}
