"""What a workspace remembers of its own log outside of the log's folder, so that an older copy of it is noticed."""

from __future__ import annotations

from pathlib import Path

from ragassay.errors import InputError, VerifyError
from ragassay.manifest.checkpoint import SignedCheckpoint, parse_checkpoint
from ragassay.manifest.log_disk import read_file, write_files
from ragassay.manifest.note import MAX_NOTE_BYTES

SEEN = "log.checkpoint"
"""The file, beside the folder of a workspace's log, that holds the last state which was signed here."""


class SeenLog:
    """The last state of a log that was signed here, kept in the file `path`; with no file nothing is remembered."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def state(self) -> SignedCheckpoint | None:
        """Return it, None where nothing is remembered; raises `InputError` for a file that is no checkpoint."""
        data = read_file(self.path, MAX_NOTE_BYTES) if self.path is not None else None
        try:
            found = None if data is None else parse_checkpoint(data)
        except VerifyError as error:
            raise InputError(
                f"{self.path} is damaged: {error}. Restore it from a copy; it keeps a log from forking"
            ) from error
        return found if found is not None and found.size else None

    def remember(self, signed: SignedCheckpoint) -> None:
        """Keep this state where it is later than the one that is kept."""
        before = self.state()
        if self.path is not None and (before is None or before.size < signed.size):
            write_files(self.path.parent, {self.path.name: signed.data})
