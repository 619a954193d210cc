"""Reads the run folders of a workspace and verifies each; nothing here trusts a file before that."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from ragassay.canon import NotCanonical
from ragassay.errors import InputError, VerifyError
from ragassay.manifest import LogFolder, PublicKey, RunFiles, decode_run, read_run
from ragassay.manifest.log_seen import SEEN
from ragassay.manifest.tiles import LogView
from ragassay.site.frozenfiles import with_items
from ragassay.site.judgements import JudgementTrust, with_judgements
from ragassay.site.loaded import Check, LoadedRun
from ragassay.site.reexecuted import observed
from ragassay.site.trust import checks_of, own_keys, trusted_policy
from ragassay.site.voided import only_voided, void_times, voided
from ragassay.verify import AnyOf, PinnedKey, Policy, Report, Unpinned, verify


def load_runs(workspace: Path, *, now: int | None = None) -> list[LoadedRun]:
    """Return every run under `<workspace>/runs`, verified, in the order of their ids.

    `workspace` is the `.ragassay` folder. A run that cannot be read or fails verification is returned with the reason
    and without a document; one that nothing but its voiding in the log speaks against holds it as `voided`. Each is
    checked against the workspace's log, and by `policy.json` where that knows the key; else a run that one of the
    workspace's own run keys signed is checked against those keys, and any other without a pin (SIGNER_UNPINNED).
    Judgements of a verified run's answers are verified too. Raises `InputError` where the folder of runs or the policy
    cannot be read.
    """
    trust = trust_of(workspace, int(time.time()) if now is None else now)
    judges = JudgementTrust(own=trust.own, policy=trust.policy, now=trust.now)
    runs = [observed(load_run(folder, trust), workspace) for folder in run_folders(workspace / "runs")]
    return [with_items(with_judgements(run, workspace, judges), workspace) for run in runs]


def load_log(workspace: Path) -> dict[str, bytes] | None:
    """Return the files of the workspace's log as they are served, None where there is no sound one."""
    log = LogFolder(workspace / "log")
    try:
        return log.published() if log.exists else None
    except (InputError, VerifyError):
        return None  # every run's checks say what is wrong with it


class Trust(msgspec.Struct, frozen=True):
    """What the runs of a workspace are checked against; `problems` are those of its own log."""

    own: Mapping[str, PublicKey]
    policy: Policy | None
    log: LogView | None
    problems: tuple[VerifyError, ...]
    now: int

    def report(self, read: RunFiles) -> Report:
        """Return the report by the policy file, or else by the workspace's own key, or else without a pin.

        The workspace's log is asked about runs of its own keys alone: others stand in their publisher's log.
        """
        unpinned = verify(read.files, policy=Unpinned(), now=self.now, problems=read.problems)
        if self.policy is not None:
            report = self._own_report(read, self.policy)
            if "KEY_UNKNOWN" not in report.codes:
                return report
        if unpinned.fingerprint not in self.own:
            return unpinned
        return self._own_report(read, AnyOf(tuple(PinnedKey(key) for key in self.own.values())))

    def _own_report(self, read: RunFiles, policy: Policy) -> Report:
        problems = (*read.problems, *self.problems)
        return verify(read.files, policy=policy, now=self.now, log=self.log, problems=problems)


def trust_of(workspace: Path, now: int) -> Trust:
    """Return what the runs of a workspace are checked against at `now`, its own log included; raises `InputError`."""
    log, problems = LogFolder(workspace / "log", seen=workspace / SEEN), []
    view = None
    try:
        log.check_seen()
        view = log.view() if log.exists else None
    except VerifyError as error:
        problems.append(error)
    return Trust(own_keys(workspace / "keys"), trusted_policy(workspace), view, tuple(problems), now)


def run_folders(runs: Path) -> Iterator[Path]:
    """Yield the folders of runs in the order of their names, none where there are none yet; raises `InputError`."""
    if not runs.is_dir():
        if os.path.lexists(runs):
            raise InputError(f"{runs} is no folder; put the folder of runs back in its place")
        return
    try:
        found = sorted(path for path in runs.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise InputError(f"{runs} cannot be read ({error.strerror}); check its permissions") from error
    yield from (path for path in found if path.is_dir())


def load_run(folder: Path, trust: Trust, run_id: str | None = None) -> LoadedRun:
    """Return the verified run of one folder, or why it is refused; `run_id` is whose it has to be: its name's."""
    wanted = folder.name if run_id is None else run_id
    name = wanted.encode("utf-8", "backslashreplace").decode("utf-8")  # a file system takes bytes that are no text
    try:
        read = read_run(folder)
    except InputError as error:
        failed = Check(code="BUNDLE_DAMAGED", severity="fail", text=str(error))
        return LoadedRun(id=name, files={}, checks=(failed,), refused=f"BUNDLE_DAMAGED: {error}")
    return loaded_run(read, trust, name=name, wanted=wanted)


def loaded_run(read: RunFiles, trust: Trust, *, name: str, wanted: str | None) -> LoadedRun:
    """Return the verified run of files, or why it is refused; `wanted` is the run that it has to be, if any."""
    files = read.files
    report = trust.report(read)
    checks = checks_of(report)
    taken_back = only_voided(report)
    if not report.ok() and not taken_back:
        failed = next(check for check in checks if check.severity == "fail")
        return LoadedRun(id=name, files=files, checks=checks, refused=f"{failed.code}: {failed.text}")
    try:
        document = decode_run(files)
    except (VerifyError, NotCanonical) as error:
        code = error.code if isinstance(error, VerifyError) else "ENVELOPE_NOT_CANONICAL"
        failed = Check(code=code, severity="fail", text=str(error))
        return LoadedRun(id=name, files=files, checks=(failed, *checks), refused=f"{code}: {error}")
    if wanted is not None and document.predicate.run_id != wanted:
        text = f"the folder is named {name}, the run in it {document.predicate.run_id}"
        failed = Check(code="ROW_FOREIGN_RUN", severity="fail", text=text)
        return LoadedRun(id=name, files=files, checks=(failed, *checks), refused=text)
    if taken_back:
        found = voided(document, report, void_times(trust.log))
        return LoadedRun(id=name, files=files, checks=checks, refused=f"RUN_VOIDED: {found.reason}", voided=found)
    return LoadedRun(id=name, files=files, checks=checks, document=document)
