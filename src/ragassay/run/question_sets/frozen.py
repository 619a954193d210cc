"""Frozen question sets on disk: a question file beside its signed item manifest, which it may never differ from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.errors import InputError, VerifyError, first_of
from ragassay.manifest.item_set import (
    MAX_ITEM_MANIFEST_BYTES,
    SUFFIX,
    SignedItems,
    decode_items,
    items_kept_at,
    set_slug,
)
from ragassay.manifest.item_statement import QuestionSetPredicate
from ragassay.manifest.log_disk import read_file
from ragassay.question import QuestionFile, load_file
from ragassay.records import Benchmark
from ragassay.records.question import version_numbers
from ragassay.run.workspace import Workspace, write_bytes
from ragassay.verify.item_set import contradictions

NEXT = "a frozen file never changes: put the signed bytes back, or make the next version with `ragassay questions bump`"
MAX_SHOWN = 20
"""How many contradictions between a manifest and its file are named; the rest is counted."""


class FrozenSet(msgspec.Struct, frozen=True, kw_only=True):
    """A question file whose bytes are those that its item manifest signs; `envelope` is where that stands."""

    path: Path
    envelope: Path
    signed: SignedItems

    @property
    def predicate(self) -> QuestionSetPredicate:
        """What the manifest says."""
        return self.signed.predicate


def envelope_beside(questions: Path) -> Path:
    """Return where the item manifest of a question file stands: its own name with `.items.dsse.json`."""
    return questions.with_name(questions.stem + SUFFIX)


def load_set(questions: Path) -> tuple[QuestionFile, FrozenSet | None]:
    """Return a question file, and its item manifest where it is frozen.

    Raises `InputError` where the file cannot be read, or is not the one that the manifest beside it signs.
    """
    frozen = frozen_of(questions)
    read = load_file(questions)
    if frozen is not None:
        _hold(questions, frozen, read.benchmark)
    return read, frozen


def load_questions(questions: Path) -> Benchmark:
    """Return the benchmark of a question file as `load_set` reads it."""
    return load_set(questions)[0].benchmark


def frozen_of(questions: Path) -> FrozenSet | None:
    """Return the item manifest of a frozen question file, None where none stands beside it.

    Raises `InputError` where the manifest is none, is not signed by the key that it names, or signs other bytes than
    those of the file. Whose key it is, `ragassay verify` tells.
    """
    if not questions.name:
        raise InputError(f"the question file {questions} is a folder; name the file in it")
    found = [one for place in _places(questions) if (one := _frozen_by(envelope_beside(place), questions)) is not None]
    if len({one.signed.digest for one in found}) > 1:
        names = " and ".join(str(one.envelope) for one in found)
        raise InputError(f"{questions} has two item manifests, {names}; move the one that is not meant away")
    return found[0] if found else None


def _places(questions: Path) -> list[Path]:
    """Return under which names a manifest is looked for: the file's own, and, of a link, that of what it leads to."""
    try:
        return list(dict.fromkeys([questions, questions.resolve()])) if questions.is_symlink() else [questions]
    except (OSError, RuntimeError) as error:
        raise InputError(f"the question file {questions} is a link that leads nowhere") from error


def _frozen_by(envelope: Path, questions: Path) -> FrozenSet | None:
    if envelope.is_symlink() and not envelope.exists():
        raise InputError(f"{envelope} is a link that leads nowhere; {NEXT}")
    data = read_file(envelope, MAX_ITEM_MANIFEST_BYTES)
    if data is None:
        return None
    signed = _read(envelope, data)
    if _sha256(questions) != signed.predicate.benchmark.digest.sha256:
        raise _altered(questions, "its bytes are not those that were signed", signed)
    return FrozenSet(path=questions, envelope=envelope, signed=signed)


def _hold(questions: Path, frozen: FrozenSet, benchmark: Benchmark) -> None:
    """Raise `InputError` where the manifest says of the set what the set does not hold, whoever signed it."""
    if frozen.predicate.benchmark.digest.sha256 != benchmark.digest():
        raise _altered(questions, "its questions are not those that were signed")
    if wrong := contradictions(frozen.predicate, benchmark):
        shown = first_of([f"{one.where}: {one.message}" for one in wrong], MAX_SHOWN)
        raise InputError(f"{frozen.envelope} says of {questions} what does not stand there; {NEXT}", shown)


def frozen_versions(folder: Path, name: str) -> list[str]:
    """Return the frozen versions of the set of that name in a folder, lowest first."""
    start = f"{set_slug(name)}-"
    names = [path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}")]
    found = [text.removeprefix(start) for text in names if text.startswith(start)]
    return sorted((one for one in found if version_numbers(one)), key=lambda one: version_numbers(one) or (0, 0, 0))


def halves_left(folder: Path, name: str, versions: Sequence[str]) -> str | None:
    """Return what to do about item manifests without their question file, None where every one has its file."""
    start = f"{set_slug(name)}-"
    lone = [one for one in versions if not (folder / f"{start}{one}.json").exists()]
    if not lone:
        return None
    return (
        f"{folder / f'{start}{lone[0]}{SUFFIX}'} stands there without its question file, as a freezing that was "
        "interrupted leaves it: remove it, or put the file back"
    )


def keep_items(workspace: Workspace, frozen: FrozenSet) -> str:
    """Store a copy of the item manifest in the workspace, `items/<SHA-256>.dsse.json`, and return its SHA-256."""
    digest = frozen.signed.digest
    path = items_kept(workspace.root, digest)
    if not path.is_file() or _sha256(path) != digest:
        write_bytes(path, frozen.signed.data)
    return digest


def items_kept(root: Path, digest: str) -> Path:
    """Return where a workspace keeps the item manifest of that SHA-256."""
    return root / items_kept_at(digest)


def _read(envelope: Path, data: bytes) -> SignedItems:
    try:
        signed = decode_items(data)
    except VerifyError as error:
        raise InputError(f"{envelope} is no item manifest ({error}); {NEXT}") from error
    if not signed.signed_by_named():
        raise InputError(f"{envelope} is not signed by the key that it names, or was changed; {NEXT}")
    return signed


def _sha256(questions: Path) -> str:
    try:
        return canon.sha256(questions.read_bytes())
    except FileNotFoundError as error:
        raise InputError(f"the question file {questions} does not exist") from error
    except OSError as error:
        raise InputError(f"the question file {questions} cannot be read: {error.strerror or error}") from error


def _altered(questions: Path, why: str, signed: SignedItems | None = None) -> InputError:
    about = signed.predicate.benchmark if signed else None
    version = f" as version {about.version}" if about else ""
    return InputError(f"{questions} is frozen{version}, and {why}; {NEXT}")
