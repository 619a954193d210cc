"""Picture: all runs of a row over time, which of them count and which one is shown. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from ragassay.site.numbers import UNKNOWN, exact, plural, shown
from ragassay.site.pictures.marks import Frame, Mark, dot, line, text
from ragassay.site.pictures.picture import WIDE, Picture, Twin, picture
from ragassay.site.pictures.scale import value
from ragassay.site.record import BoardRow, Ratio, RunLine
from ragassay.site.safe import shortened

LATEST = 253_402_300_800
DAY = 86_400


def runs_over_time(row: BoardRow) -> Picture:
    """Return the runs of a row by when they ended; a run without a score or a date is named and not drawn."""
    drawn = [(run, run.score) for run in row.runs if run.score is not None and _dated(run)]
    return picture(
        (lambda width: _drawing(drawn, width)) if drawn else None,
        seed=f"runs {row.key}",
        title=f"Runs of {shortened(row.name, 60)} over time",
        description=_description(row, drawn),
        twin=Twin(
            header=("Run", "Pass", "Ended", "Score", "Place"),
            rows=tuple((run.id[:12], str(run.pass_k), _moment(run), exact(run.score), place(run)) for run in row.runs),
        ),
        note="Filled: in the window. Grey: eligible and older. Ring: not eligible or voided. The ringed dot with its"
        " number is the run whose score the board shows.",
    )


def place(run: RunLine) -> str:
    """Write how a run counts."""
    if run.why_not:
        return f"not eligible: {run.why_not}"
    return "shown" if run.shown else "in the window" if run.in_window else "older"


def _dated(run: RunLine) -> bool:
    return 0 < run.ended < LATEST


def _moment(run: RunLine) -> str:
    return datetime.fromtimestamp(run.ended, UTC).strftime("%Y-%m-%d %H:%M UTC") if _dated(run) else UNKNOWN


def _description(row: BoardRow, drawn: Sequence[tuple[RunLine, Ratio]]) -> str:
    if not row.runs:
        return "There is no run of this row."
    window = [run for run in row.runs if run.in_window]
    out = [run for run in row.runs if run.why_not]
    said = [f"{plural(len(row.runs), 'run')}, {len(window)} in the window, {len(out)} not eligible."]
    if row.range:
        low, high = exact(row.range[0]), exact(row.range[1])
        said.append(f"The window's scores are all {low}." if low == high else f"The window runs from {low} to {high}.")
    said += [f"Shown is {exact(run.score)} of {_moment(run)}." for run in row.runs if run.shown]
    if lost := len(row.runs) - len(drawn):
        said.append(f"{plural(lost, 'run')} without a score or a date: in the table below, not drawn.")
    return " ".join(said)


def _drawing(drawn: Sequence[tuple[RunLine, Ratio]], width: int) -> tuple[Frame, list[Mark]]:
    first, last = min(run.ended for run, _ in drawn), max(run.ended for run, _ in drawn)
    span = (float(first), float(last)) if last > first else (first - 1.0, first + 1.0)
    frame = Frame(width=width, height=230, x=span, y=(0, 1), left=70, right=40, top=22, bottom=30)
    edge = 22 * frame.x_unit
    left, right = span[0] - edge, span[1] + edge
    marks: list[Mark] = []
    for tick in ("0", "0.25", "0.5", "0.75", "1"):
        marks.append(line((left, right), (float(tick), float(tick))))
        marks.append(text(left, float(tick), shown(tick), anchor="end", dx=-8, dy=4))
    marks += _dates(first, last, 5 if width == WIDE else 3)
    for run, score in sorted(drawn, key=lambda pair: pair[0].shown):
        marks += _run(run, score)
    return frame, marks


def _dates(first: int, last: int, count: int) -> list[Mark]:
    form = "%Y-%m-%d" if last - first >= (count - 1) * DAY else "%m-%d %H:%M" if last - first >= 300 else "%H:%M:%S"
    if last == first:
        form = "%Y-%m-%d %H:%M"
    moments = [first + (last - first) * index // (count - 1) for index in range(count)] if last > first else [first]
    words = [(moment, datetime.fromtimestamp(moment, UTC).strftime(form)) for moment in moments]
    return [text(float(moment), 0, said, anchor="middle", dy=20) for moment, said in dict(words).items()]


def _run(run: RunLine, score: Ratio) -> list[Mark]:
    x, y = float(run.ended), value(score)
    title = f"{run.id[:12]}, pass {run.pass_k}, {_moment(run)}: {exact(score)}, {place(run)}"
    if run.why_not:
        return [dot(x, y, "soft", 5, hollow=True, title=title)]
    mark = dot(x, y, "accent" if run.in_window else "soft", 4.5, title=title)
    if not run.shown:
        return [mark]
    words = text(x, y, exact(score), "ink", anchor="middle", dy=-13 if y < 0.9 else 22, bold=True)
    return [dot(x, y, "ink", 9, hollow=True), mark, words]
