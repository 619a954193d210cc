"""A check as annotations of a GitHub Actions job. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ragassay.site.check.record import CheckReport
from ragassay.site.check.text import moved_words, worse_words
from ragassay.site.safe import one_line

MOST_QUESTIONS = 10


def github_annotations(report: CheckReport) -> list[str]:
    """Return workflow commands: an error for what failed, a warning for what is inconclusive or weakens the check."""
    return list(_lines(report))


def _lines(report: CheckReport) -> Iterator[str]:
    for problem in report.problems:
        yield _command("error", "ragassay check", one_line(problem))
    for row in report.rows:
        for one in row.findings:
            if one.outcome == "ok":
                continue
            text = one_line(one.text)
            if one.check == "max-drop" and row.worse:
                rest = len(row.worse) - MOST_QUESTIONS
                named = [moved_words(row), *map(worse_words, row.worse[:MOST_QUESTIONS])]
                text = "\n".join([text, *named, *([f"and {rest} more"] if rest > 0 else [])])
            level = "error" if one.outcome == "failed" else "warning"
            yield _command(level, f"ragassay check: {row.name} {one.check}", text)
    for warning in report.warnings:
        yield _command("notice", "ragassay check", one_line(warning))


def _command(level: str, title: str, message: str) -> str:
    return f"::{level} title={_escaped(one_line(title)).replace(':', '%3A').replace(',', '%2C')}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
