"""`ragassay judge --verify`: checks every judgement of a workspace against the run that it is of."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from ragassay.cli.judge_lines import checked_lines
from ragassay.errors import InputError, VerifyError
from ragassay.manifest import load_public_key
from ragassay.manifest.judgement import JUDGEMENT, decode_signed
from ragassay.manifest.judgement_folder import FOLDER, judgement_folders, read_judgement
from ragassay.records import to_json
from ragassay.site import load_runs
from ragassay.site.loaded import LoadedRun
from ragassay.verify import AnyOf, PinnedKey, Policy, Report, Unpinned, load_policy
from ragassay.verify.judgement import verify_judgement


class CheckedJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """One judgement: its folder, what it was made for, and the report on it."""

    folder: Path
    purpose: str
    report: Report


def check_all(workspace: Path, *, as_json: bool) -> int:
    """Print the report on every judgement of a workspace; return 1 where one is refused, or its run is."""
    policy, now = _policy(workspace), int(time.time())
    runs = load_runs(workspace, now=now)
    checked = [one for run in runs for one in _check(run, workspace, policy, now)]
    checked += _lost(workspace, {run.id for run in runs}, policy, now)
    accepted = all(one.report.ok() for one in checked)
    if as_json:
        found = [{"path": str(one.folder), "ok": one.report.ok(), **to_json(one.report)} for one in checked]
        click.echo(json.dumps({"ok": accepted, "judgements": found}, indent=2, ensure_ascii=True))
    else:
        _print(checked)
    return 0 if accepted else 1


def _print(checked: Sequence[CheckedJudgement]) -> None:
    for one in checked:
        click.echo("\n".join(checked_lines(str(one.folder), one.purpose, one.report)) + "\n")
    if not checked:
        click.echo("there is no judgement to check; `ragassay judge` makes them")
        return
    accepted = sum(one.report.ok() for one in checked)
    click.echo(f"{accepted} of {len(checked)} judgement{'' if len(checked) == 1 else 's'} verified.")


def _check(run: LoadedRun, workspace: Path, policy: Policy, now: int) -> list[CheckedJudgement]:
    refused = (VerifyError(f"its run is refused: {run.refused}", code="ROW_FOREIGN_RUN"),) if run.refused else ()
    return [_one(folder, run, policy, now, refused) for folder in judgement_folders(workspace, run.id)]


def _one(
    folder: Path, run: LoadedRun | None, policy: Policy, now: int, problems: Sequence[VerifyError]
) -> CheckedJudgement:
    read = read_judgement(folder)
    report = verify_judgement(
        read.files,
        run_files=run.files if run else {},
        policy=policy,
        now=now,
        problems=(*read.problems, *problems),
    )
    return CheckedJudgement(folder=folder, purpose=_purpose(read.files.get(JUDGEMENT)), report=report)


def _purpose(envelope: bytes | None) -> str:
    try:
        predicate = decode_signed(envelope or b"").predicate
    except VerifyError:
        return "purpose unknown"
    return f"null row {predicate.null_row}" if predicate.null_row else predicate.purpose


def _lost(workspace: Path, known: set[str], policy: Policy, now: int) -> list[CheckedJudgement]:
    """Return the judgements of runs that the workspace does not have: nothing can be held against them."""
    place = workspace / FOLDER
    names = sorted(path.name for path in place.iterdir() if path.is_dir()) if place.is_dir() else []
    lost = [folder for name in names if name not in known for folder in judgement_folders(workspace, name)]
    return [_one(folder, None, policy, now, ()) for folder in lost]


def _policy(workspace: Path) -> Policy:
    """Return the workspace's policy file or else its own run keys, each pinned; nobody where it has neither."""
    path = workspace / "policy.json"
    if path.exists():
        try:
            return load_policy(path.read_bytes())
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror})") from error
    keys = []
    for file in sorted((workspace / "keys").glob("*.pub.json")):
        try:
            key = load_public_key(file)
        except InputError:
            continue
        if key.kind in (None, "run"):
            keys.append(PinnedKey(key))
    return AnyOf(tuple(keys)) if keys else Unpinned()
