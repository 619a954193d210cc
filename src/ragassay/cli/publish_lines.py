"""What `ragassay publish` and `unpublish` print, as lines and as JSON. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ragassay.publish.deciding import possible, undecided
from ragassay.publish.gate import UNREAD, Verdict, said_beside, undecided_of
from ragassay.publish.release import Look, Released
from ragassay.publish.said import anew
from ragassay.publish.scan import CONTEXT
from ragassay.records import to_json
from ragassay.records.publication import Finding
from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import plural
from ragassay.site.safe import one_line, shortened, visible

MOST_ITEMS = 20
MOST_FINDINGS = 50
"""How many are printed; --json gives all of them."""
LAST = ("error-text", "undecided", "unlisted", UNREAD)
"""Reasons that are printed after all others, in the order in which they are seen to."""
MAX_TEXT = 120
"""The most characters of a found text, or of what stands before and after it, that are printed."""


def look_lines(look: Look) -> list[str]:
    """Return what was looked at, the findings that are not decided, and every refusal of every run."""
    rows = list(dict.fromkeys(verdict.row for verdict in look.verdicts))
    lines = [f"{plural(len(look.verdicts), 'run')} of {plural(len(rows), 'row')}: {one_line(', '.join(rows))}"]
    if look.already:
        lines.append(f"{len(look.already)} of them public already")
    later = judged_lines(look, "not public, and judged since", "`ragassay publish` adds it")
    return [
        *lines,
        *_scan(look),
        *_findings(look),
        *_beside(look),
        *note_lines(look.verdicts),
        *later,
        *uncounted_lines(look),
        *broken_lines(look),
        *_refusals(look.verdicts),
        *_next(look),
    ]


def _scan(look: Look) -> Iterator[str]:
    summary = look.scan.summary
    yield f"scan: {plural(summary.texts, 'text')}, {plural(summary.findings, 'finding')}"
    if summary.not_detected:
        yield f"  not looked for: {', '.join(summary.not_detected)}"
    for rule, count in look.scan.left_out.items():
        yield f"  left out by the rule {rule}: {count}"


def _findings(look: Look) -> Iterator[str]:
    found = open_findings(look)
    if not found:
        return
    yield f"{plural(len(found), 'finding')} to decide (--allow ID --reason TEXT, --redact ID, --withhold ID):"
    for one in found[:MOST_FINDINGS]:
        yield f"  {one.id}  {one.kind}  {plural(len(one.places), 'place')}, first {_place(one)}"
        yield f"    {quoted(one)}"
        if possible(one) == ("allow",):
            yield "    can only be allowed: nothing can be replaced where it stands"
    if len(found) > MOST_FINDINGS:
        yield f"  and {len(found) - MOST_FINDINGS} more (--json lists all)"


def _beside(look: Look) -> Iterator[str]:
    """Yield the findings in reasons, names, the board file and the log: nothing of those is redacted."""
    found = open_beside(look)
    if found:
        yield f"{plural(len(found), 'finding')} to decide in what becomes public beside the outputs:"
    for one in found[:MOST_FINDINGS]:
        yield f"  {one.id}  {one.kind}  {plural(len(one.places), 'place')}, first {_place(one)}"
        yield f"    {quoted(one)}"
        yield f"    --allow {one.id} --reason TEXT, {anew(one)}"
    if len(found) > MOST_FINDINGS:
        yield f"  and {len(found) - MOST_FINDINGS} more (--json lists all)"


def quoted(one: Finding) -> str:
    """Return the found words between what stands around them, on one line; `…` where that goes on."""
    before = f"{'…' if len(one.before) == CONTEXT else ''}{_inline(one.before)}"
    after = f"{_inline(one.after)}{'…' if len(one.after) == CONTEXT else ''}"
    return f"{before}[[{_inline(one.text)}]]{after}".strip()


def _inline(text: str) -> str:
    """Return a text on one line, the blanks at its ends kept: it stands between others."""
    line = visible(text[:MAX_TEXT]).replace("\n", " ").replace("\t", " ")
    return line if len(text) <= MAX_TEXT else f"{line}…"


def _place(one: Finding) -> str:
    place = one.places[0]
    where = f", question {place.item}" if place.item is not None else ""
    return one_line(f"{place.file}{where}, {place.field or 'the whole file'}")


def open_findings(look: Look) -> list[Finding]:
    """Return the findings in the chosen runs that are not decided."""
    return undecided_of(look.looked, [run.id for run in look.chosen])


def uncounted_lines(look: Look) -> Iterator[str]:
    """Yield which finished passes the board does not count, so that they are not published, each reason once."""
    said: dict[tuple[str, str], list[str]] = {}
    for one in look.uncounted:
        said.setdefault((one.row, one.reason), []).append(f"{one.pass_k} ({one.run[:8]})")
    for (row, reason), passes in said.items():
        yield f"! not published, for it is not counted: {one_line(row)} pass {', '.join(passes)}: {one_line(reason)}"


def broken_lines(look: Look) -> Iterator[str]:
    """Yield which runs fail verification, private ones and public ones that were not chosen, each reason once."""
    chosen = {run.id for run in look.chosen}
    damaged = [run for run in look.public.runs if run.document is None and run.voided is None and run.id not in chosen]
    yield from _by_reason(look.broken, "not verified, so not chosen")
    yield from _by_reason(damaged, "public and damaged, so left out of the public board")


def _by_reason(runs: Sequence[LoadedRun], what: str) -> Iterator[str]:
    said: dict[str, list[str]] = {}
    for run in runs:
        said.setdefault(run.refused or "not verified", []).append(run.id[:8])
    for reason, names in said.items():
        more = f" and {len(names) - MOST_ITEMS} more" if len(names) > MOST_ITEMS else ""
        shown = one_line(", ".join(names[:MOST_ITEMS]))
        yield f"x {plural(len(names), 'run')} {what} ({shown}{more}): {one_line(reason)}"


def open_beside(look: Look) -> list[Finding]:
    """Return the findings in what becomes public beside the outputs that are not decided."""
    found = {one.id: one for run in look.chosen for one in said_beside(run.id, look.looked.said)}
    return undecided(found.values(), look.looked.decisions)


def judged_lines(look: Look, what: str, then: str) -> Iterator[str]:
    """Yield which judgements were made after runs were published, and which are not public with a run, and why."""
    added = [(name, run) for run, later in look.later.items() for name in later.added]
    for name, members in _by(added, look).items():
        yield f"! {_called(members, look.verdicts)}: judgement {shortened(name, MAX_TEXT)}: {what}; {then}"
    left = [((one.judgement, one.reason), run) for run, gone in look.left_out.items() for one in gone]
    for (name, reason), members in _by(left, look).items():
        left_out = f"judgement {shortened(name, MAX_TEXT)} is left out: {one_line(reason)}"
        yield f"! {_called(members, look.verdicts)}: {left_out}"


_What = TypeVar("_What")


def _by(said: Sequence[tuple[_What, str]], look: Look) -> dict[_What, list[Verdict]]:
    """Return what is said of runs, each once with the verdicts on them."""
    verdicts = {verdict.run: verdict for verdict in look.verdicts}
    found: dict[_What, list[Verdict]] = {}
    for what, run in said:
        if run in verdicts:
            found.setdefault(what, []).append(verdicts[run])
    return found


def note_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield what is said of runs and stands in nobody's way, each once with the runs that it is of."""
    said: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        for note in verdict.notes:
            said.setdefault(note, []).append(verdict)
    for note, members in said.items():
        yield f"! {_called(members, verdicts)}: {one_line(note)}"


def _refusals(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield each reason once, with every run that it is of and the questions that it is about in any of them."""
    said: dict[tuple[str, str], dict[str, Verdict]] = {}
    about: dict[tuple[str, str], dict[str, None]] = {}
    for verdict in verdicts:
        for refusal in verdict.refusals:
            said.setdefault((refusal.code, refusal.text), {})[verdict.run] = verdict
            about.setdefault((refusal.code, refusal.text), {}).update(dict.fromkeys(refusal.items))
    if not verdicts:
        yield "there is nothing to publish: no run of the board's rows is finished and verified"
    refused = sum(not verdict.passes for verdict in verdicts)
    if refused:
        yield f"refused: {refused} of {plural(len(verdicts), 'run')}; nothing is published unless all of them pass"
    for reason in sorted(said, key=lambda one: LAST.index(one[0]) if one[0] in LAST else -1):
        (code, text), items = reason, list(about[reason])
        yield f"  {code}  {_called(list(said[reason].values()), verdicts)}"
        yield f"    {one_line(text)}"
        if items:
            more = len(items) - MOST_ITEMS
            named = ", ".join(shortened(item, MAX_TEXT) for item in items[:MOST_ITEMS])
            yield f"    questions: {named}{f', and {more} more (--json lists all)' if more > 0 else ''}"


def _called(verdicts: Sequence[Verdict], everything: Sequence[Verdict]) -> str:
    """Return runs in few words: all of them, whole rows by their name, others by pass and the start of their id."""
    if len(verdicts) == len(everything) > 1:
        return f"all {len(everything)} runs"
    whole, rows = Counter(one.row for one in everything), dict[str, list[Verdict]]()
    for one in sorted(verdicts, key=lambda one: one.pass_k):
        rows.setdefault(one.row, []).append(one)
    return "; ".join(_row_called(row, members, whole[row]) for row, members in rows.items())


def _row_called(row: str, members: Sequence[Verdict], of: int) -> str:
    if len(members) == of > 1:
        return f"{one_line(row)} (all {of} passes)"
    passes = ", ".join(f"{one.pass_k or '?'} ({one.run[:8]})" for one in members)
    return f"{one_line(row)} pass {passes}"


def _next(look: Look) -> Iterator[str]:
    """Yield what to type, where deciding, reading and publishing is all that is left."""
    codes = {one.code for verdict in look.verdicts for one in verdict.refusals}
    if codes == {UNREAD}:
        yield "next: `ragassay serve` to read and sign off, then `ragassay publish`"
    elif codes and codes <= {UNREAD, "undecided", "error-text"}:
        yield "next: decide the findings, here or in `ragassay serve`; read and sign off there; then `ragassay publish`"


def look_json(look: Look, done: Released | None, site: Path | None) -> dict[str, Any]:
    """Return what the gate says, and what was published."""
    return {
        "ok": look.passes,
        "published": list(done.runs) if done else [],
        "judgements": {run: list(names) for run, names in done.judgements.items()} if done else {},
        "already": list(look.already),
        "site": None if site is None else str(site),
        "runs": [_verdict_json(verdict) for verdict in look.verdicts],
        "scan": to_json(look.scan.summary),
        "leftOut": dict(look.scan.left_out),
        "undecided": [{**to_json(one), "possible": list(possible(one))} for one in open_findings(look)],
        "undecidedBeside": [{**to_json(one), "possible": ["allow"], "or": anew(one)} for one in open_beside(look)],
        "notVerified": {run.id: run.refused for run in look.broken},
        "notCounted": {one.run: one.reason for one in look.uncounted},
        "judgedSince": {run: list(later.added) for run, later in look.later.items() if later.added},
        "judgementsLeftOut": {run: [to_json(one) for one in gone] for run, gone in look.left_out.items()},
    }


def _verdict_json(verdict: Verdict) -> dict[str, Any]:
    refusals = [{"code": one.code, "text": one.text, "items": list(one.items)} for one in verdict.refusals]
    return {
        "run": verdict.run,
        "row": verdict.row,
        "pass": verdict.pass_k,
        "of": verdict.of,
        "refusals": refusals,
        "notes": list(verdict.notes),
    }
