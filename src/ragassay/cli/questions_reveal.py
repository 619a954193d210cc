"""What belongs to `questions split` after the split: the salt on disk, single questions revealed, and their check."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragassay.cli.question_sources import print_json
from ragassay.errors import InputError, VerifyError
from ragassay.records import to_json

if TYPE_CHECKING:
    from ragassay.manifest.held_out import Salt, SignedHeldOut
    from ragassay.verify.held_out import Revealed

MAX_COMMITMENT_BYTES = 4 << 20
MAX_QUESTIONS_BYTES = 64 << 20
MAX_SALTS_BYTES = 16 << 20


def salt_at(path: Path) -> tuple[Salt, bool]:
    """Return the secret in a file, or a new one, and whether it is new."""
    from ragassay.manifest.held_out import SALT_BYTES, Salt

    if not path.exists():
        return Salt(secrets.token_bytes(SALT_BYTES)), True
    found = _read_salt(path)
    if not isinstance(found, Salt):
        raise InputError(f"{path} holds the salts of single questions; name the file of the salt itself")
    return found, False


def check_own(path: Path) -> None:
    """Raise `InputError` where others than the owner can read a salt: whoever has it can test guesses."""
    try:
        mode = path.stat().st_mode & 0o777
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    if mode & 0o077:
        raise InputError(f"{path} can be read by others (mode {mode:04o}): `chmod 600` it, or let a new one be made")


def _read_salt(path: Path) -> Salt | Mapping[str, bytes]:
    from ragassay.manifest.held_out import read_salt

    data = _bytes(path, MAX_SALTS_BYTES)
    try:
        return read_salt(data)
    except InputError as error:
        raise InputError(f"{path}: {error.message}") from None


def _bytes(path: Path, most: int) -> bytes:
    from ragassay.manifest.log_disk import read_file

    data = read_file(path, most)
    if data is None:
        raise InputError(f"{path} does not exist")
    return data


def reveal_items(file: Path, ids: Sequence[str], salt_file: Path | None, folder: Path, *, as_json: bool) -> int:
    """Write held-out questions of `file` with their own salts, which say nothing of any other."""
    from ragassay.manifest.held_out import write_item_salts
    from ragassay.question.printable import printable
    from ragassay.run.question_sets.frozen import load_questions
    from ragassay.run.question_sets.frozen_write import READ_ONLY, write_together
    from ragassay.run.question_sets.split_set import only

    benchmark = load_questions(file)
    chosen = only(benchmark, ids)
    path = salt_file or file.with_name(f"{file.stem}.salt")
    if not path.exists():
        raise InputError(f"{path} does not exist; name the file of the salt with --salt-file")
    salt, _ = salt_at(path)
    files = folder / f"{file.stem}-revealed.json", folder / f"{file.stem}-revealed.salts.json"
    salts = write_item_salts(salt, chosen)
    write_together({files[0]: (chosen.full_form(), READ_ONLY), files[1]: (salts, READ_ONLY)})
    if as_json:
        print_json({"revealed": str(files[0]), "salts": str(files[1]), "questions": len(chosen.questions)})
    else:
        shown = [printable(str(one)) for one in files]
        click.echo(f"revealed    {shown[0]}: {len(chosen.questions)} of {len(benchmark.questions)} questions")
        click.echo(f"salts       {shown[1]}: theirs alone; publish both beside the commitment")
    return 0


def check_revealed(commitment: Path, revealed: Path, salt_file: Path, *, as_json: bool) -> int:
    """Say whether revealed questions are those of a commitment: 0 where all are, else 1."""
    from ragassay.manifest.held_out import decode_held_out
    from ragassay.question.parse import parse_benchmark
    from ragassay.verify.held_out import check_reveal

    try:
        signed = decode_held_out(_bytes(commitment, MAX_COMMITMENT_BYTES))
    except VerifyError as error:
        raise VerifyError(f"{commitment}: {error}", code=error.code) from error
    data = _bytes(revealed, MAX_QUESTIONS_BYTES)
    benchmark = parse_benchmark(data, name=revealed.stem, suffix=revealed.suffix)
    found = check_reveal(signed, benchmark, data, _read_salt(salt_file))
    genuine = signed.signed_by_named()
    if as_json:
        about = {"ok": found.ok and genuine, "complete": found.complete, "signatureValid": genuine}
        who = {"fingerprint": signed.predicate.signer.kid, "created": signed.predicate.created}
        print_json({**about, **to_json(found), **who})
    else:
        _say_check(found, signed, genuine)
    return 0 if found.ok and genuine else 1


def _say_check(found: Revealed, signed: SignedHeldOut, genuine: bool) -> None:
    from ragassay.cli.moments import moment_text
    from ragassay.question.printable import printable

    p = signed.predicate
    click.echo(
        f"committed   {p.items} questions of {printable(p.name)} {printable(p.version)}, {moment_text(p.created)}"
    )
    broken = "" if genuine else "; the signature is NOT valid"
    click.echo(f"signed      {p.signer.kid} ({printable(p.signer.name)}){broken}")
    click.echo(f"as it was   {len(found.held)}")
    for word, ids in (("CHANGED", found.changed), ("NO SALT", found.unsalted)):
        if ids:
            click.echo(f"{word:<11} {len(ids)}: {', '.join(map(printable, ids[:20]))}{', …' if len(ids) > 20 else ''}")
    if found.whole:
        click.echo("the file is the committed one, to the byte")
    elif found.whole is False:
        click.echo("the file as a whole is another: questions were left out, or name, version or provenance differ")
    click.echo(
        "NO: not everything that was revealed was committed to"
        if not (found.ok and genuine)
        else f"yes: all {p.items} questions are revealed as they were committed to"
        if found.complete
        else f"yes: {len(found.held)} of {p.items} questions are revealed as they were committed to"
    )
