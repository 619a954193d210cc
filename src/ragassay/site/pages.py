"""Every file of a static site as bytes, by its path. Pure: the same board and runs give the same site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragassay import canon
from ragassay.site.badge import badges
from ragassay.site.feed import feed
from ragassay.site.file import encode_board
from ragassay.site.loaded import LoadedRun
from ragassay.site.page import Site, site_of
from ragassay.site.page_board import board_page
from ragassay.site.page_compare import compare_pages
from ragassay.site.page_corpus import corpus_page
from ragassay.site.page_judges import judges_page
from ragassay.site.page_question import question_pages
from ragassay.site.page_row import row_pages
from ragassay.site.page_run import run_pages
from ragassay.site.record import Board
from ragassay.site.spec.page import spec_files
from ragassay.site.verifier_page import verifier_page


def site_files(board: Board, runs: Sequence[LoadedRun], log: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """Return the site of a board, the runs that it was built from, and the log's files: path → bytes."""
    site = site_of(board, runs, log)
    files: dict[str, bytes] = {"board.json": encode_board(board), "verify.html": verifier_page()}
    files.update(board_page(site))
    for placed in site.tables:
        files.update(row_pages(site, placed))
        files.update(question_pages(site, placed))
    files.update(compare_pages(site))
    files.update(judges_page(site))
    files.update(corpus_page(site))
    files.update(run_pages(site))
    files.update(spec_files(board, runs))
    files.update(badges(site))
    files.update(feed(site))
    files.update(_downloads(site))
    return files


def _downloads(site: Site) -> Iterator[tuple[str, bytes]]:
    """Yield what is served as data beside the pages: question sets, the log, and further judgements."""
    manifests = {canon.sha256(run.items): run.items for run in site.runs if run.items is not None}
    for file in site.benchmarks:
        yield file.path, canon.canonical(file.benchmark.item_set())
        if (items := manifests.get(file.items or "")) is not None:
            yield file.items_path, items
    yield from ((f"log/{path}", data) for path, data in site.log.items())
    for run in site.runs:
        for one in run.judgements if run.document is not None else ():
            if one.document is not None:
                yield from ((f"judgements/{run.id}/{one.id}/{name}", data) for name, data in one.files.items())
