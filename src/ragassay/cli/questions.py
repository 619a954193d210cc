"""`ragassay questions`: hash, export, check and lint a question file."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ragassay.cli.verb_group import VerbGroup
from ragassay.errors import InputError
from ragassay.question import QuestionFile, load_file, published_form
from ragassay.records import JSON, Benchmark, Chunk, Page

_file = click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_corpus = click.option(
    "--corpus",
    "source",
    type=click.Path(path_type=Path),
    help="The documentation (a folder or an archive), or a built corpus folder.",
)


@click.group(cls=VerbGroup)
def command() -> None:
    """Hash, export, check and lint a question file."""


@command.command("hash")
@_file
@_json
def hash_(file: Path, as_json: bool) -> int:
    """Print the digest of the published form (itemSet) and, for our own form, of the full one (digest)."""
    read = load_file(file)
    digests = {"itemSet": read.benchmark.item_set_digest()}
    if read.form == "full":
        digests["digest"] = read.benchmark.digest()
    if as_json:
        _print_json({**digests, **_about(read), "canonical": read.canonical})
        return 0
    for label, digest in digests.items():
        click.echo(f"{label:<8} {digest}")
    return 0


@command.command("export")
@_file
@click.option("--form", type=click.Choice(["published", "full"]), default="published", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Write this new file; without it, standard output.")
def export(file: Path, form: str, out: Path | None) -> int:
    """Write FILE as canonical bytes: the published form (id, input, target), or our full form."""
    benchmark = load_file(file).benchmark
    data = published_form(benchmark) if form == "published" else benchmark.full_form()
    if out is None:
        sys.stdout.buffer.write(data)
        return 0
    try:
        with out.open("xb") as target:
            target.write(data)
    except FileExistsError as error:
        raise InputError(f"{out} exists already; name another file or remove it") from error
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror or error}") from error
    digest = benchmark.item_set_digest() if form == "published" else benchmark.digest()
    click.echo(f"{out}: {len(data)} bytes, sha256 {digest}", err=True)
    return 0


@command.command("check")
@_file
@_corpus
@_json
def check(file: Path, source: Path | None, as_json: bool) -> int:
    """Look every evidence text of FILE up in the corpus and lint the set; FILE may be a board (.toml).

    Exit code 1 when evidence is missing or a lint error stands.
    """
    from ragassay.question import lint, match_evidence, report

    file, source = _of_board(file, source)
    if source is None:
        raise click.UsageError("give --corpus, or a board file in place of FILE")
    read = load_file(file)
    pages = _pages(source)
    evidence = match_evidence(read.benchmark, pages)
    broken = lint(read.benchmark, findings=evidence)
    failed = any(finding.severity == "error" for finding in broken)
    if as_json:
        counts = {**report.evidence_counts(evidence), "pages": len(pages)}
        found = report.to_values(evidence), report.to_values(broken)
        _print_json({**_about(read), "ok": not failed, "counts": counts, "evidence": found[0], "lint": found[1]})
    else:
        _print_lines(report.evidence_lines(evidence, len(pages)))
        _print_lines(report.lint_lines(broken, _checked(read)))
        _print_unjudgeable(read.benchmark)
    return int(failed)


@command.command("lint")
@_file
@_corpus
@_json
def lint_(file: Path, source: Path | None, as_json: bool) -> int:
    """Say which rules the questions break: literals, keys, and with --corpus (or a board) the evidence too.

    Exit code 1 when an error stands; warnings alone leave it 0.
    """
    from ragassay.question import lint, literal_problems, report

    file, source = _of_board(file, source)
    read = load_file(file)
    broken = lint(read.benchmark, None if source is None else _pages(source))
    failed = any(finding.severity == "error" for finding in broken)
    if as_json:
        unjudgeable = literal_problems(read.benchmark)
        lists = {"lint": report.to_values(broken), "withoutLiterals": unjudgeable}
        _print_json({**_about(read), "ok": not failed, **lists})
    else:
        _print_lines(report.lint_lines(broken, _checked(read)))
        _print_unjudgeable(read.benchmark)
    return int(failed)


class _Whole:
    """Splits nothing: a page is one chunk, because only pages are searched here."""

    def split(self, page: Page) -> Sequence[Chunk]:
        """Return the page's text as its one chunk."""
        whole = Chunk(id=page.id, page=page.id, start=0, end=len(page.text), text=page.text, sha256=page.sha256)
        return [whole] if page.text else []

    def describe(self) -> JSON:
        """Return the name of this chunker."""
        return {"kind": "whole-page", "version": "1"}


def _pages(source: Path) -> Sequence[Page]:
    from ragassay.corpus import load_corpus, read_corpus

    if (source / "corpus.json").is_file() and (source / "pages.jsonl").is_file():
        return load_corpus(source).pages
    return read_corpus(source, _Whole()).pages


def _of_board(path: Path, source: Path | None) -> tuple[Path, Path | None]:
    """Return what a board names as question file and, where no other is given, as corpus; else the same again."""
    if path.suffix != ".toml":
        return path, source
    from ragassay.run.board_file import load_board

    board = load_board(path)
    return board.benchmark, source or board.corpus


def _about(read: QuestionFile) -> dict[str, Any]:
    benchmark = read.benchmark
    return {
        "name": benchmark.name,
        "version": benchmark.version,
        "questions": len(benchmark.questions),
        "form": read.form,
    }


def _checked(read: QuestionFile) -> str:
    questions = read.benchmark.questions
    unsplit = sum(question.unsplit for question in questions)
    counted = f"{len(questions)} question{'' if len(questions) == 1 else 's'}"
    return counted + (f" ({unsplit} unsplit, unreviewed)" if unsplit else "")


def _print_unjudgeable(benchmark: Benchmark) -> None:
    from ragassay.question import literal_problems

    if ids := literal_problems(benchmark):
        shown = ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
        click.echo(f"{len(ids)} of {len(benchmark.questions)} questions have a claim without literals: {shown}")


def _print_lines(lines: Any) -> None:
    for line in lines:
        click.echo(line)


def _print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=1))
