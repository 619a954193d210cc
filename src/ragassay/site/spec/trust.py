"""What a manifest cannot show, what was verified with what result, who signed and which versions. Pure."""

from __future__ import annotations

from collections import Counter

from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import UNKNOWN
from ragassay.site.rung import CODE
from ragassay.site.spec.counted import of_all, opening, spelled, verb
from ragassay.site.spec.document import (
    Block,
    Code,
    Command,
    Link,
    Said,
    Section,
    Table,
    cells,
    is_said,
    paragraph,
    series,
)
from ragassay.site.spec.ground import VERIFY, Ground
from ragassay.site.spec.signing import witnesses
from ragassay.verify import CODES

FEW = 2
"""Checks that were not made which a sentence holds; more are a table."""


def not_shown(ground: Ground) -> Section:
    """Return what no signature on this board proves."""
    title, anchor = "What a manifest here cannot show", "not-shown"
    if not ground.configs:
        word = (
            "Which model was asked what, and whether the answers were judged as the scores say, is the word of "
            "whoever published them. What could be checked is that every question has its line, in order, and that "
            "the scores add up."
        )
        return Section(title, anchor, (paragraph(word),))
    again = [row.name for row in ground.rows if row.rung == "re-executed"]
    rest = [row.name for row in ground.rows if row.rung != "re-executed"]
    return Section(
        title,
        anchor,
        is_said(
            (
                paragraph(
                    "A signature does not show that the named stack gave these answers. It says that nothing was "
                    "changed since, and invented answers can be signed as well.",
                    _executed(again, rest),
                ),
                paragraph(
                    "Nor does it show that nothing was rehearsed. Whoever measures in private first and announces "
                    "afterwards leaves no trace: the log tells what became of an announced pass, and nothing of what "
                    "came before.",
                    _independence(witnesses(ground.own)),
                ),
                paragraph(
                    "Whether the questions ask what your readers ask, and whether the references are right, you can "
                    "read and no program can compute.",
                    "Latency, tokens and cost are signed, so they cannot be changed afterwards; there is nothing to "
                    "compute them from again.",
                    "And a run says nothing of rows that are not on this board.",
                ),
            )
        ),
    )


def _independence(names: list[str]) -> Said:
    """Say that no file shows how far a witness stands from the log that it cosigns."""
    if not names:
        return None
    who: list[Said] = [Code(name) for name in names]
    return (
        "A witness helps as far as it is independent of whoever keeps the log; no file says how far ",
        series(who),
        f" {verb(len(names), 'is', 'are')}.",
    )


def _executed(again: list[str], rest: list[str]) -> Said:
    if not again:
        return "No row of this board was executed again, so for all of them that rests on the publisher's word."
    here = "by whoever made this page, and came out with equal content, counts and score"
    if not rest:
        return f"Every row was executed again {here}; you can do it too."
    return (
        series(list(again)),
        f" {verb(len(again), 'was', 'were')} executed again {here}; for ",
        series(list(rest)),
        " it rests on the publisher's word.",
    )


def verification(ground: Ground) -> Section:
    """Return which verifier checked how many runs, how many are valid, and each warning with its meaning."""
    runs = [run for run in ground.runs if run.voided is None]
    valid = sum(run.document is not None for run in runs)
    codes = Counter(code for run in runs if run.document is not None for code in _warnings(run))
    kinds = opening(spelled(len(codes), "kind"))
    warned = f"{kinds} of warning {verb(len(codes), 'stands', 'stand')} beside the valid runs."
    table = Table(
        ("Warning", "Runs", "What it means"),
        tuple(cells(Code(code), f"{count} of {valid}", CODES[code].meaning) for code, count in sorted(codes.items())),
        numbers=frozenset({1}),
    )
    page = Link("the verifier page", VERIFY)
    blocks: list[Block] = [
        paragraph(*_checked(ground, valid, len(runs)), warned if codes else "No valid run has a warning."),
        table,
        *_refused(ground),
        paragraph(_rerun(ground)),
        *_not_made(ground, valid),
        paragraph(("To check one yourself, drop it on ", page, ", which needs no connection, or type")),
        Command(("ragassay verify RUN.zip --key KEY.pub.json",)),
    ]
    return Section("What was verified", "verified", is_said(blocks))


def _warnings(run: LoadedRun) -> set[str]:
    return {check.code for check in run.checks if check.severity == "warn"}


def _checked(ground: Ground, valid: int, total: int) -> list[Said]:
    republished = any(row.rung == "republished" for row in ground.rows)
    items = "" if republished else "every item's score from its verdicts, "
    refused = total - valid
    stands = "that one stands" if refused == 1 else "those stand"
    lost = f", and {refused} {verb(refused, 'is', 'are')} not: {stands} in no table" if refused else ""
    return [
        f"ragassay {ground.board.harness} verified every run when this page was made, from its own bytes: signature, "
        f"digests, {items}the run's score from its items, and the counts.",
        f"{of_all(valid, total, 'run', 'is', 'are')} valid{lost}.",
    ]


def _refused(ground: Ground) -> list[Table]:
    rows = tuple(cells(Code(run.id), Code(", ".join(run.codes) or "–"), run.reason) for run in ground.board.refused)
    return [Table(("Refused run", "Code", "Why"), rows)]


def _rerun(ground: Ground) -> Said:
    done = [run for run in ground.own if run.reexecution is not None]
    different = sum(CODE in run.codes for run in done)
    if not done:
        return None
    came = (
        "each with the same result"
        if not different
        else f"{different} of them with another result, and {verb(different, 'that one counts', 'those count')} nowhere"
    )
    return f"{of_all(len(done), len(ground.own), 'run', 'was', 'were')} also executed again, {came}."


def _not_made(ground: Ground, valid: int) -> list[Block]:
    """Return what could not be checked and why, in a sentence where that is little, else as a table."""
    missed: Counter[tuple[str, str]] = Counter()
    for run in ground.runs:
        if run.document is not None:
            texts = {check.text for check in run.checks if check.severity == "not_made"}
            missed.update((text.partition(": ")[0], text.partition(": ")[2]) for text in texts)
    found = missed.most_common()
    if not found:
        return []
    if len(found) <= FEW:
        said = [
            f"{what}{f', because {why}' if why else ''}{'' if count == valid else f' ({count} of {valid} runs)'}"
            for (what, why), count in found
        ]
        return [paragraph(f"Not checked: {'; '.join(said)}.")]
    rows = tuple(cells(what, why or UNKNOWN, f"{count} of {valid}") for (what, why), count in found)
    return [Table(("Not checked", "Why", "Runs"), rows, numbers=frozenset({2}))]
