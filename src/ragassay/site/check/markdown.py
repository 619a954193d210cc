"""A check as Markdown, for the summary of a CI job. Pure."""

from __future__ import annotations

import re

from ragassay.site.cellwords import CAUSE_WORDS
from ragassay.site.check.record import CheckReport, RowCheck, WorseQuestion
from ragassay.site.check.text import WORDS, baseline_words, changed_words, harmless, moved_words, verdict
from ragassay.site.numbers import shown, signed

MOST = 100
"""Questions of one row in a summary, which may have 1 MiB in all."""
SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&@:$])")


def markdown(report: CheckReport) -> str:
    """Return a report as Markdown in which foreign text is text: no link, no markup, no mention."""
    lines = [f"### {plain(verdict(report))}", ""]
    lines += [f"- **{plain(problem)}**" for problem in report.problems]
    lines += ["", "| row | check | outcome | |", "|---|---|---|---|"]
    lines += [
        f"| {plain(row.name)} | {one.check} | {WORDS[one.outcome]} | {plain(one.text)} |"
        for row in report.rows
        for one in row.findings
    ]
    for row in report.rows:
        lines += _row(row)
    if report.baseline:
        lines += ["", f"Compared with {plain(baseline_words(report.baseline))}."]
    lines += ["", *(f"- {plain(warning)}" for warning in report.warnings)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _row(row: RowCheck) -> list[str]:
    if row.drop is None:
        return []
    lines = ["", f"**{plain(row.name)}**: {moved_words(row).removesuffix(', largest drop first:')}.", ""]
    lines += [f"- changed: {plain(words)}" for words in changed_words(row)]
    if not row.worse:
        return lines
    lines += ["", "| drop | question | before | now | where it was lost |", "|---:|---|---:|---:|---|"]
    lines += [_worse(one) for one in row.worse[:MOST]]
    if len(row.worse) > MOST:
        lines += ["", f"and {len(row.worse) - MOST} more; `--json` names all"]
    return lines


def _worse(one: WorseQuestion) -> str:
    cells = (signed(one.difference), plain(one.id), shown(one.before), shown(one.now), CAUSE_WORDS[one.cause])
    return f"| {' | '.join(cells)} |"


def plain(text: str) -> str:
    """Return foreign text on one line with every character that Markdown reads escaped."""
    return SPECIAL.sub(r"\\\1", harmless(text))
