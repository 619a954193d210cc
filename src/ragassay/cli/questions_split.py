"""`ragassay questions split`: a public half, and a held-out half that is committed to before it is shown."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragassay.cli.question_sources import json_option, print_json
from ragassay.cli.questions_signing import key_options, signer_from

if TYPE_CHECKING:
    from ragassay.manifest.held_out import SignedHeldOut
    from ragassay.question.split import Halves

COMMITMENT = ".commitment.dsse.json"


@click.command("split")
@click.argument("file", type=click.Path(path_type=Path), metavar="[FILE]", required=False)
@click.option("--held-out", "share", metavar="PERCENT", help="The share of the questions to hold out, such as 50%.")
@click.option(
    "--by",
    type=click.Choice(["source"]),
    default="source",
    show_default=True,
    expose_value=False,
    help="What falls to one side as a whole: the questions of one page.",
)
@click.option(
    "--salt-file",
    "--salt",
    "salt_file",
    type=click.Path(path_type=Path),
    help="The secret; made where it is not there.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder to write into [default: FILE's].")
@click.option("--reveal", multiple=True, metavar="ID", help="Write this held-out question of FILE with its own salt.")
@click.option("--check", type=click.Path(path_type=Path), help="Hold --revealed against this commitment instead.")
@click.option("--revealed", type=click.Path(path_type=Path), help="The held-out file, or some of its questions.")
@key_options
@json_option
def split(
    file: Path | None,
    share: str | None,
    salt_file: Path | None,
    out: Path | None,
    reveal: tuple[str, ...],
    check: Path | None,
    revealed: Path | None,
    keys: Path,
    key: str | None,
    as_json: bool,
) -> int:
    """Split FILE into NAME-public.json and NAME-held-out.json, and sign a commitment that tells nothing of the second.

    With --check, say whether --revealed is what was committed to: exit code 1 where it is not.
    """
    if check is not None:
        _refuse({"FILE": file, "--held-out": share, "--reveal": reveal, "--out": out}, "--check")
        if revealed is None or salt_file is None:
            raise click.UsageError("--check takes --revealed and --salt, the file of the salt or of single salts")
        from ragassay.cli.questions_reveal import check_revealed

        return check_revealed(check, revealed, salt_file, as_json=as_json)
    _refuse({"--revealed": revealed}, "splitting")
    if file is None:
        raise click.UsageError("give FILE, or --check")
    if reveal:
        _refuse({"--held-out": share}, "--reveal")
        from ragassay.cli.questions_reveal import reveal_items

        return reveal_items(file, reveal, salt_file, out or file.parent, as_json=as_json)
    if share is None:
        raise click.UsageError("say how much to hold out: --held-out 50%")
    return _split(file, share, salt_file, out or file.parent, (keys, key), as_json=as_json)


def _refuse(given: dict[str, Any], instead: str) -> None:
    if ignored := [name for name, value in given.items() if value]:
        raise click.UsageError(f"{instead} does not go with {', '.join(ignored)}")


def _split(
    file: Path, share: str, salt_file: Path | None, folder: Path, key: tuple[Path, str | None], *, as_json: bool
) -> int:
    from ragassay.cli.questions_reveal import check_own, salt_at
    from ragassay.manifest.held_out import decode_held_out
    from ragassay.manifest.item_set import set_slug
    from ragassay.question.split import read_share
    from ragassay.question.split import split as halve
    from ragassay.run.question_sets.frozen import load_set
    from ragassay.run.question_sets.frozen_write import READ_ONLY, SECRET, write_together
    from ragassay.run.question_sets.split_set import commit

    read, frozen = load_set(file)
    stem = folder / f"{set_slug(read.benchmark.name)}-held-out"
    salt_path = salt_file or stem.with_name(f"{stem.name}.salt")
    salt, made = salt_at(salt_path)
    if not made:
        check_own(salt_path)
    halves = halve(read.benchmark, read_share(share), salt.rank)
    envelope = commit(halves, salt, signer_from(*key), share=share.strip(), now=int(time.time()))
    files = {
        stem.with_name(f"{set_slug(halves.public.name)}.json"): (halves.public.full_form(), READ_ONLY),
        stem.with_name(f"{stem.name}.json"): (halves.held_out.full_form(), SECRET),
        stem.with_name(f"{stem.name}{COMMITMENT}"): (envelope, READ_ONLY),
    }
    first = {salt_path: (salt.text(), SECRET)} if made else {}  # a commitment without its salt is good for nothing
    write_together({**first, **files})
    _say_split([*files, salt_path], halves, decode_held_out(envelope), frozen is not None, as_json=as_json)
    return 0


def _say_split(paths: Sequence[Path], halves: Halves, signed: SignedHeldOut, frozen: bool, *, as_json: bool) -> None:
    from ragassay.question.printable import printable

    names = ("public", "heldOut", "commitment", "salt")
    counts = len(halves.public.questions), len(halves.held_out.questions)
    if as_json:
        files = dict(zip(names, map(str, paths), strict=True))
        about = {"publicQuestions": counts[0], "heldOutQuestions": counts[1], "commitmentSha256": signed.digest}
        print_json({**files, **about, "manifestTellsGuesses": frozen})
        return
    shown = [printable(str(path)) for path in paths]
    click.echo(f"public      {shown[0]}: {counts[0]} questions")
    click.echo(f"held out    {shown[1]}: {counts[1]} questions; keep it to yourself")
    click.echo(f"salt        {shown[3]}: keep it to yourself, and keep it: without it nothing can be shown")
    click.echo(f"commitment  {shown[2]}: publish it")
    click.echo(f"its sha256  {signed.digest}")
    click.echo(f"signed      {signed.predicate.signer.kid} ({printable(signed.predicate.signer.name)})")
    if frozen:
        click.echo(
            "The whole set is frozen. Keep its item manifest to yourself too: it holds the plain digest of every "
            "question, against which guesses of a held-out one can be tried."
        )
