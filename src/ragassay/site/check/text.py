"""A check as text: for a terminal, as Markdown for a job's summary, and as the failure of a test. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.site.cellwords import CAUSE_WORDS
from ragassay.site.changes import as_read
from ragassay.site.check.record import BaselineLine, CheckReport, RowCheck, WorseQuestion
from ragassay.site.lines import wrapped
from ragassay.site.numbers import UNKNOWN, plural, shown, signed
from ragassay.site.safe import one_line, shortened

LABEL = 25
"""Columns before what is said of a check."""
MOST = 20
"""Questions that are printed of one row; --json names all."""
MOST_CHANGES = 8
WORDS = {"ok": "holds", "failed": "failed", "inconclusive": "inconclusive"}


def harmless(text: str) -> str:
    """Return foreign text on one line that no CI system takes for a command: `::name::` and `##[name]` are broken."""
    return one_line(text).replace("::", ": :").replace("##[", "## [")


def verdict(report: CheckReport) -> str:
    """Say in one sentence how the check came out."""
    failed = [row.name for row in report.rows if not row.passed]
    open_ = [row.name for row in report.rows if any(one.outcome == "inconclusive" for one in row.findings)]
    if not report.passed:
        what = ", ".join(failed) if failed else "the board"
        return harmless(f"{report.board}: the check failed for {what}")
    if open_:
        return harmless(f"{report.board}: no check failed; inconclusive for {', '.join(open_)}")
    return harmless(f"{report.board}: the check holds for {', '.join(row.name for row in report.rows)}")


def render(report: CheckReport, *, width: int = 100, most: int = MOST) -> str:
    """Return a report as lines of at most `width` columns; `most` questions of a row are listed."""
    lines = wrapped(verdict(report), width)
    lines += [line for problem in report.problems for line in wrapped(f"! {harmless(problem)}", width)]
    for row in report.rows:
        lines += ["", *_row(row, width, most)]
    if report.baseline:
        lines += ["", *wrapped(f"compared with {harmless(baseline_words(report.baseline))}", width)]
    lines += [line for warning in report.warnings for line in wrapped(f"note: {harmless(warning)}", width)]
    return "\n".join(lines) + "\n"


def _row(row: RowCheck, width: int, most: int) -> list[str]:
    lines = [harmless(row.name)]
    said = [(f"{WORDS[one.outcome]:<12} {one.check:<9}", harmless(one.text)) for one in row.findings]
    said += [(f"{'changed':<22}", line) for line in changed_words(row)]
    for label, text in said:
        first, *rest = wrapped(text, width - LABEL, "")
        lines += [f"  {label} {first}", *(" " * LABEL + line for line in rest)]
    if row.drop is None:
        return lines
    lines.append(f"  {moved_words(row)}")
    listed = row.worse[:most]
    lines += [f"    {worse_words(one)}" for one in listed]
    if len(row.worse) > len(listed):
        lines.append(f"    and {len(row.worse) - len(listed)} more; --json names all")
    return lines


def moved_words(row: RowCheck) -> str:
    """Count the questions that got worse, better, and stayed."""
    worse = f"{plural(len(row.worse), 'question')} got worse"
    return f"{worse}, {row.better:,} better, {row.equal:,} equal" + (", largest drop first:" if row.worse else "")


def worse_words(one: WorseQuestion) -> str:
    """Write one question that got worse: its means, its passes in hundredths, and where it was lost."""
    means = f"{shown(one.before)} → {shown(one.now)}"
    return f"{signed(one.difference):>7}  {harmless(one.id)}  {means}  {_passes(one)}  {CAUSE_WORDS[one.cause]}"


def _passes(one: WorseQuestion) -> str:
    before = _hundredths(one.passes_before) if one.passes_before is not None else "?"
    return f"({before} → {_hundredths(one.passes)})"


def _hundredths(passes: Sequence[int | None]) -> str:
    return " ".join(UNKNOWN if score is None else str(score) for score in passes)


def changed_words(row: RowCheck) -> list[str]:
    """Say what a row measures otherwise than before; nothing where there is no comparison."""
    if row.drop is None:
        return []
    if not row.changed:
        return ["nothing that is recorded: what moved is chance, or a service"]
    said = [f"{harmless(one.field)}: {_value(one.before)} → {_value(one.after)}" for one in row.changed[:MOST_CHANGES]]
    rest = len(row.changed) - MOST_CHANGES
    return said + ([f"and {rest} more; --json names all"] if rest > 0 else [])


def _value(text: str | None) -> str:
    return "absent" if text is None else harmless(shortened(as_read(text), 40))


def baseline_words(line: BaselineLine) -> str:
    """Name the baseline, whether it is signed, and by which keys."""
    if line.kind == "board.json":
        return f"{line.source} (board.json of {line.name or 'a board'}, {plural(len(line.runs), 'run')}, not signed)"
    keys = ", ".join(key[:12] for key in line.signers)
    return f"{line.source} ({plural(len(line.runs), 'run')}, verified, signed by {keys or 'nobody'})"
