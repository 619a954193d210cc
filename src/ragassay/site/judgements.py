"""Reads and verifies what judges said of a run's answers after it was signed; nothing else is used of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ragassay.canon import NotCanonical
from ragassay.errors import InputError, VerifyError
from ragassay.manifest import PublicKey, RunFiles, decode_run
from ragassay.manifest.judgement import JUDGEMENT, JudgementDocument, decode_judgement, decode_signed
from ragassay.manifest.judgement_folder import judgement_folders, read_judgement
from ragassay.manifest.statement import RunDocument
from ragassay.site.loaded import Check, LoadedJudgement, LoadedRun
from ragassay.site.trust import checks_of, own_keys, trusted_policy
from ragassay.verify import AnyOf, PinnedKey, Policy, Report, Unpinned
from ragassay.verify.judgement import verify_judgement

STRANGER = "it is signed by a key that is neither this workspace's nor trusted by its policy, nor the run's own"


class JudgementTrust(msgspec.Struct, frozen=True, kw_only=True):
    """Whose judgements count: those of the policy's keys, of the workspace's own, or else of the run's own signer."""

    own: Mapping[str, PublicKey]
    policy: Policy | None
    now: int

    def report(self, read: RunFiles, run_files: Mapping[str, bytes], signer: str) -> Report:
        """Return the report on one judgement; `signer` is the fingerprint of the key that signed the run."""

        def by(policy: Policy) -> Report:
            return verify_judgement(
                read.files, run_files=run_files, policy=policy, now=self.now, problems=read.problems
            )

        if self.policy is not None:
            report = by(self.policy)
            if "KEY_UNKNOWN" not in report.codes:
                return report
        if _kid(read.files) in self.own:
            return by(AnyOf(tuple(PinnedKey(key) for key in self.own.values())))
        return by(Unpinned())


def _kid(files: Mapping[str, bytes]) -> str | None:
    """Return the fingerprint that a judgement names as its signer's, None where its envelope cannot be read."""
    try:
        return decode_signed(files[JUDGEMENT]).predicate.signer.kid
    except (KeyError, VerifyError):
        return None


def with_judgements(run: LoadedRun, workspace: Path, trust: JudgementTrust) -> LoadedRun:
    """Return a verified run with its judgements, each verified or with why it is not; a refused run as it is."""
    if run.document is None:
        return run
    return with_those_in(run, judgement_folders(workspace, run.document.predicate.run_id), trust)


def with_those_in(run: LoadedRun, folders: Sequence[Path], trust: JudgementTrust) -> LoadedRun:
    """Return a verified run with the judgements in `folders`, as `with_judgements` does."""
    if run.document is None:
        return run
    signer = run.document.predicate.signer.kid
    return msgspec.structs.replace(run, judgements=tuple(_one(one, run.files, signer, trust) for one in folders))


def run_judgements(workspace: Path, run_id: str, run_files: Mapping[str, bytes]) -> list[JudgementDocument]:
    """Return the verified judgements of one verified run, in the order of their folders' names.

    `workspace` is the `.ragassay` folder. Raises `InputError` where the folder or the policy cannot be read, and
    `VerifyError` for files that are no run or another than `run_id`.
    """
    run = decode_run(run_files)
    if run.predicate.run_id != run_id:
        raise VerifyError(f"these are the files of run {run.predicate.run_id}", code="ROW_FOREIGN_RUN")
    trust = JudgementTrust(own=own_keys(workspace / "keys"), policy=trusted_policy(workspace), now=int(time.time()))
    found = _load(workspace, run, run_files, trust)
    return [one.document for one in found if one.document is not None]


def _load(
    workspace: Path, run: RunDocument, run_files: Mapping[str, bytes], trust: JudgementTrust
) -> tuple[LoadedJudgement, ...]:
    signer = run.predicate.signer.kid
    return tuple(
        _one(folder, run_files, signer, trust) for folder in judgement_folders(workspace, run.predicate.run_id)
    )


def _one(folder: Path, run_files: Mapping[str, bytes], signer: str, trust: JudgementTrust) -> LoadedJudgement:
    name = folder.name.encode("utf-8", "backslashreplace").decode("utf-8")
    try:
        read = read_judgement(folder)
    except InputError as error:
        return _refused(name, {}, (), "BUNDLE_DAMAGED", str(error))
    report = trust.report(read, run_files, signer)
    checks = checks_of(report)
    if not report.ok():
        failed = next(check for check in checks if check.severity == "fail")
        return _refused(name, read.files, checks, failed.code, failed.text)
    if not report.pinned and report.fingerprint != signer:
        return _refused(name, read.files, checks, "KEY_UNKNOWN", STRANGER)
    try:
        document = decode_judgement(read.files)
    except (VerifyError, NotCanonical) as error:
        code = error.code if isinstance(error, VerifyError) else "ENVELOPE_NOT_CANONICAL"
        return _refused(name, read.files, checks, code, str(error))
    return LoadedJudgement(id=name, files=read.files, checks=checks, document=document)


def _refused(name: str, files: Mapping[str, bytes], checks: tuple[Check, ...], code: str, why: str) -> LoadedJudgement:
    failed = () if any(check.code == code for check in checks) else (Check(code=code, severity="fail", text=why),)
    return LoadedJudgement(id=name, files=files, checks=(*failed, *checks), refused=why, code=code)
