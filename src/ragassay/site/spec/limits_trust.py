"""Limitations of trust: unannounced, unwitnessed, unpinned, refused runs, republished scores, withheld texts. Pure."""

from __future__ import annotations

from collections import Counter

from ragassay.site.numbers import plural
from ragassay.site.record import BoardRow
from ragassay.site.spec.counted import of_all, some, verb
from ragassay.site.spec.document import Code, Paragraph, Said, under_title
from ragassay.site.spec.ground import Ground


def _count(ground: Ground, *codes: str) -> int:
    return sum(bool({check.code for check in run.checks} & set(codes)) for run in ground.own)


def republished(ground: Ground) -> Paragraph | None:
    """Say that scores were computed elsewhere."""
    rows: list[BoardRow] = [row for row in ground.rows if row.rung == "republished"]
    if not rows:
        return None
    said: list[Said] = [f"{row.name} (source: {row.upstream or 'not given'})" for row in rows]
    return under_title(
        "Scores were computed elsewhere.",
        (some(said), "."),
        "Without verdicts no item score can be computed again, and such rows are never ranked.",
    )


def unannounced(ground: Ground) -> Paragraph | None:
    """Say how many runs were not announced before their first answer."""
    count, total = _count(ground, "NO_INTENT"), len(ground.own)
    if not count or not ground.configs:
        return None
    return under_title(
        "Runs were not announced.",
        f"{of_all(count, total, 'run', 'was', 'were')} logged nowhere before the first answer; how many others were "
        "made and thrown away is not known.",
    )


def unwitnessed(ground: Ground) -> Paragraph | None:
    """Say how many runs no trusted witness saw."""
    count, total = _count(ground, "UNWITNESSED", "UNTIMED"), len(ground.own)
    if not count or not ground.configs:
        return None
    if count == total:
        who = f"None of the {total:,} runs was seen by a witness" if total > 1 else "The run was seen by no witness"
    else:
        who = f"{of_all(count, total, 'run', 'was', 'were')} seen by no witness"
    return under_title(
        "The log is not witnessed.",
        f"{who} that is trusted here: whoever keeps the log could still rewrite it, and the times are the signer's "
        "own.",
    )


def unpinned(ground: Ground) -> Paragraph | None:
    """Say how many runs are signed by a key that nobody here vouched for."""
    count, total = _count(ground, "SIGNER_UNPINNED"), len(ground.own)
    if not count:
        return None
    return under_title(
        "The signer is not known.",
        f"{of_all(count, total, 'run', 'is', 'are')} signed by a key that was not pinned when this page was made: "
        "nothing was changed since, but by whom it was signed is open.",
    )


def passes_missing(ground: Ground) -> Paragraph | None:
    """Say that announced passes were never shown."""
    count = _count(ground, "PASS_MISSING")
    if not count:
        return None
    return under_title(
        "Announced passes are missing.",
        f"{of_all(count, len(ground.own), 'run', 'belongs', 'belong')} to an announcement of which another pass is "
        "neither published nor void.",
    )


def refused(ground: Ground) -> Paragraph | None:
    """Say that runs could not be verified and are left out."""
    runs = ground.board.refused
    if not runs:
        return None
    codes = Counter(code for run in runs for code in run.codes)
    named: list[Said] = [(Code(code), f" ({count})") for code, count in codes.most_common()]
    return under_title(
        "Runs were refused.",
        (
            f"{plural(len(runs), 'run')} could not be verified",
            (" (", some(named), ")") if named else None,
            f" and {verb(len(runs), 'is', 'are')} left out; what {verb(len(runs), 'it', 'they')} would have scored is "
            "in no number here.",
        ),
    )


def withheld(ground: Ground) -> Paragraph | None:
    """Say how many texts of the published runs were withheld or shortened."""
    found = ground.board.published
    if found is None or not found.texts_withheld:
        return None
    return under_title(
        "Texts are withheld.",
        f"{plural(found.texts_withheld, 'text')} {verb(found.texts_withheld, 'is', 'are')} not published or not "
        "whole; verdicts and scores are, but what they rest on cannot be read there.",
    )


def left_out(ground: Ground) -> Paragraph | None:
    """Say which rows of the board file have no number, and why."""
    rows = [row for row in ground.table.rows if row.standing in ("not_run", "unranked") and row.rung != "republished"]
    if not rows:
        return None
    said: list[Said] = [f"{row.name} ({row.reason})" if row.reason else row.name for row in rows]
    return under_title("Rows are not ranked.", (some(said), "."))


FOUND = (republished, unannounced, unwitnessed, unpinned, passes_missing, refused, withheld, left_out)
