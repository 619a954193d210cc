"""Content codings undone piece by piece under a cap, so that a small body cannot become a large one. Pure."""

from __future__ import annotations

import zlib

ACCEPTED = "gzip, deflate"
"""What is asked for; a server that sends another coding is not read."""
_PIECE = 64 * 1024
_MOST_MEMBERS = 1_000


class TooLarge(Exception):
    """The bytes are more than the cap."""


class Damaged(Exception):
    """The bytes are not in the coding that the server named, or end before it does."""


class UnknownCoding(Exception):
    """The server named a coding that was not asked for."""


class Body:
    """Collects a body: `add` its pieces as they come, then take it whole from `finish`."""

    def __init__(self, coding: str, cap: int) -> None:
        """Make ready for one coding; raises `UnknownCoding`."""
        self._cap = cap
        self._kept = bytearray()
        self._coding = coding.strip().lower()
        self._received = 0
        self._members = 0
        self._inflater = self._begin(zlib.MAX_WBITS | 16)
        if self._coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise UnknownCoding(f"content coding {self._coding[:40]!r} was not asked for")

    def add(self, piece: bytes) -> None:
        """Take the next piece; raises `TooLarge` as soon as it is known, and `Damaged`."""
        if self._coding in ("", "identity"):
            self._keep(piece)
            return
        if not self._received and self._coding == "deflate" and piece:
            self._inflater = self._begin(zlib.MAX_WBITS if piece[0] & 0x0F == 8 else -zlib.MAX_WBITS)
        self._received += len(piece)
        if self._received > self._cap:
            raise TooLarge
        while piece:
            piece = self._inflate(piece)

    def finish(self) -> bytes:
        """Return the whole body; raises `Damaged` where its coding says that more was to come."""
        if self._received and not self._inflater.eof:
            raise Damaged("the compressed body ends too early")
        return bytes(self._kept)

    def so_far(self) -> bytes:
        """Return what was taken before the cap."""
        return bytes(self._kept)

    def _begin(self, window: int) -> zlib._Decompress:
        return zlib.decompressobj(window)

    def _inflate(self, piece: bytes) -> bytes:
        if self._inflater.eof:
            if self._coding == "deflate" or not piece.strip(b"\0"):
                return b""
            self._members += 1
            if self._members > _MOST_MEMBERS:
                raise Damaged(f"the compressed body has more than {_MOST_MEMBERS} parts")
            self._inflater = self._begin(zlib.MAX_WBITS | 16)
        try:
            self._keep(self._inflater.decompress(piece, _PIECE))
        except zlib.error as error:
            raise Damaged(f"the compressed body is damaged: {error}") from error
        return self._inflater.unused_data or self._inflater.unconsumed_tail

    def _keep(self, piece: bytes) -> None:
        if len(self._kept) + len(piece) > self._cap:
            self._kept += piece[: self._cap - len(self._kept)]
            raise TooLarge
        self._kept += piece
