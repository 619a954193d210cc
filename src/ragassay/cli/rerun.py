"""Re-execution as `ragassay verify --rerun` shows it: after everything else, kept in the workspace, told in lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ragassay.cli.aside import printing_aside
from ragassay.errors import InputError, PluginError
from ragassay.site.safe import one_line
from ragassay.verify import Finding, NotMade, Report

if TYPE_CHECKING:
    from ragassay.run.rerun_rows import Rerun, RowDifference

CODE = "RERUN_DIFFERS"
CHECK = "re-execution"


def rerun_report(
    files: Mapping[str, bytes],
    report: Report,
    *,
    corpus: Path | None = None,
    folder: Path | None = None,
    strict: bool = False,
) -> tuple[Report, Rerun]:
    """Execute a run again that `report` accepts, and return the report with what came of it.

    `folder` is where the run was read from, None for a bundle: the folder `runs/<id>` of a workspace lends its corpora
    and keeps the record. A run that is refused is not executed.
    """
    done = _rerun(files, report, corpus, folder, strict)
    return with_rerun(report, done), done


def _rerun(files: Mapping[str, bytes], report: Report, corpus: Path | None, folder: Path | None, strict: bool) -> Rerun:
    from ragassay.run.rerun_rows import not_possible

    if not report.ok(strict) or report.run_id is None:
        return not_possible("the run failed verification, so it was not executed")
    try:
        from ragassay.run.reexecutions import keep
        from ragassay.run.rerun import rerun
    except ImportError as error:
        if (error.name or "ragassay").partition(".")[0] == "ragassay":
            raise
        return not_possible(f"re-execution needs {error.name}: pip install 'ragassay[run]'")
    workspace = workspace_of(folder, report.run_id)
    with printing_aside():
        done = rerun(files, corpus=corpus, workspace=workspace)
    if workspace is None:
        return done
    try:
        keep(done, report.run_id, files, workspace)
    except InputError as error:
        done = msgspec.structs.replace(done, problems=(*done.problems, f"not recorded: {error.message}"))
    return done


def workspace_of(folder: Path | None, run_id: str) -> Path | None:
    """Return the workspace whose run `runs/<run_id>` a folder is, or None."""
    if folder is None:
        return None
    place = folder.resolve()
    return place.parent.parent if place.name == run_id and place.parent.name == "runs" else None


def with_rerun(report: Report, rerun: Rerun) -> Report:
    """Return a report that says what came of executing the run again: a check made, one not made, or a failure."""
    if rerun.outcome == "not possible":
        not_made = NotMade(check=CHECK, why=_reason(rerun))
        return msgspec.structs.replace(report, not_made=(*report.not_made, not_made))
    found = report.findings
    if rerun.outcome == "different":
        found = (Finding(code=CODE, severity="fail", message=rerun.why or "it came out different"), *found)
    return msgspec.structs.replace(report, findings=found, made=(*report.made, CHECK))


def rerun_lines(rerun: Rerun) -> list[str]:
    """Return what came of executing one run again, for a terminal."""
    if rerun.outcome == "not possible":
        return [f"re-executed: NOT POSSIBLE: {one_line(rerun.why or '')}", *_listed(rerun.problems)]
    same = rerun.rows - rerun.differing
    content = f"content {(rerun.content or '')[:12]}"
    what = "equal" if rerun.outcome == "equal" else "DIFFERENT"
    lines = [f"re-executed: {what} ({same} of {rerun.rows} rows, {content}, ragassay {rerun.harness}){_aside(rerun)}"]
    if rerun.outcome == "different":
        lines.append(f"  {one_line(rerun.why or '')}")
        lines += [f"  {_named(one)}" for one in rerun.differences]
        if rerun.differing > len(rerun.differences):
            lines.append(f"  and {rerun.differing - len(rerun.differences)} more")
    return lines + _listed(rerun.problems)


def rerun_summary(reruns: Sequence[Rerun]) -> str:
    """Return how many runs were executed again and how that ended, in one line."""
    count = {outcome: sum(one.outcome == outcome for one in reruns) for outcome in ("equal", "different")}
    left = len(reruns) - sum(count.values())
    runs = "run" if len(reruns) == 1 else "runs"
    said = f"{count['equal']} of {len(reruns)} {runs} re-executed with equal content, counts and score"
    said += f"; {count['different']} different" if count["different"] else ""
    return said + (f"; {left} not possible" if left else "") + "."


def rerun_code(accepted: bool, reruns: Sequence[Rerun]) -> int:
    """Return the exit code: 1 where a run is refused, 3 where one could not be executed again, else 0."""
    if not accepted or any(one.outcome == "different" for one in reruns):
        return 1
    return PluginError.exit_code if any(one.outcome == "not possible" for one in reruns) else 0


def _reason(rerun: Rerun) -> str:
    return "; ".join(part for part in (rerun.why, *rerun.problems) if part)


def _listed(problems: Sequence[str]) -> list[str]:
    return [f"  - {one_line(problem)}" for problem in problems]


def _aside(rerun: Rerun) -> str:
    said = []
    if rerun.filled:
        said.append(f"{rerun.filled} that the run filled in from another pass executed like any other")
    if rerun.withheld:
        said.append(f"{rerun.withheld} withheld texts compared by digest")
    return f"; {', '.join(said)}" if said else ""


def _named(one: RowDifference) -> str:
    signed, now = (str(score) if score is not None else "none" for score in (one.score_signed, one.score_now))
    score = f" (score {signed}, now {now})" if "score" in one.members else ""
    return f"{one_line(one.id)}: {', '.join(one.members)}{score}"
