"""Which signed runs of a workspace a board's judges are asked about, and why the others are not. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest import MANIFEST, RunDocument, RunPredicate
from ragassay.run.board_file import BoardFile
from ragassay.run.judge_items import run_profile


class VerifiedRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a workspace as whoever verified it found it: its document, or why it was refused."""

    id: str
    files: Mapping[str, bytes]
    document: RunDocument | None
    refused: str | None = None

    @property
    def of(self) -> str:
        """The SHA-256 of the bytes of the run's envelope, by which a judgement names it."""
        return canon.sha256(self.files[MANIFEST])


def choose_runs(
    board: BoardFile, benchmark: str, runs: Sequence[VerifiedRun], only: Sequence[str] = ()
) -> tuple[list[VerifiedRun], list[str]]:
    """Return the runs to be judged, and of every other run that was asked for why it is not.

    Those of the board's rows that asked the board's questions (`benchmark` is their digest), each row as it was
    measured last; or those that `only` names by id or by the beginning of one, whatever they are of. Raises
    `InputError` for a name that no run has, or several.
    """
    if only:
        named = list(dict.fromkeys(_named(runs, name) for name in only))
        found = [run for run in runs if run.id in named]
        why = {run.id: _unjudgeable(board, run) for run in found}
    else:
        newest = _newest_keys(runs)
        found = list(runs)
        why = {run.id: _unjudgeable(board, run) or _not_of_board(board, benchmark, run, newest) for run in found}
    left_out = [f"{called(run)} is not judged: {why[run.id]}" for run in found if why[run.id]]
    return [run for run in found if not why[run.id]], left_out


def _named(runs: Sequence[VerifiedRun], name: str) -> str:
    found = [run.id for run in runs if run.id == name] or [run.id for run in runs if run.id.startswith(name)]
    if len(found) != 1 or not name:
        raise InputError(
            f"{len(found) or 'no'} runs of the workspace have an id that begins with {name[:80]!r}; give one whole"
        )
    return found[0]


def called(run: VerifiedRun) -> str:
    """Return what a run is called in a line for a person: row, pass and the beginning of its id."""
    if run.document is None:
        return f"run {run.id}"
    predicate = run.document.predicate
    return f"{predicate.row.name} pass {predicate.pass_.k} ({run.id[:8]})"


def _unjudgeable(board: BoardFile, run: VerifiedRun) -> str | None:
    if run.document is None:
        return f"it failed verification: {run.refused}"
    predicate = run.document.predicate
    if predicate.provenance.source_kind != "measured":
        return f"it is {predicate.provenance.source_kind}, and holds no answers"
    if (profile := run_profile(run.document)) != board.scorer:
        return f"it was judged by {profile}, and the board's scorer is {board.scorer}"
    return None


def _not_of_board(board: BoardFile, benchmark: str, run: VerifiedRun, newest: Mapping[str, str]) -> str | None:
    assert run.document is not None
    predicate = run.document.predicate
    if predicate.row.name not in {row.name for row in board.rows}:
        return "the board has no such row"
    if predicate.benchmark.digest.sha256 != benchmark:
        return "it asked another question set than the board's"
    if newest[predicate.row.name] != predicate.row.key:
        return "its row was measured otherwise since then"
    return None


def _newest_keys(runs: Sequence[VerifiedRun]) -> dict[str, str]:
    documents = [run.document.predicate for run in runs if run.document is not None]
    return {predicate.row.name: predicate.row.key for predicate in sorted(documents, key=_moment)}


def _moment(run: RunPredicate) -> tuple[int, int, str]:
    """Return what orders runs in time: of two that ended in one second the later announced is the later."""
    return run.window.end if run.window else 0, run.intent.index if run.intent else -1, run.run_id
