"""What stands on every page of a board: whether it is published, and how far a log shows its runs. Pure."""

from __future__ import annotations

import time

from ragassay.site.numbers import UNKNOWN, plural
from ragassay.site.record import PREVIEW, Board
from ragassay.site.standrecord import Attestation, TakenBack

ATTESTED: dict[Attestation, str] = {
    "witnessed": "witnessed",
    "announced": "announced, not witnessed",
    "unannounced": "not announced",
}


def scope_words(board: Board) -> str:
    """Say that a board is a preview, or how many runs of it were published and when the last one was."""
    if board.scope == "local":
        return PREVIEW
    found = board.published
    if found is None or not found.runs or found.last is None:
        return "nothing is published yet"
    day = time.strftime("%Y-%m-%d", time.gmtime(found.last))
    return f"{plural(found.runs, 'run')} published, the last on {day}"


def attested_words(found: Attestation | None) -> str:
    """Say how far a log shows a run; a dash where that is not known."""
    return UNKNOWN if found is None else ATTESTED[found]


def voided_words(found: TakenBack) -> str:
    """Say that a run was taken back, when and why, and whether it was public before."""
    when = f" on {time.strftime('%Y-%m-%d', time.gmtime(found.at))}" if found.at else ""
    public = "; it was public, and its texts are served no more" if found.withdrawn else ""
    return f"voided{when}: {found.reason}{public}"
