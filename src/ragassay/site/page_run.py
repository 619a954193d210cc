"""One page per verified run: what was checked, what was measured, every question; its files beside it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from markupsafe import Markup

from ragassay import canon
from ragassay.manifest.statement import RunDocument
from ragassay.records import Counts, to_json
from ragassay.site.fairness import run_words
from ragassay.site.loaded import LoadedRun
from ragassay.site.names import file_names
from ragassay.site.numbers import plural
from ragassay.site.page import Site
from ragassay.site.plot import CAUSES
from ragassay.site.record import BoardRow, RunLine
from ragassay.site.run_bundle import RunBundle, run_bundle
from ragassay.site.verifier_page import verifier
from ragassay.site.view import item_views


def run_pages(site: Site) -> Iterator[tuple[str, bytes]]:
    """Yield the page of each drawn run with its files, its bundle and, on a public board, its publication."""
    places = {
        run.id: _Place(row=row, line=run, row_path=placed.paths.rows.get(row.key), questions=placed.paths.questions)
        for placed in site.tables
        for row in placed.table.rows
        for run in row.runs
    }
    for run in site.runs:
        if run.document is not None:
            yield from _run_files(site, run, run.document, places.get(run.id))


class _Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stands on the board: its row, its line in it, the row's page, the pages of its questions."""

    row: BoardRow
    line: RunLine
    row_path: str | None
    questions: Mapping[str, str]


def _run_files(site: Site, run: LoadedRun, document: RunDocument, place: _Place | None) -> Iterator[tuple[str, bytes]]:
    path = site.run_paths[document.predicate.run_id]
    folder = path.removesuffix(".html")
    name, publication = folder.rpartition("/")[2], f"publications/{folder.rpartition('/')[2]}.json"
    yield from ((f"{folder}/{file}", data) for file, data in run.files.items())
    if run.publication is not None:
        yield publication, canon.canonical(to_json(run.publication))
    bundle = run_bundle(run.files)
    if bundle.data is not None:
        yield f"{folder}.zip", bundle.data
    items = item_views(document)
    yield (
        path,
        site.page(
            "run.html",
            path,
            p=document.predicate,
            line=place.line if place else None,
            row_path=place.row_path if place else None,
            config=document.config,
            fairness=run_words(document),
            config_text=canon.canonical(to_json(document.config)).decode("utf-8") if document.config else "",
            checks=run.checks,
            files=sorted(run.files),
            missing=_missing(document.predicate.counts),
            items=items,
            by_cause=[(cause, lost) for cause in CAUSES if (lost := [i for i in items if i.cause == cause])],
            anchors=run_anchors(document),
            question_paths=place.questions if place else {},
            publication_path=publication,
            bundle=bundle,
            name=name,
            bundle_name=f"{name}.zip",
            **_verifier_parts(bundle),
        ),
    )


def _verifier_parts(bundle: RunBundle) -> dict[str, object]:
    """Return what lets a run's page check the run that it holds, or nothing where it holds none."""
    if bundle.text is None:
        return {"verifier": None}
    parts = verifier()
    script, style, form = Markup(parts.script), Markup(parts.style), Markup(parts.form)  # all three are our own files
    return {"verifier": parts, "verifier_script": script, "verifier_style": style, "verifier_form": form}


def _missing(counts: Counts) -> list[str]:
    return [
        f"{plural(count, 'question')} {what}"
        for count, what in (
            (counts.unjudged, "unjudged"),
            (counts.answer_failed, "without an answer"),
            (counts.retrieval_failed, "without retrieval, because the stack failed"),
            (counts.harness_failed, "lost by the harness"),
        )
        if count
    ]


def run_anchors(document: RunDocument) -> dict[str, str]:
    """Return the fragment of each question on its run's page."""
    return {identity: f"q-{name}" for identity, name in file_names(row.id for row in document.outputs).items()}
