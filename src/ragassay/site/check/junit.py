"""A check as JUnit XML: one suite a row, one test case a thing that was asked. Pure."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from ragassay.site.check.record import CheckReport, Finding, RowCheck
from ragassay.site.check.text import harmless, moved_words, worse_words


def junit(report: CheckReport) -> bytes:
    """Return a report as JUnit XML in UTF-8; what is inconclusive is skipped, with its reason."""
    suites = [_suite(report.board, row) for row in report.rows]
    if report.problems:
        suites.insert(0, _problems(report))
    failures = len(report.problems) + sum(one.outcome == "failed" for row in report.rows for one in row.findings)
    tests = len(report.problems) + sum(len(row.findings) for row in report.rows)
    open_ = sum(one.outcome == "inconclusive" for row in report.rows for one in row.findings)
    head = f'<testsuites name={_attr(report.board)} tests="{tests}" failures="{failures}" errors="0" skipped="{open_}">'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', head, *suites, "</testsuites>"]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _attr(text: str) -> str:
    return quoteattr(harmless(text))


def _problems(report: CheckReport) -> str:
    count = len(report.problems)
    cases = "".join(
        f"<testcase classname={_attr(report.board)} name={_attr(f'board {number}')}>"
        f"<failure message={_attr(problem)}/></testcase>"
        for number, problem in enumerate(report.problems, 1)
    )
    counts = f'tests="{count}" failures="{count}" errors="0" skipped="0"'
    return f'<testsuite name={_attr(report.board)} {counts} time="0">{cases}</testsuite>'


def _suite(board: str, row: RowCheck) -> str:
    failed = sum(one.outcome == "failed" for one in row.findings)
    open_ = sum(one.outcome == "inconclusive" for one in row.findings)
    counts = f'tests="{len(row.findings)}" failures="{failed}" errors="0" skipped="{open_}"'
    cases = "".join(_case(board, row, one) for one in row.findings)
    return f'<testsuite name={_attr(f"{board}: {row.name}")} {counts} time="0">{cases}</testsuite>'


def _case(board: str, row: RowCheck, one: Finding) -> str:
    head = f"<testcase classname={_attr(f'{board}.{row.name}')} name={_attr(one.check)}"
    if one.outcome == "ok":
        return f"{head}/>"
    if one.outcome == "inconclusive":
        return f"{head}><skipped message={_attr(one.text)}/></testcase>"
    body = [moved_words(row), *map(worse_words, row.worse)] if one.check == "max-drop" and row.drop else []
    return f"{head}><failure message={_attr(one.text)}>{escape(chr(10).join(body))}</failure></testcase>"
