"""A log in a folder of plain files that any web server can serve as it is; it only ever grows.

Beside the files of `tiles` it holds `vkey` (the log's public key), `witnessed/<size>.checkpoint` (each state that a
witness cosigned), `.lock`, and `.signed`: the last checkpoint that was signed, written when all its tiles are there
and before `checkpoint` is. A process that is killed thus leaves a log that is sound as it stands, and the next one
publishes what was signed.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ragassay.errors import InputError, VerifyError
from ragassay.manifest.checkpoint import Checkpoint, SignedCheckpoint, parse_checkpoint, sign_checkpoint
from ragassay.manifest.log_disk import locked, read_file, write_files, writing
from ragassay.manifest.log_seen import SeenLog
from ragassay.manifest.note import (
    MAX_NOTE_BYTES,
    NoteKey,
    NoteSignature,
    add_signatures,
    name_problem,
    note_key,
    parse_vkey,
    signature_line,
)
from ragassay.manifest.proof import Proof, encode_proof
from ragassay.manifest.sign import Signer
from ragassay.manifest.tile_tree import TileTree
from ragassay.manifest.tiles import (
    CHECKPOINT,
    MAX_ENTRY_BYTES,
    WIDTH,
    LogView,
    bundle_path,
    bundles_of,
    decode_bundle,
    encode_bundle,
    hash_tiles_of,
    read_log,
    widths,
)
from ragassay.manifest.tree import EMPTY_ROOT, leaf_hash, root_from_inclusion

VKEY = "vkey"
SIGNED = ".signed"
LOCK = ".lock"
WITNESSED = "witnessed"
ORIGIN = "ragassay.dev/log"
MAX_BUNDLE_BYTES = WIDTH * (MAX_ENTRY_BYTES + 2)

_RESTORE = (
    "Restore the newest copy of the folder: what is appended to this one would fork the log. Where no copy is left, go "
    "on in a new workspace with a new log key"
)
_WITNESSED_NAME = re.compile(r"(0|[1-9][0-9]{0,15})\.checkpoint")


def default_origin(signer: Signer) -> str:
    """Return the origin of a log that was given none: it holds the first 16 characters of the key's fingerprint."""
    return f"{ORIGIN}/{signer.kid[:16]}"


class LogFolder:
    """The log in the folder `path`; `origin` is chosen when its first entry is appended, and stays.

    `seen` is a file outside of the folder that remembers the last state which was signed: a folder that was deleted or
    put back to an older copy is then not appended to.
    """

    def __init__(self, path: Path, origin: str | None = None, seen: Path | None = None) -> None:
        self.path = path
        self._origin = origin
        self._seen = SeenLog(seen)
        self._known: tuple[tuple[int, bytes], dict[bytes, int]] = ((0, EMPTY_ROOT), {})

    @property
    def exists(self) -> bool:
        """Whether there is a log."""
        return (self.path / CHECKPOINT).is_file()

    @property
    def origin(self) -> str:
        """The log's name; raises `InputError` where there is no log yet, as all that follow do."""
        return self.checkpoint().origin

    @property
    def vkey(self) -> str:
        """The log's public key as one line of text."""
        data = read_file(self.path / VKEY, MAX_NOTE_BYTES)
        if data is None:
            raise InputError(f"{self.path / VKEY} is missing; the next entry that is appended writes it again")
        return parse_vkey(data.decode("utf-8", "replace")).vkey()

    def checkpoint(self) -> SignedCheckpoint:
        """Return the published checkpoint, its signature unchecked; raises `VerifyError` where it is none."""
        data = read_file(self.path / CHECKPOINT, MAX_NOTE_BYTES)
        if data is None:
            raise InputError(f"there is no log in {self.path}; `ragassay run` begins one")
        return parse_checkpoint(data)

    def view(self) -> LogView:
        """Return all entries, checked against the checkpoint and the hash tiles; raises `VerifyError`."""
        signed = self.checkpoint()
        files = {CHECKPOINT: signed.data}
        for number, width in widths(signed.size):
            before = len(files)
            for path in (bundle_path(number, width), bundle_path(number)):
                if path not in files and (found := read_file(self.path / path, MAX_BUNDLE_BYTES)) is not None:
                    files[path] = found
            if len(files) == before:
                break  # whatever size the checkpoint claims: `read_log` says what is missing
        view = read_log(files)
        self._tree(signed.size).check(signed.root)
        return view

    def check_seen(self) -> None:
        """Raise `VerifyError` LOG_FORK where the folder is not the one that was last appended to here, or later."""
        remembered = self._seen.state()
        if remembered is None:
            return
        size = self.checkpoint().size if self.exists else 0
        if size < remembered.size or self._tree(size).subtree(0, remembered.size) != remembered.root:
            raise VerifyError(
                f"{self.path} was deleted, put back to an old state or rewritten: it has {size} entries, and "
                f"{self._seen.path} remembers {remembered.size}",
                code="LOG_FORK",
            )

    def published(self) -> dict[str, bytes]:
        """Return the files that a server hands out for the published state, by path; raises as `view` does."""
        signed = self.checkpoint()
        found = {CHECKPOINT: signed.data}
        if (vkey := read_file(self.path / VKEY, MAX_NOTE_BYTES)) is not None:
            found[VKEY] = vkey
        with _damage(self.path):
            for path in (*bundles_of(signed.size), *hash_tiles_of(signed.size)):
                data = read_file(self.path / path, MAX_BUNDLE_BYTES)
                if data is None:
                    raise VerifyError(f"{path} is missing", code="LOG_FORK")
                found[path] = data
        return found

    def find(self, entry: bytes) -> int | None:
        """Return the index of the entry with these bytes, None where the log has none."""
        if not self.exists:
            return None
        with _damage(self.path):
            signed = self.checkpoint()
            return self._index(signed, self._tree(signed.size)).get(leaf_hash(entry))

    def prove(self, index: int, *, quorum: int = 1) -> bytes:
        """Return the proof that the log holds entry `index`.

        It is against the earliest stored checkpoint that covers the entry and was cosigned by at least `quorum`
        witnesses, where there is one, otherwise against the published one. Raises `InputError` for an index that is
        not there, and where the folder does not give the root of that checkpoint.
        """
        published = self.checkpoint()
        if not 0 <= index < published.size:
            raise InputError(f"the log {self.path} has {published.size} entries and no entry {index}")
        with _damage(self.path):
            covering = (self._witnessed_at(size) for size in self._sizes() if index < size <= published.size)
            chosen = next((one for one in covering if len(one.signatures) > quorum), published)
            tree = self._tree(published.size)
            hashes = tree.inclusion(index, chosen.size)
            leaf = tree.hashes(0, index // WIDTH)[index % WIDTH]
            if root_from_inclusion(index, chosen.size, leaf, hashes) != chosen.root:
                raise VerifyError(f"its hash tiles do not give the root of size {chosen.size}", code="LOG_FORK")
        return encode_proof(Proof(index, tuple(hashes), chosen.data))

    def witnessed(self) -> list[SignedCheckpoint]:
        """Return the cosigned checkpoints that were accepted, the smallest first."""
        with _damage(self.path):
            return [self._witnessed_at(size) for size in self._sizes()]

    def _sizes(self) -> list[int]:
        """Return the sizes at which witnesses saw the log, the smallest first."""
        folder = self.path / WITNESSED
        names = [_WITNESSED_NAME.fullmatch(path.name) for path in folder.iterdir()] if folder.is_dir() else []
        return sorted(int(name[1]) for name in names if name is not None)

    def _witnessed_at(self, size: int) -> SignedCheckpoint:
        signed = parse_checkpoint(read_file(self.path / WITNESSED / f"{size}.checkpoint", MAX_NOTE_BYTES) or b"")
        if signed.size != size:
            raise VerifyError(f"{WITNESSED}/{size}.checkpoint is of size {signed.size}", code="LOG_FORK")
        return signed

    def append(self, entries: Sequence[bytes], signer: Signer) -> list[int]:
        """Append what the log does not hold yet, under one new checkpoint, and return the index of each entry.

        Raises `InputError` for an entry over 65,535 bytes, for another key than the log's, and for a folder that is
        damaged or was put back to an older state: nothing is signed then.
        """
        for at, entry in enumerate(entries):
            if len(entry) > MAX_ENTRY_BYTES:
                raise InputError(f"entry {at} has {len(entry)} bytes; a log takes {MAX_ENTRY_BYTES}")
        if not entries:
            return []
        with locked(self.path / LOCK), _damage(self.path):
            signed = self._recover(self._key(signer), signer)
            tree = self._tree(signed.size)
            known = self._index(signed, tree)
            leaves = [leaf_hash(entry) for entry in entries]
            new = {leaf: entry for leaf, entry in zip(leaves, entries, strict=True) if leaf not in known}
            if new:
                known = self._grow(signed, tree, new, signer)
            return [known[leaf] for leaf in leaves]

    def accept(self, data: bytes, witnesses: Sequence[NoteKey]) -> dict[NoteKey, int]:
        """Keep a checkpoint of this log that any of `witnesses` cosigned, and return when each of them saw it.

        Raises `VerifyError`: LOG_INCLUSION where it is no checkpoint of this log, UNWITNESSED where none of them
        cosigned it, LOG_FORK where this log never had that state.
        """
        given = parse_checkpoint(data)
        log = parse_vkey(self.vkey)
        if not given.signed_by(log) or given.note.text != given.checkpoint.text():
            raise VerifyError("the checkpoint is not signed by this log", code="LOG_INCLUSION")
        times = given.witnessed(witnesses)
        if not times:
            raise VerifyError("no cosignature by a witness that you named holds", code="UNWITNESSED")
        with locked(self.path / LOCK):
            published = self.checkpoint()
            tree = self._tree(published.size)
            if given.size > published.size or tree.subtree(0, given.size) != given.root:
                raise VerifyError(
                    f"the witness saw a log of {given.size} entries that this folder does not hold: it was put back to "
                    "an older state, or there are two copies of it",
                    code="LOG_FORK",
                )
            name = f"{WITNESSED}/{given.size}.checkpoint"
            stored = read_file(self.path / name, MAX_NOTE_BYTES)
            write_files(self.path, {name: _merged(stored or _alone(given, log), given, times)})
            if given.size == published.size:
                write_files(self.path, {CHECKPOINT: _merged(published.data, given, times)})
        return times

    def _key(self, signer: Signer) -> NoteKey:
        """Return the key under which this log is signed by `signer`."""
        name = self.origin if self.exists else self._origin or default_origin(signer)
        if self._origin not in (None, name):
            raise InputError(f"the log {self.path} has the origin {name!r}; it cannot become {self._origin!r}")
        if (problem := name_problem(name)) is not None:
            raise InputError(f"{name!r} cannot be the origin of a log: {problem}")
        return note_key(name, "log", signer.x)

    def _recover(self, key: NoteKey, signer: Signer) -> SignedCheckpoint:
        """Return the state from which the log grows: the last that was signed, published now if it was not."""
        if not self.exists:
            self._begin(key, signer)
        published = self.checkpoint()
        held = read_file(self.path / SIGNED, MAX_NOTE_BYTES)
        signed = parse_checkpoint(held) if held is not None else published
        for one in (published, signed):
            if not one.signed_by(key):
                raise InputError(
                    f"the log {self.path} is not signed by the key {signer.kid}; append with the key that began it"
                )
        last = max(published, signed, key=lambda one: one.size)
        self._check(last, published, signed)
        self._seen.remember(last)
        if not (self.path / VKEY).exists():
            write_files(self.path, {VKEY: f"{key.vkey()}\n".encode()})
        if last.size > published.size:
            write_files(self.path, {CHECKPOINT: last.data})
        return last

    def _begin(self, key: NoteKey, signer: Signer) -> None:
        remembered = self._seen.state()
        if remembered is not None:
            raise InputError(
                f"the log {self.path} is gone: {self._seen.path} remembers {remembered.size} entries. {_RESTORE}"
            )
        if any((self.path / name).exists() for name in ("tile", SIGNED, WITNESSED)):
            raise InputError(
                f"the log {self.path} has lost its checkpoint; restore the folder from a copy. A log that begins anew "
                "under the same key would be a fork of the old one"
            )
        write_files(self.path, {CHECKPOINT: sign_checkpoint(Checkpoint(key.name, 0, EMPTY_ROOT), signer)})

    def _check(self, last: SignedCheckpoint, *others: SignedCheckpoint) -> None:
        """Raise where the tiles are not those of what was signed, or a witness saw a later state."""
        remembered = self._seen.state()
        if remembered is not None and remembered.size > last.size:
            raise InputError(
                f"the log {self.path} was put back to an old state: it has {last.size} entries, and {self._seen.path} "
                f"remembers {remembered.size}. {_RESTORE}"
            )
        seen = [self._witnessed_at(size) for size in self._sizes()[-1:]]
        if seen and seen[0].size > last.size:
            raise InputError(
                f"the log {self.path} was put back to an old state: it has {last.size} entries, and a witness saw "
                f"{seen[0].size}. Restore the newer folder; appending to this one would fork the log"
            )
        tree = self._tree(last.size)
        for one in (last, *others, *seen, *([remembered] if remembered else [])):
            if tree.subtree(0, one.size) != one.root:
                raise VerifyError(f"its tiles are not those of the checkpoint of size {one.size}", code="LOG_FORK")

    def _grow(
        self, signed: SignedCheckpoint, tree: TileTree, new: Mapping[bytes, bytes], signer: Signer
    ) -> dict[bytes, int]:
        bundles = self._bundles(tree, list(new.values()))
        grown, tiles = tree.grown(list(new))
        state = (grown.size, grown.root())
        data = sign_checkpoint(Checkpoint(signed.origin, *state), signer)
        write_files(self.path, {**bundles, **tiles})
        write_files(self.path, {SIGNED: data})
        write_files(self.path, {CHECKPOINT: data})
        self._seen.remember(parse_checkpoint(data))
        known = self._known[1] | {leaf: index for index, leaf in enumerate(new, signed.size)}
        self._known = (state, known)
        self._drop_partial(path for path in (*bundles, *tiles) if ".p/" not in path)
        return known

    def _bundles(self, tree: TileTree, entries: list[bytes]) -> dict[str, bytes]:
        """Return the bundles that these entries fill, after those that the last bundle holds already."""
        first, width = divmod(tree.size, WIDTH)
        if width:
            path = bundle_path(first, width)
            data = read_file(self.path / path, MAX_BUNDLE_BYTES)
            try:
                held = decode_bundle(data or b"")
            except ValueError as error:
                raise VerifyError(f"{path}: {error}", code="LOG_FORK") from error
            if [leaf_hash(entry) for entry in held] != tree.hashes(0, first):
                raise VerifyError(f"{path} does not hold the entries that were signed", code="LOG_FORK")
            entries = held + entries
        parts = [entries[at : at + WIDTH] for at in range(0, len(entries), WIDTH)]
        return {bundle_path(number, len(part)): encode_bundle(part) for number, part in enumerate(parts, first)}

    def _drop_partial(self, full: Iterable[str]) -> None:
        """Remove the partial versions of tiles that are full and published; a reader falls back to the full one."""
        for path in full:
            folder = self.path / f"{path}.p"
            if folder.is_dir():
                with writing(folder):
                    shutil.rmtree(folder)

    def _index(self, signed: SignedCheckpoint, tree: TileTree) -> dict[bytes, int]:
        """Return the index of each entry by its hash; reads and checks the tiles where this state was not seen yet."""
        state, known = self._known
        if state != (signed.size, signed.root):
            tree.check(signed.root)
            known = {leaf: index for index, leaf in reversed(list(enumerate(tree.leaves())))}
            self._known = ((signed.size, signed.root), known)
        return known

    def _tree(self, size: int) -> TileTree:
        return TileTree(size, lambda path: read_file(self.path / path, 32 * WIDTH))


def _alone(signed: SignedCheckpoint, log: NoteKey) -> bytes:
    """Return a checkpoint with the signature of its log and no other."""
    kept = NoteSignature(log.name, log.key_id, signed.note.by(log) or b"")
    return f"{signed.note.text}\n{signature_line(kept)}".encode()


def _merged(held: bytes, given: SignedCheckpoint, times: Mapping[NoteKey, int]) -> bytes:
    """Return the checkpoint `held` with the cosignatures of `given` that hold; of two by one witness the earlier."""
    before = parse_checkpoint(held).witnessed(list(times))
    added = [
        NoteSignature(key.name, key.key_id, given.note.by(key) or b"")
        for key, time in times.items()
        if key not in before or time < before[key]
    ]
    return add_signatures(held, added)


@contextlib.contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turn what the files of our own log do not hold into an `InputError`: nothing is signed over it."""
    try:
        yield
    except VerifyError as error:
        raise InputError(
            f"the log {path} is damaged: {error}. Restore the folder from a copy; nothing is appended to it as it is"
        ) from error
