"""`ragassay verify`: check runs from their own bytes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from ragassay.errors import InputError
from ragassay.manifest import is_run_folder, load_public_key, read_run
from ragassay.records import to_json
from ragassay.site.safe import one_line
from ragassay.verify import CODES, PinnedKey, Policy, Report, Unpinned, severity, verify


@click.command("verify")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--key", type=click.Path(path_type=Path), help="Accept only runs signed by this public key file.")
@click.option("--strict", is_flag=True, help="Turn warnings into failures.")
@click.option("--json", "as_json", is_flag=True, help="Print the reports as JSON.")
@click.pass_context
def command(ctx: click.Context, paths: tuple[Path, ...], key: Path | None, strict: bool, as_json: bool) -> None:
    """Check runs: signature, digests, and every number recomputed.

    PATH is a run folder, a folder of run folders such as .ragassay/runs, or the folder of a board. Exit code 1 when any
    run is refused.
    """
    policy: Policy = PinnedKey(load_public_key(key)) if key else Unpinned()
    reports = sorted(((folder, _report(folder, policy)) for folder in _folders(paths)), key=_place)
    accepted = all(report.ok(strict) for _, report in reports)
    if as_json:
        runs = [{"path": str(folder), "ok": report.ok(strict), **to_json(report)} for folder, report in reports]
        click.echo(json.dumps({"ok": accepted, "strict": strict, "runs": runs}, indent=2, ensure_ascii=True))
    else:
        for folder, report in reports:
            click.echo("\n".join(_lines(folder, report, strict)) + "\n")
        click.echo("\n".join(_summary([report for _, report in reports], strict)))
    ctx.exit(0 if accepted else 1)


def verify_paths(paths: Sequence[Path], *, key: Path) -> int:
    """Check runs against a pinned key, print what was refused and one closing line; return 1 if any was, else 0."""
    policy = PinnedKey(load_public_key(key))
    reports = [(folder, _report(folder, policy)) for folder in _folders(paths)]
    for folder, report in reports:
        if not report.ok(strict=False):
            click.echo("\n".join(_lines(folder, report, strict=False)))
    click.echo("\n".join(_summary([report for _, report in reports], strict=False)))
    return 0 if all(report.ok(strict=False) for _, report in reports) else 1


def _folders(paths: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            raise InputError(f"{path} is no folder; give a run folder or a folder of run folders")
        if is_run_folder(path):
            found.append(path)
            continue
        runs = next((runs for runs in (path / ".ragassay" / "runs", path / "runs") if runs.is_dir()), path)
        inside = sorted(child for child in runs.iterdir() if child.is_dir() and not child.name.startswith("."))
        if not inside:
            raise InputError(f"{path} holds no run; `ragassay run` writes runs to .ragassay/runs")
        found.extend(inside)
    return found


def _report(folder: Path, policy: Policy) -> Report:
    read = read_run(folder)
    return verify(read.files, policy=policy, now=int(time.time()), problems=read.problems)


def _place(entry: tuple[Path, Report]) -> tuple[str, int, str]:
    """Order by row and pass; what cannot be read stands first."""
    folder, report = entry
    return report.row or "", report.pass_k or 0, str(folder)


def _lines(folder: Path, report: Report, strict: bool) -> list[str]:
    """Return the verdict on one run: what it claims to be, whose it is, and why it is refused."""
    verdict = "ok" if report.ok(strict) else "NO"
    lines = [f"{verdict}  {one_line(str(folder))}"]
    if report.run_id is not None:
        lines.append(
            f"    {one_line(report.row or '')}, pass {report.pass_k} of {report.pass_of}, {report.source_kind}, "
            f"benchmark {one_line(report.benchmark or '')}"
        )
        lines.append(f"    {_score(report)}, {one_line(report.metric or '')}")
        trust = _trust(report)
        lines.append(f"    key {one_line(report.fingerprint or '')} ({one_line(report.signer_name or '')}; {trust})")
    failures = [f for f in report.findings if severity(f.code, strict=strict) == "fail"]
    for finding in failures:
        place = f" [{one_line(finding.where)}]" if finding.where else ""
        lines.append(f"    fail  {finding.code}: {one_line(finding.message)}{place}")
    warned = sorted({f.code for f in report.findings} - {f.code for f in failures})
    if warned:
        lines.append(f"    warn  {', '.join(warned)}")
    return lines


def _trust(report: Report) -> str:
    """Say whose key it is; a run of another key than the pinned one is not called a broken signature."""
    if report.pinned and "KEY_UNKNOWN" in report.codes:
        return "another key than the pinned one"
    if "SIGNATURE_INVALID" in report.codes:
        return "signature NOT valid"
    return "the pinned key" if report.pinned else "not the key you trust yet"


def _score(report: Report) -> str:
    counts = report.counts
    scored = f"{counts.scored} of {counts.asked} scored" if counts else "counts unknown"
    if report.score is None:
        return f"no score, {scored}"
    return f"score {one_line(report.score.decimal)} ({report.score.num}/{report.score.den}), {scored}"


def _summary(reports: Sequence[Report], strict: bool) -> list[str]:
    """Return how many runs were accepted, and what each warning means, once."""
    accepted = sum(report.ok(strict) for report in reports)
    warned = {code for report in reports for code in report.codes if severity(code, strict=strict) == "warn"}
    lines = [f"{code}: {CODES[code].meaning}" for code in sorted(warned)]
    skipped = sorted({f"{item.check} ({item.why})" for report in reports for item in report.not_made})
    if skipped:
        lines.append(f"Not checked: {one_line('; '.join(skipped))}.")
    runs = "run" if len(reports) == 1 else "runs"
    how = "strictly verified" if strict else "verified"
    return [*lines, f"{accepted} of {len(reports)} {runs} {how}."]
