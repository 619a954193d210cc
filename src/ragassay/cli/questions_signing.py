"""What `questions freeze`, `bump` and `split` share: who signs, what the signer declares, over which documentation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ragassay.cli.question_sources import corpus_of
from ragassay.errors import InputError
from ragassay.records import Benchmark

if TYPE_CHECKING:
    from ragassay.manifest import Signer
    from ragassay.question.freezing import Applied, Signing, Standing
    from ragassay.run.question_sets.freeze_set import Checked, Docs

F = TypeVar("F", bound=Callable[..., Any])

_KEY = (
    click.option(
        "--keys",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path(".ragassay/keys"),
        show_default=True,
        help="The folder of the keys.",
    ),
    click.option("--key", metavar="NAME", help="Sign with the key of this name [default: the one that signs runs]."),
)
_DECLARED = (
    click.option("--url", metavar="URL", help="Where the documentation is read; stands in the item manifest."),
    click.option("--author", metavar="NAME", help="Wrote every question of which the file names no author."),
    click.option(
        "--not-derived",
        is_flag=True,
        help="Declare that no system under test was the source of a question of which the file does not say it.",
    ),
    click.option("--drop-rejected", is_flag=True, help="Leave out what a reviewer rejected."),
)


def key_options(command: F) -> F:
    """Add the options that say which key signs."""
    return _with(command, _KEY)


def signing_options(command: F) -> F:
    """Add the options that say which key signs and what its holder declares."""
    return _with(command, (*_DECLARED, *_KEY))


def _with(command: F, options: Sequence[Callable[[F], F]]) -> F:
    for option in reversed(options):
        command = option(command)
    return command


def signer_from(keys: Path, key: str | None) -> Signer:
    """Return the key that signs, a run key; raises `InputError` that says how to make one."""
    from ragassay.cli.passphrase import run_signer, signer_named
    from ragassay.manifest.keyfile import key_path
    from ragassay.manifest.keyfolder import kind_of

    if key is None:
        return run_signer(keys)
    if (kind := kind_of(key_path(keys, key))) not in (None, "run"):
        raise InputError(f"{key} is the key of a {kind}, and sets are signed by run keys: no reader accepts another")
    return signer_named(keys, key)


def docs_from(source: Path, benchmark: Benchmark, url: str | None, *, pdf: bool = False) -> Docs:
    """Return the documentation at `source`, called as the question file calls it, else by its own name and address.

    PDF files are pages with `pdf`, or where a board says so.
    """
    from ragassay.run.question_sets.freeze_set import Docs

    corpus = corpus_of(source, pdf=pdf)
    given = {name: value for name, value in benchmark.corpus.items() if isinstance(value, str) and value.strip()}
    return Docs(
        pages=corpus.pages,
        extractor=corpus.extractor,
        name=str(given.get("name") or given.get("source") or corpus.source.get("name") or source.resolve().name)[:500],
        url=url or given.get("url") or corpus.source.get("start"),
    )


def checked_set(
    file: Path,
    benchmark: Benchmark,
    docs: Docs,
    signing: Signing,
    before: dict[str, Standing] | None = None,
) -> Checked:
    """Return the set of `file` with the reviews and waivers beside it, held against documentation and rules."""
    from ragassay.question.freezing import applied
    from ragassay.question.reviews import load_reviews, reviews_beside
    from ragassay.question.waivers import load_waivers
    from ragassay.run.question_sets.freeze_set import check_set

    found: Applied = applied(benchmark, load_reviews(reviews_beside(file)), signing, before=before)
    return check_set(found, docs, load_waivers(file))
