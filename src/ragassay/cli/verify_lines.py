"""What `ragassay verify` prints of reports, for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragassay.cli.moments import moment_text
from ragassay.site.numbers import plural
from ragassay.site.safe import one_line, shortened
from ragassay.verify import CODES, Announced, Finding, Kept, Report, severity

if TYPE_CHECKING:
    from ragassay.verify.item_set import SetReport

MAX_NAME, MAX_MESSAGE = 100, 400
"""The most characters of a text from a run that are printed: a name, and a finding's message."""
MAX_REASONS = 5
"""The most reasons for withholding texts that are printed of one run."""


def report_lines(name: str, report: Report, strict: bool) -> list[str]:
    """Return the verdict on one run: what it claims to be, whose it is, and why it is refused."""
    verdict = "ok" if report.ok(strict) else "NO"
    lines = [f"{verdict}  {one_line(name)}"]
    if report.run_id is not None:
        lines += _claims(report)
    return lines + finding_lines(report.findings, strict)


def finding_lines(findings: Sequence[Finding], strict: bool) -> list[str]:
    """Return a line for each reason to refuse, and one with the codes of all warnings."""
    failures = [one for one in findings if severity(one.code, strict=strict) == "fail"]
    lines = []
    for one in failures:
        place = f" [{short_name(one.where)}]" if one.where else ""
        lines.append(f"    fail  {one.code}: {shortened(one.message, MAX_MESSAGE)}{place}")
    warned = sorted({one.code for one in findings} - {one.code for one in failures})
    return [*lines, f"    warn  {', '.join(warned)}"] if warned else lines


def _claims(report: Report) -> list[str]:
    lines = [
        f"    {short_name(report.row)}, pass {report.pass_k} of {report.pass_of}, {report.source_kind}, "
        f"benchmark {short_name(report.benchmark)}",
        f"    {_score(report)}, {short_name(report.metric)}",
        key_line(report),
    ]
    if report.announced is not None:
        lines.append(f"    announced as entry {report.announced.index} of {short_name(report.announced.log)}")
    if report.witnessed_at is not None:
        lines.append(f"    witnessed {moment_text(report.witnessed_at)}{_announced_at(report.announced)}")
    if report.withheld is not None:
        lines += _withheld(report.withheld)
    return lines


def _withheld(kept: Kept) -> list[str]:
    """Say how many texts of how many questions its publisher keeps back, and why, the most frequent reasons first."""
    lines = [f"    withheld {plural(kept.texts, 'text')} of {plural(kept.rows, 'question')}, or words of them"]
    reasons = sorted(kept.reasons, key=lambda one: -one.texts)
    lines += [f"      {one.texts} because: {shortened(one.reason, MAX_NAME)}" for one in reasons[:MAX_REASONS]]
    if len(reasons) > MAX_REASONS:
        lines.append(f"      and {len(reasons) - MAX_REASONS} more reasons")
    return lines


def short_name(text: str | None) -> str:
    """Return a name from a signed statement as one short line."""
    return shortened(text or "", MAX_NAME)


def _announced_at(announced: Announced | None) -> str:
    if announced is None or announced.witnessed_at is None:
        return ""
    return f", the announcement {moment_text(announced.witnessed_at)}"


def key_line(report: Report | SetReport) -> str:
    """Return whose key it is by fingerprint and name, and why it is trusted or not."""
    return f"    key {short_name(report.fingerprint)} ({short_name(report.signer_name)}; {_trust(report)})"


def _trust(report: Report | SetReport) -> str:
    """Say whose key it is; a run of another key than the pinned one is not called a broken signature."""
    if report.pinned and "KEY_UNKNOWN" in report.codes:
        return "no key that you pinned"
    if "SIGNATURE_INVALID" in report.codes:
        return "signature NOT valid"
    if report.key_status is not None:
        return f"{report.key_status} in the registry of the pinned root"
    return "the pinned key" if report.pinned else "not the key you trust yet"


def _score(report: Report) -> str:
    counts = report.counts
    scored = f"{counts.scored} of {counts.asked} scored" if counts else "counts unknown"
    if report.score is None:
        return f"no score, {scored}"
    return f"score {short_name(report.score.decimal)} ({report.score.num}/{report.score.den}), {scored}"


def summary_lines(reports: Sequence[Report], strict: bool) -> list[str]:
    """Return how each announcement ended, then what `closing_lines` says of runs."""
    return [*_intents(reports), *closing_lines(reports, strict, "run")]


def closing_lines(reports: Sequence[Report] | Sequence[SetReport], strict: bool, noun: str) -> list[str]:
    """Return what each warning means, what was not checked, and how many of what was given are accepted."""
    accepted = sum(report.ok(strict) for report in reports)
    warned = {code for report in reports for code in report.codes if severity(code, strict=strict) == "warn"}
    lines = [f"{code}: {CODES[code].meaning}" for code in sorted(warned)]
    skipped = sorted({f"{item.check} ({item.why})" for report in reports for item in report.not_made})
    if skipped:
        lines.append(f"Not checked: {one_line('; '.join(skipped))}.")
    how = "strictly verified" if strict else "verified"
    return [*lines, f"{accepted} of {plural(len(reports), noun)} {how}."]


def _intents(reports: Sequence[Report]) -> list[str]:
    """Return one line for each announcement of which a log says how its passes ended, and which were not given."""
    lines = []
    given = {(r.announced.log, r.announced.index, r.pass_k) for r in reports if r.announced is not None}
    for report in reports:
        said = report.announced
        if said is None or said.passes is None:
            continue
        planned = sum(map(len, (said.passes.published, said.passes.voided, said.passes.missing)))
        ends = [f"{len(said.passes.published)} of {planned} published"]
        ends += [f"{len(said.passes.voided)} void"] if said.passes.voided else []
        ends += [f"{len(said.passes.missing)} MISSING"] if said.passes.missing else []
        absent = [str(k) for k in said.passes.published if (said.log, said.index, k) not in given]
        ends += [f"pass {', '.join(absent)} not among these runs"] if absent else []
        lines.append(f"intent {said.index} {short_name(report.row)}: {', '.join(ends)}")
    return list(dict.fromkeys(lines))
