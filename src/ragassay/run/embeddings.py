"""Chunk vectors kept on disk by everything that shapes them, so that a second run embeds no chunk.

A question is embedded each time it is asked: its time is part of the time that a search takes.

A store is a folder of segments beside `embedder.json`, which says whose they are. A segment is written once, whole,
under the SHA-256 of its own bytes: a crash leaves either no segment or a good one, two writers never touch one file,
and a damaged one is noticed and embedded again.

```
8 bytes magic · uint32 dimension · uint32 n · n × 32 bytes key · n × dimension × float32   (little-endian)
```
"""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragassay import canon
from ragassay.errors import InputError, PluginError
from ragassay.records import JSON
from ragassay.seams import Embedder

MAGIC = b"RAEMBED1"
STORES = "embeddings"
"""The folder of all stores inside a workspace's cache."""
ABOUT = "embedder.json"
"""The embedder's description inside its store: for whoever looks at the folder, nothing reads it to find a row."""
_HEADER = struct.Struct("<8sII")
_KEY_BYTES = 32

Row = NDArray[np.float32]


class CachedEmbedder:
    """An embedder whose rows are looked up first in `<folder>/<digest of its description>/`; safe between threads.

    `embedded`, `reused` and `damaged` count the texts that the embedder was asked for, those answered from the store,
    and the segments that were refused. Questions go to the embedder itself and are not counted.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._root = folder
        self._lock = threading.Lock()
        self._rows: dict[bytes, Row] | None = None
        self._identity = ""
        self._counted: dict[str, int] = {}
        self.count_truncated = self._count_truncated if hasattr(embedder, "count_truncated") else None
        """Counts the texts that are longer than the embedder reads, each list once; None when it cannot say."""
        self.embedded = 0
        self.reused = 0
        self.damaged = 0

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
        """Return one row per text in order, embedding each unknown text once; shape as the embedder's own.

        Raises what the embedder raises, `PluginError` for rows of a wrong shape, `InputError` when the store cannot
        be written.
        """
        if not texts or kind == "query":
            return self._embedder.embed(texts, kind)
        rows = self._open()
        keys = [self._key(text, kind) for text in texts]
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in rows}
        if unknown:
            self._add(unknown, self._embedder.embed(list(unknown.values()), kind))
        with self._lock:
            self.embedded += len(unknown)
            self.reused += len(texts) - len(unknown)
            return np.stack([rows[key] for key in keys])

    def describe(self) -> JSON:
        """Return the embedder's own description: where a row came from changes nothing."""
        return self._embedder.describe()

    def _count_truncated(self, texts: Sequence[str]) -> int:
        name = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
        if name not in self._counted:
            self._counted[name] = int(getattr(self._embedder, "count_truncated")(texts))  # noqa: B009
        return self._counted[name]

    def _open(self) -> dict[bytes, Row]:
        with self._lock:
            if self._rows is None:
                self._identity = canon.digest(self._embedder.describe())
                self._rows = {}
                for path in sorted(self._folder().glob("*.rows")):
                    self._load(path, self._rows)
            return self._rows

    def _folder(self) -> Path:
        return self._root / self._identity

    def _key(self, text: str, kind: str) -> bytes:
        return _key_of(self._identity, text, kind)

    def _load(self, path: Path, rows: dict[bytes, Row]) -> None:
        """Add a segment's rows, or count it as damaged and remove it: it is embedded again."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot read the embedding store {path}: {error}") from error
        segment = decode(data) if canon.sha256(data) == path.stem else None
        if segment is None:
            self.damaged += 1
            path.unlink(missing_ok=True)
            return
        rows.update(segment)

    def _add(self, unknown: dict[bytes, str], matrix: NDArray[np.float32]) -> None:
        matrix = np.ascontiguousarray(matrix, dtype=np.float32)
        if matrix.ndim != 2 or matrix.shape[0] != len(unknown) or matrix.shape[1] == 0:
            raise PluginError(f"the embedder returned shape {matrix.shape} for {len(unknown)} texts")
        if not np.isfinite(matrix).all():
            raise PluginError("the embedder returned a vector that holds NaN or infinity; nothing was stored")
        with self._lock:
            fresh = dict(zip(unknown, matrix, strict=True))
            assert self._rows is not None
            self._rows.update(fresh)
            self._write(fresh)

    def _write(self, fresh: dict[bytes, Row]) -> None:
        data = encode(fresh)
        folder = self._folder()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / ABOUT).exists():
                _write_atomically(canon.canonical(self._embedder.describe()), folder / ABOUT)
            _write_atomically(data, folder / f"{canon.sha256(data)}.rows")
        except OSError as error:
            raise InputError(f"cannot write the embedding store {folder}: {error}; free space or move it") from error


def missing(root: Path, identity: str, texts: Iterable[str]) -> int:
    """Return of how many different texts the store of an embedder, by its description's digest, holds no row.

    Nothing is written: a damaged segment counts as absent and stays.
    """
    held: set[bytes] = set()
    for path in sorted((root / identity).glob("*.rows")):
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot read the embedding store {path}: {error}") from error
        if canon.sha256(data) == path.stem:
            held |= (decode(data) or {}).keys()
    return sum(_key_of(identity, text, "document") not in held for text in set(texts))


def _key_of(identity: str, text: str, kind: str) -> bytes:
    return hashlib.sha256(f"{identity}\0{kind}\0{text}".encode("utf-8", "surrogatepass")).digest()


def encode(rows: dict[bytes, Row]) -> bytes:
    """Return the bytes of one segment; all rows have the same length."""
    matrix = np.stack(list(rows.values())).astype("<f4")
    return _HEADER.pack(MAGIC, matrix.shape[1], matrix.shape[0]) + b"".join(rows) + matrix.tobytes()


def decode(data: bytes) -> dict[bytes, Row] | None:
    """Return a segment's rows by key, None when the bytes are no segment."""
    if len(data) < _HEADER.size:
        return None
    magic, dimension, count = _HEADER.unpack_from(data)
    body = _HEADER.size + count * _KEY_BYTES
    if magic != MAGIC or len(data) != body + count * dimension * 4:
        return None
    matrix = np.frombuffer(data, dtype="<f4", offset=body).reshape(count, dimension).astype(np.float32)
    keys = [data[at : at + _KEY_BYTES] for at in range(_HEADER.size, body, _KEY_BYTES)]
    return dict(zip(keys, matrix, strict=True))


def _write_atomically(data: bytes, path: Path) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".partial-", delete=False) as stream:
        partial = Path(stream.name)
        try:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
