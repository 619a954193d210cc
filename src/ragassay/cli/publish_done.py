"""What `ragassay publish` and `unpublish` print of what they did. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragassay.cli.publish_lines import (
    MAX_TEXT,
    MOST_FINDINGS,
    broken_lines,
    judged_lines,
    note_lines,
    quoted,
    uncounted_lines,
)
from ragassay.publish.fill import FilledRun
from ragassay.publish.release import Look, Released
from ragassay.publish.withdraw import TakenBack
from ragassay.records.publication import Decision, Finding
from ragassay.site.numbers import listed, plural
from ragassay.site.safe import one_line, shortened


def released_lines(done: Released, look: Look, site: Path | None) -> list[str]:
    """Return what was published, where the public board is, and what to do with it."""
    added = sum(map(len, done.judgements.values()))
    lines = [f"published {plural(len(done.runs), 'run')}"] if done.runs else []
    if added:
        lines.append(f"added {plural(added, 'judgement')} to {plural(len(done.judgements), 'public run')}")
    if not lines:
        lines = [f"nothing new: {plural(len(look.already), 'run')} public already, and unchanged"]
    lines += note_lines(look.verdicts)
    lines += uncounted_lines(look)
    lines += broken_lines(look)
    lines += judged_lines(look, "judged since it was published", "it is public now")
    if site is not None:
        lines.append(f"public board: {site / 'index.html'}")
        lines.append(
            f"upload the folder {site} as it is; everything in it is meant for everybody, nothing beside it is"
        )
    return lines


def passed_line(look: Look) -> str:
    """Return what publishing would do, where nothing is refused."""
    new = len(look.verdicts) - len(look.already)
    if new:
        return f"nothing is refused; `ragassay publish` publishes {'it' if new == 1 else f'these {new} runs'}"
    later = any(one.added for one in look.later.values())
    return "nothing is refused, and nothing is new" + ("" if not later else " but what was judged since")


def decided_lines(decisions: Sequence[Decision]) -> list[str]:
    """Return what was decided, and the total where that is more than is printed."""
    lines = [f"decided: {one.action} {one.finding} ({one.kind})" for one in decisions[:MOST_FINDINGS]]
    return [*lines, *([f"decided {len(decisions)} in all"] if len(decisions) > MOST_FINDINGS else [])]


def filled_lines(filled: FilledRun, *, dry: bool) -> list[str]:
    """Return which items were filled, and from where."""
    name = f"{one_line(filled.row)} pass {filled.pass_k}"
    sources: dict[str, list[str]] = {}
    for item, run in filled.taken.items():
        sources.setdefault(run, []).append(shortened(item, MAX_TEXT))
    done = "would be filled" if dry else "filled" if filled.new else "filled before"
    lines = [f"{done}: {name} ({filled.of})"]
    lines += [f"  {listed(items)} from run {run}" for run, items in sources.items()]
    if dry:
        return [*lines, f"as run {filled.run_id}; nothing was written"]
    return [
        *lines,
        f"run {filled.run_id} is signed, logged and stands for the pass; the run that was filled stays as it is",
        "strict verification refuses a filled run (FILLED); read it in the review page, then publish",
    ]


def reason_lines(findings: Sequence[Finding]) -> list[str]:
    """Return what was found in the reason of a withdrawal, each with what can be done."""
    lines = []
    for one in findings:
        lines.append(f"{one.id}  {one.kind}: {quoted(one)}")
    return [*lines, "give another --reason, or allow it: --allow ID --because TEXT"]


def taken_back_lines(done: TakenBack) -> list[str]:
    """Return what was withdrawn, and which rows lose runs of their windows."""
    name = f"{one_line(done.row)} pass {done.pass_k}"
    what = "was void in the log already, and is withdrawn now" if done.earlier else "is withdrawn: the log voids it"
    lines = [f"{name} ({done.withdrawal.run}) {what}", f"reason: {one_line(done.withdrawal.reason)}"]
    for one in done.lost:
        now = f"{one.after} of {one.before} counted runs left" if one.after else "no counted run left, and no number"
        lines.append(f"! row {one_line(one.row)}: {now}")
    if done.without_control:
        rows = one_line(", ".join(done.without_control))
        lines.append(f"! no control is public any more, so the scores of {rows} cannot be read: publish a run of it")
    if not done.lost:
        lines.append("no row loses a run of its window")
    return lines
