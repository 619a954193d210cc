"""Reads the run folders of a workspace and verifies each; nothing here trusts a file before that."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from ragassay.canon import NotCanonical
from ragassay.errors import InputError, VerifyError
from ragassay.manifest import PublicKey, decode_run, load_public_key, read_run
from ragassay.site.loaded import Check, LoadedRun
from ragassay.site.reexecuted import observed
from ragassay.verify import PinnedKey, Report, Unpinned, verify


def load_runs(workspace: Path, *, now: int | None = None) -> list[LoadedRun]:
    """Return every run under `<workspace>/runs`, verified, in the order of their ids.

    `workspace` is the `.ragassay` folder. A run that cannot be read or fails verification is returned with the reason
    and without a document. A run that one of the workspace's own keys signed is checked against that key; any other is
    checked without a pin (SIGNER_UNPINNED). Raises `InputError` where the folder of runs itself cannot be read.
    """
    when = int(time.time()) if now is None else now
    own = _own_keys(workspace / "keys")
    return [observed(_load(folder, own, when), workspace) for folder in _folders(workspace / "runs")]


def _own_keys(folder: Path) -> dict[str, PublicKey]:
    """Return the public keys of a workspace by fingerprint; a file that holds none is nobody's key."""
    keys = {}
    for path in sorted(folder.glob("*.pub.json")):
        try:
            key = load_public_key(path)
        except InputError:
            continue
        keys[key.kid] = key
    return keys


def _folders(runs: Path) -> Iterator[Path]:
    if not runs.is_dir():
        return
    try:
        found = sorted(path for path in runs.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise InputError(f"{runs} cannot be read ({error.strerror}); check its permissions") from error
    yield from (path for path in found if path.is_dir())


def _load(folder: Path, own: Mapping[str, PublicKey], now: int) -> LoadedRun:
    name = folder.name.encode("utf-8", "backslashreplace").decode("utf-8")  # a file system takes bytes that are no text
    try:
        read = read_run(folder)
    except InputError as error:
        failed = Check(code="BUNDLE_DAMAGED", severity="fail", text=str(error))
        return LoadedRun(id=name, files={}, checks=(failed,), refused=f"BUNDLE_DAMAGED: {error}")
    files = read.files
    report = verify(files, policy=Unpinned(), now=now, problems=read.problems)
    if report.fingerprint is not None and report.fingerprint in own:
        report = verify(files, policy=PinnedKey(own[report.fingerprint]), now=now, problems=read.problems)
    checks = _checks(report)
    if not report.ok():
        failed = next(check for check in checks if check.severity == "fail")
        return LoadedRun(id=name, files=files, checks=checks, refused=f"{failed.code}: {failed.text}")
    try:
        document = decode_run(files)
    except (VerifyError, NotCanonical) as error:
        code = error.code if isinstance(error, VerifyError) else "ENVELOPE_NOT_CANONICAL"
        failed = Check(code=code, severity="fail", text=str(error))
        return LoadedRun(id=name, files=files, checks=(failed, *checks), refused=f"{code}: {error}")
    if document.predicate.run_id != folder.name:
        text = f"the folder is named {name}, the run in it {document.predicate.run_id}"
        failed = Check(code="ROW_FOREIGN_RUN", severity="fail", text=text)
        return LoadedRun(id=name, files=files, checks=(failed, *checks), refused=text)
    return LoadedRun(id=name, files=files, checks=checks, document=document)


def _checks(report: Report) -> tuple[Check, ...]:
    found = [
        Check(code=f.code, severity=f.severity, text=f"{f.message} ({f.where})" if f.where else f.message)
        for f in report.findings
    ]
    made = [Check(code="", severity="ok", text=check) for check in report.made]
    not_made = [Check(code="", severity="not_made", text=f"{n.check}: {n.why}") for n in report.not_made]
    return (*found, *made, *not_made)
