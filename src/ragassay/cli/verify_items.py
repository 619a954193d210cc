"""`ragassay verify X.items.dsse.json`: check frozen question sets from their own bytes."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragassay.cli.moments import moment_text
from ragassay.cli.trust import Trust
from ragassay.cli.verify_lines import closing_lines, finding_lines, key_line, short_name
from ragassay.errors import InputError, VerifyError
from ragassay.manifest.files import REGISTRY
from ragassay.manifest.item_set import MAX_ITEM_MANIFEST_BYTES, SUFFIX, decode_items, items_file
from ragassay.records import Page, to_json
from ragassay.site.safe import one_line
from ragassay.verify.item_set import SetReport, verify_item_set

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_QUESTIONS_BYTES = 64 << 20


def is_item_manifest(path: str) -> bool:
    """Tell whether an argument of `verify` names an item manifest."""
    return path.endswith(SUFFIX)


def verify_items(
    paths: Sequence[str], trust: Trust, *, questions: Path | None, corpus: Path | None, strict: bool, as_json: bool
) -> int:
    """Check item manifests, print what was found, and return 0 where all are accepted, else 1."""
    if questions is not None and len(paths) > 1:
        raise InputError("--questions is the file of one item manifest; check them one by one")
    pages = _Pages(corpus)
    checked = [(path, _check(Path(path), trust, questions, pages)) for path in paths]
    accepted = all(report.ok(strict) for _, report in checked)
    if as_json:
        sets = [{"path": path, "ok": report.ok(strict), **to_json(report)} for path, report in checked]
        click.echo(json.dumps({"ok": accepted, "strict": strict, "sets": sets}, indent=2, ensure_ascii=True))
    else:
        for path, report in checked:
            click.echo("\n".join(_lines(path, report, strict)) + "\n")
        click.echo("\n".join(closing_lines([report for _, report in checked], strict, "question set")))
    return 0 if accepted else 1


class _Pages:
    """The pages of the documentation, read as a manifest says that they were read: with PDF files or without."""

    def __init__(self, corpus: Path | None) -> None:
        self._corpus = corpus
        self._read: dict[bool, Sequence[Page]] = {}

    def of(self, envelope: bytes) -> Sequence[Page] | None:
        """Return the pages for one manifest, None where no documentation was given."""
        if self._corpus is None:
            return None
        from ragassay.cli.question_sources import corpus_of
        from ragassay.corpus import reads_pdf

        try:
            pdf = reads_pdf(decode_items(envelope).predicate.corpus.extractor)
        except VerifyError:
            pdf = False  # the report says that the manifest cannot be read
        if pdf not in self._read:
            self._read[pdf] = corpus_of(self._corpus, pdf=pdf).pages
        return self._read[pdf]


def _check(path: Path, trust: Trust, questions: Path | None, pages: _Pages) -> SetReport:
    envelope = _read(path, MAX_ITEM_MANIFEST_BYTES + 1)
    if envelope is None:
        raise InputError(f"{path} does not exist; an item manifest stands beside its question file")
    file = questions or path.with_name(path.name.removesuffix(SUFFIX) + ".json")
    read = _read(file, MAX_QUESTIONS_BYTES + 1, named=questions is not None)
    if read is None and questions is not None:
        raise InputError(f"{questions} does not exist; name the question file of {path.name}")
    registry = trust.registry if trust.registry is not None else _read(path.with_name(REGISTRY), 1 << 20, named=False)
    report = verify_item_set(
        envelope,
        questions=read,
        policy=trust.policy,
        now=int(time.time()),
        previous=_previous(path, envelope),
        pages=pages.of(envelope),
        registry=registry,
        problems=trust.problems,
    )
    files: Mapping[str, bytes] = {} if registry is None else {REGISTRY: registry}
    trust.remember(files)
    return report


def _previous(path: Path, envelope: bytes) -> bytes | None:
    """Return the manifest of the version before where it stands in the same folder."""
    try:
        predicate = decode_items(envelope).predicate
    except VerifyError:
        return None  # the report says so
    if predicate.previous is None:
        return None
    before = items_file(predicate.benchmark.name, predicate.previous.version)
    return _read(path.with_name(before), MAX_ITEM_MANIFEST_BYTES + 1, named=False)


def _read(path: Path, most: int, *, named: bool = True) -> bytes | None:
    """Return the first bytes of a file, None where there is none; one that nobody `named` has to be a plain file."""
    try:
        if not named and path.exists() and not path.is_file():
            raise InputError(f"{path} is no plain file; name the question file with --questions, or move it away")
        with path.open("rb") as file:
            return file.read(most)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check its permissions") from error


def _lines(path: str, report: SetReport, strict: bool) -> list[str]:
    lines = [f"{'ok' if report.ok(strict) else 'NO'}  {one_line(path)}"]
    if report.name is not None:
        lines += _claims(report)
    return lines + finding_lines(report.findings, strict)


def _claims(report: SetReport) -> list[str]:
    before = f", after {report.previous}" if report.previous else ""
    created = moment_text(report.created or 0)
    derived = (
        "no item was derived from a system under test: declared"
        if report.declared
        else f"{report.derived} derived from a system under test"
    )
    return [
        f"    {short_name(report.name)}, frozen as version {report.version} on {created}{before}",
        f"    {report.items} questions, {report.reviewed} reviewed, {(report.items or 0) - (report.reviewed or 0)} not",
        f"    {derived}",
        key_line(report),
    ]


def item_arguments(paths: Sequence[str], given: dict[str, Any]) -> bool:
    """Tell whether `verify` was given item manifests; raises `UsageError` for runs among them or options of runs."""
    items = [path for path in paths if is_item_manifest(path)]
    if not items:
        if given["--questions"]:
            raise click.UsageError(f"--questions is the file of an item manifest (*{SUFFIX}), and none was given")
        return False
    if len(items) != len(paths):
        raise click.UsageError("check runs and question sets one after the other, not in one command")
    ignored = [name for name in ("--rerun", "--log") if given[name]]
    if ignored:
        raise click.UsageError(f"{', '.join(ignored)} is for runs; an item manifest stands in no log")
    return True
