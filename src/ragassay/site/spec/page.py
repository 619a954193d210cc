"""A board and its runs become the specification: one document, and from it the page in HTML and in Markdown. Pure."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from markupsafe import Markup

from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import plural
from ragassay.site.page import PLACES
from ragassay.site.record import Board
from ragassay.site.render import environment, utc
from ragassay.site.spec.answering import answering
from ragassay.site.spec.corpus import corpus
from ragassay.site.spec.counted import verb
from ragassay.site.spec.document import Block, Code, Document, Paragraph, paragraph
from ragassay.site.spec.ground import Ground, ground_of, on_board
from ragassay.site.spec.judges import judges
from ragassay.site.spec.limits import limits
from ragassay.site.spec.markdown import render_markdown
from ragassay.site.spec.measured import measured
from ragassay.site.spec.questions import questions
from ragassay.site.spec.rows import rows
from ragassay.site.spec.samples import samples
from ragassay.site.spec.scoring import scoring
from ragassay.site.spec.signing import signing
from ragassay.site.spec.trust import not_shown, verification
from ragassay.site.spec.versions import versions

SECTIONS = (
    measured,
    questions,
    samples,
    corpus,
    rows,
    answering,
    scoring,
    judges,
    signing,
    not_shown,
    verification,
    versions,
    limits,
)
HTML = "spec.html"
MARKDOWN = "spec.md"
CSS = """
main { max-width: 48rem; }
.spec { margin: .75rem 0 1.25rem; } .spec td { padding: .3rem .75rem .3rem 0; } .spec caption { padding-top: .4rem; }
.spec:not(.cards) td { overflow-wrap: anywhere; } .spec:not(.cards) td:first-child { min-width: 7rem; }
pre { margin: .75rem 0; } h3 { margin-top: 2rem; }
"""
"""What this page is set in beside the style of the site: one measure for prose and tables."""
SCOPES = {"local": "local preview, not published", "public": "public board"}


def spec_document(board: Board, runs: Sequence[LoadedRun]) -> Document:
    """Return the specification of a board; `runs` are those that it was built from.

    The heading says whether the board is a local preview or public. A board without a verified run has one paragraph.
    """
    title = f"Test specification ({SCOPES[board.scope]})"
    ground = ground_of(board, runs)
    if ground is None:
        return Document(title, (_nothing(board, runs),))
    return Document(title, _lead(ground), tuple(section(ground) for section in SECTIONS))


def _nothing(board: Board, runs: Sequence[LoadedRun]) -> Paragraph:
    refused, void = len(board.refused), len(board.voided)
    if not runs and not void:
        what = "Nothing is published yet" if board.scope == "public" else "There is no run yet"
        makes = "ragassay publish" if board.scope == "public" else "ragassay run"
        verb_ = "publishes what is finished" if board.scope == "public" else "makes runs"
        return paragraph(f"{what}, so there is nothing to specify.", (Code(makes), f" {verb_}."))
    return paragraph(
        "There is no run that stands, so there is nothing to specify.",
        f"{plural(refused, 'run')} could not be verified." if refused else None,
        f"{plural(void, 'run')} {verb(void, 'was', 'were')} taken back." if void else None,
    )


def _lead(ground: Ground) -> tuple[Block, ...]:
    runs = len(ground.own)
    local = "" if ground.board.scope == "public" else " Nothing on it is published."
    return (
        paragraph(
            (
                "This is how ",
                on_board(ground.board.name),
                f" was made: what was asked, of what, how it was scored, and what of that can be checked.{local}",
            ),
            f"It was written by ragassay {ground.board.harness} on {utc(ground.board.generated)} from "
            f"{plural(runs, 'signed run')}, and every number in it was computed from them.",
        ),
    )


def spec_files(board: Board, runs: Sequence[LoadedRun]) -> dict[str, bytes]:
    """Return the two pages of a site by their paths."""
    document = spec_document(board, runs)
    return {HTML: render_html(document, board), MARKDOWN: render_markdown(document)}


def render_html(document: Document, board: Board, base: str = "") -> bytes:
    """Return the specification as a page of the site; `base` stands before each link that leads into the site."""
    templates = environment()
    css = Markup(f"{templates.globals['css']}{CSS}")  # both our own, without anything from a run
    digest = base64.b64encode(hashlib.sha256(css.encode("utf-8")).digest()).decode("ascii")
    return (
        templates.get_template("spec.html")
        .render(
            board=board,
            root=base,
            public=board.scope == "public",
            places=PLACES,
            here=HTML,
            script=None,
            document=document,
            kind_of=_kind,
            whole_css=css,
            whole_css_hash=f"sha256-{digest}",
        )
        .encode("utf-8")
    )


def _kind(part: object) -> str:
    """Return what a block or a span is, for the template."""
    return type(part).__name__
