"""Reasons for withholding texts are shown as text, few of them, and each of one line."""

from __future__ import annotations

from ragassay.cli.verify_lines import MAX_NAME, MAX_REASONS, report_lines
from ragassay.manifest.redaction import Withholding
from ragassay.testing.cases import report_on
from ragassay.testing.logged_run import KEY_POLICY, NOW
from ragassay.testing.redacted_run import Redacting, redact
from ragassay.testing.redactions import HONEST_REDACTIONS, HOSTILE_REASON
from ragassay.verify import Report, load_policy, verify

STEERING = set("\x1b\u202e\n\r\x07")


def lines_of(report: Report) -> list[str]:
    """Return what is printed of a report under strict."""
    return report_lines("run", report, True)


def test_what_is_withheld_is_said_in_words() -> None:
    """how many texts of how many questions, and the reasons, the most frequent first."""
    lines = lines_of(report_on(HONEST_REDACTIONS["texts withheld"]))
    at = lines.index("    withheld 4 texts of 2 questions, or words of them")
    assert lines[at + 1 : at + 3] == ["      3 because: it names a person", "      1 because: the page is licensed"]


def test_a_reason_that_steers_is_written_out() -> None:
    """Escape and direction marks stand there as code points, markup as the characters that it is."""
    report = report_on(HONEST_REDACTIONS["a reason that steers a display"])
    assert report.withheld is not None
    assert report.withheld.reasons[0].reason == HOSTILE_REASON
    [line] = [line for line in lines_of(report) if "because" in line]
    assert line == "      1 because: [U+001B][31m[U+202E]<script>alert(1)</script>"


def test_many_long_reasons_stay_few_short_lines() -> None:
    """Five reasons are printed, cut at their most characters, and how many more there are."""
    fields = ("answer", "chunks/1/text", "claims/1/quote", "claims/1/reason", "claims/2/quote", "claims/2/reason")
    withhold = [Withholding(id="q-001", field=field, reason=f"{at}\n" + "x" * 1998) for at, field in enumerate(fields)]
    report = verify(redact(Redacting(withhold=withhold)).files, policy=load_policy(KEY_POLICY), now=NOW)
    lines = lines_of(report)
    reasons = [line for line in lines if "because" in line]
    assert len(reasons) == MAX_REASONS
    assert "      and 1 more reasons" in lines
    assert all(len(line) < MAX_NAME + 40 and not set(line) & STEERING for line in lines)
