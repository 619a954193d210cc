"""Writes the folder of public runs: each appears as a whole or not at all, and nothing in it is ever deleted."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.errors import InputError, VerifyError
from ragassay.manifest import LogFolder
from ragassay.manifest.files import BESIDE, REGISTRY
from ragassay.manifest.judgement_folder import read_judgement
from ragassay.manifest.log_disk import locked, read_file, sync, write_files, write_proof, write_whole, writing
from ragassay.manifest.registry import decode_registry
from ragassay.publish.review_folder import FOLDER
from ragassay.records import Record, to_json
from ragassay.records.publication import Publication
from ragassay.run.proofs import better_proofs
from ragassay.site.publications import JUDGEMENTS, PUBLIC, PUBLICATION, RUN, WITHDRAWN, Withdrawal, public_folders

LOCK = ".lock"
SALTS = "salts"
_RUN_ID = re.compile(r"[0-9a-f]{32}")
_TEMPORARY = re.compile(r"\.{1,2}[0-9a-f]{32}(?:\.[0-9a-f]{8}){1,2}")


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """What strangers get of one run: its files, those of its judgements by the name of their folder, and when."""

    run: Mapping[str, bytes]
    judgements: Mapping[str, Mapping[str, bytes]]
    publication: Publication


class Salts(Record, frozen=True):
    """`review/salts/<run-id>.json`: what the publisher keeps so that a withheld text can be shown to be that one later.

    The salt of every text follows from `secret` (32 bytes in hex; see `manifest.redaction.salts_from`). `created` (Unix
    seconds) is when the redaction was first made: the same one, made again, has the same bytes.
    """

    created: int
    secret: str


@contextlib.contextmanager
def publishing(workspace: Path) -> Iterator[None]:
    """Let one process at a time publish or withdraw; what a killed one left half written is removed."""
    place = workspace / PUBLIC
    with locked(place / LOCK):
        with writing(place):
            for path in place.iterdir():
                if _TEMPORARY.fullmatch(path.name):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
        yield


def folder_of(workspace: Path, run_id: str) -> Path:
    """Return the folder of a public run; raises `InputError` where that is no id of a run."""
    if not _RUN_ID.fullmatch(run_id):
        raise InputError(f"{run_id[:80]!r} is no id of a run: 32 lower-case hex digits")
    return workspace / PUBLIC / run_id


def store(workspace: Path, run_id: str, bundle: Bundle) -> None:
    """Write a publication; when this returns all of it is on the disk, and when it raises nothing is there.

    Raises `InputError` where it cannot be written, or is there already.
    """
    folder = folder_of(workspace, run_id)
    if folder.exists():
        raise InputError(f"{folder} is there already; a published run is never changed")
    _place(workspace, run_id, _files(bundle), folder)


def add_judgements(
    workspace: Path, run_id: str, judgements: Mapping[str, Mapping[str, bytes]], publication: Publication
) -> None:
    """Put judgements beside a public run, each as a whole or not at all, and then say so in `publication.json`.

    A judgement that is there and that no publication names was left by a kill: it stays where its bytes are the same.
    Raises `InputError` where something else is there, or where it cannot be written.
    """
    folder = folder_of(workspace, run_id)
    for name, members in judgements.items():
        place = folder / JUDGEMENTS / _plain(name)
        if not place.exists():
            with writing(place):
                place.parent.mkdir(exist_ok=True)
                sync(folder)
            _place(workspace, run_id, {_plain(member): data for member, data in members.items()}, place)
        elif read_judgement(place).files != members:
            raise InputError(f"{place} is there and is another judgement; move it away")
    write_files(folder, {PUBLICATION: canon.canonical(to_json(publication))})


def _place(workspace: Path, run_id: str, files: Mapping[str, bytes], folder: Path) -> None:
    """Write a folder so that it appears with all its files; what is half written lies hidden below `public`."""
    temporary = folder_of(workspace, run_id).with_name(f".{run_id}.{secrets.token_hex(4)}")
    with writing(folder):
        try:
            for name, data in files.items():
                (temporary / name).parent.mkdir(parents=True, exist_ok=True)
                write_whole(temporary / name, data)
            for place in sorted(path for path in temporary.rglob("*") if path.is_dir()):
                sync(place)
            sync(temporary)
            temporary.rename(folder)
        finally:
            if temporary.exists():
                shutil.rmtree(temporary)
        sync(folder.parent)


def _files(bundle: Bundle) -> dict[str, bytes]:
    files = {f"{RUN}/{_plain(name)}": data for name, data in bundle.run.items()}
    for judgement, members in bundle.judgements.items():
        files |= {f"{JUDGEMENTS}/{_plain(judgement)}/{_plain(name)}": data for name, data in members.items()}
    files[PUBLICATION] = canon.canonical(to_json(bundle.publication))
    return files


def _plain(name: str) -> str:
    """Return the name of a file or folder; raises `InputError` for one that would lie elsewhere."""
    if name in ("", ".", "..") or "/" in name or "\0" in name or "\\" in name:
        raise InputError(f"{name[:80]!r} cannot be the name of a public file")
    return name


def withdraw(workspace: Path, withdrawal: Withdrawal) -> None:
    """Write `withdrawn.json` beside a publication; what was published stays where it is."""
    folder = folder_of(workspace, withdrawal.run)
    write_files(folder, {WITHDRAWN: canon.canonical(to_json(withdrawal))})


def renew_public_proofs(workspace: Path, log: LogFolder, *, quorum: int = 1) -> int:
    """Write each proof of a public run that more witnesses have cosigned since it was published; return how many.

    Nothing else of a publication is ever changed. A kill leaves the old proof or the new one, and no file beside them.
    """
    renewed = 0
    for folder in public_folders(workspace):
        for name, data in better_proofs(log, folder / RUN, quorum=quorum).items():
            write_proof(folder / RUN, name, data)
            renewed += 1
    return renewed


def renew_public_registry(workspace: Path, registry: bytes | None) -> int:
    """Put the newest key registry beside each public run that holds an older one; return how many were written.

    Readers who know a newer version refuse an older one. Raises `VerifyError` where `registry` is none.
    """
    if registry is None:
        return 0
    version, renewed = decode_registry(registry).registry.version, 0
    for folder in public_folders(workspace):
        held = read_file(folder / RUN / REGISTRY, BESIDE[REGISTRY])
        if held is not None and held != registry and _version(held) < version:
            write_proof(folder / RUN, REGISTRY, registry)
            renewed += 1
    return renewed


def _version(registry: bytes) -> int:
    """Return the version of a registry, 0 of one that cannot be read."""
    try:
        return decode_registry(registry).registry.version
    except VerifyError:
        return 0


def read_salts(workspace: Path, run_id: str) -> Salts | None:
    """Return the salts that were drawn for a run, None where there are none; raises `InputError` for any other file."""
    path = _salts(workspace, run_id)
    if not path.exists():
        return None
    try:
        salts = msgspec.json.decode(path.read_bytes(), type=Salts)
        bytes.fromhex(salts.secret)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} does not hold the salts of a run ({error}); restore it from a copy") from error
    return salts


def write_salts(workspace: Path, run_id: str, salts: Salts) -> None:
    """Write the salts of a run where nobody else reads them (0600): whoever has them can try what was withheld."""
    path = _salts(workspace, run_id)
    with writing(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(file, "wb") as opened:
                opened.write(canon.canonical(to_json(salts)))
                opened.flush()
                os.fsync(opened.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        sync(path.parent)


def _salts(workspace: Path, run_id: str) -> Path:
    return workspace / FOLDER / SALTS / f"{folder_of(workspace, run_id).name}.json"
