"""What strangers get of one run: its files as they are, or without the texts that it was decided to withhold."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from ragassay import canon
from ragassay.errors import InputError, VerifyError
from ragassay.manifest import RunFiles, Signer, generate_key
from ragassay.manifest.announce import MAX_REASON
from ragassay.manifest.files import (
    OUTPUTS,
    PUBLIC_OUTPUTS,
    PUBLIC_TELEMETRY,
    REDACTION,
    REDACTION_PROOF,
    REGISTRY,
    TELEMETRY,
)
from ragassay.manifest.redaction import Withholding, build_redaction, salts_from
from ragassay.manifest.registry import decode_registry
from ragassay.publish.deciding import PlaceKey, Span, decided_by_place, of_run
from ragassay.publish.judged import judged_with
from ragassay.publish.store import Salts, read_salts, write_salts
from ragassay.publish.texts import JUDGEMENTS
from ragassay.records.publication import Decision, Finding, LeftOut
from ragassay.run.registration import Registrar
from ragassay.run.workspace import Workspace
from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import listed
from ragassay.site.runs import trust_of

SHOWN = (OUTPUTS, PUBLIC_OUTPUTS, TELEMETRY, PUBLIC_TELEMETRY)
"""The files that hold the texts of a run, signed or public."""


class Keys(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of the workspace; they are asked for only where something has to be signed."""

    run: Callable[[], Signer]
    log: Callable[[], Signer]
    registry: bytes | None = None

    def version(self) -> int | None:
        """Return the version of the key registry."""
        return None if self.registry is None else decode_registry(self.registry).registry.version


class Public(msgspec.Struct, frozen=True, kw_only=True):
    """The public files of one run and of its judgements, and what is left out.

    `redaction` is the SHA-256 of the bytes of `redaction.dsse.json`, None where nothing is withheld.
    """

    files: Mapping[str, bytes]
    judgements: Mapping[str, Mapping[str, bytes]]
    redaction: str | None
    left_out: tuple[LeftOut, ...]


def public_files(
    workspace: Workspace,
    run: LoadedRun,
    findings: Sequence[Finding],
    decisions: Sequence[Decision],
    keys: Keys,
    *,
    now: int,
) -> Public:
    """Return what is published of a run; where texts are withheld that is signed, and logged with its proof.

    The salts are stored first: the same decisions, carried out again after a kill, give the same statement. Raises
    `InputError` where nothing of such a run can be withheld, and where log or salts cannot be written.
    """
    withheld = withholdings(run.id, findings, decisions)
    if not withheld:
        files, redaction = with_newest_registry(run.files, keys.registry), None
    else:
        files = _redacted(workspace, run, withheld, keys, now)
        redaction = canon.sha256(files[REDACTION])
    judged = judged_with(run, files, findings, decisions, now=int(time.time()))
    return Public(files=files, judgements=judged.kept, redaction=redaction, left_out=judged.left_out)


def withholdings(run_id: str, findings: Sequence[Finding], decisions: Sequence[Decision]) -> list[Withholding]:
    """Return what is withheld of one run: a text whole where one decision says so, else the words of each finding."""
    own = of_run(findings, run_id)
    kinds: dict[str, str] = {one.id: one.kind for one in own}
    return [
        Withholding(
            id=key.item or "",
            field=key.field,
            reason=_reason(spans, kinds),
            spans=None
            if any(one.action == "withhold" for one in spans)
            else tuple((one.start, one.end) for one in spans),
        )
        for key, spans in decided_by_place(own, decisions).items()
        if not _is_judgement(key)
    ]


def _reason(spans: Sequence[Span], kinds: Mapping[str, str]) -> str:
    """Return the reasons of all decisions on one text; where none was given, the kind of what was found."""
    said = dict.fromkeys(one.reason or kinds[one.finding].replace("_", " ") for one in spans)
    return "; ".join(said)[:MAX_REASON]


def _is_judgement(key: PlaceKey) -> bool:
    return key.file.startswith(JUDGEMENTS)


def _redacted(
    workspace: Workspace, run: LoadedRun, withheld: Sequence[Withholding], keys: Keys, now: int
) -> dict[str, bytes]:
    files = _signed(workspace, run, withheld, keys, now)
    registrar = Registrar(workspace, keys.run(), keys.log(), keys.registry)
    (index,) = registrar.log.append([files[REDACTION]], keys.log())
    return {**files, REDACTION_PROOF: registrar.log.prove(index)}


def _signed(
    workspace: Workspace, run: LoadedRun, withheld: Sequence[Withholding], keys: Keys, now: int
) -> dict[str, bytes]:
    """Return the public files with the signed redaction, which is not logged yet; the salts are on the disk."""
    kept = read_salts(workspace.root, run.id)
    if kept is None:
        kept = Salts(created=now, secret=secrets.token_hex(32))
        write_salts(workspace.root, run.id, kept)
    files = _built(run, withheld, bytes.fromhex(kept.secret), keys.run(), kept.created, keys.version())
    return with_newest_registry(files, keys.registry)


def with_newest_registry(files: Mapping[str, bytes], registry: bytes | None) -> dict[str, bytes]:
    """Return the files of a run that holds a key registry with the publisher's newest: an older one is refused."""
    if registry is None or REGISTRY not in files:
        return dict(files)
    return {**files, REGISTRY: registry}


def check_acceptable(
    workspace: Workspace,
    runs: Iterable[LoadedRun],
    findings: Sequence[Finding],
    decisions: Sequence[Decision],
    keys: Keys,
    *,
    now: int,
) -> None:
    """Raise `InputError` for each run whose public copy nobody would accept, before anything is logged or published.

    A redaction is by the run's own publisher: by the run's key, or by one that a registry lists beside it.
    """
    trust = trust_of(workspace.root, now)
    problems: dict[str, list[str]] = {}
    for run in runs:
        withheld = withholdings(run.id, findings, decisions)
        if not withheld:
            continue
        report = trust.report(RunFiles(files=_signed(workspace, run, withheld, keys, now), problems=()))
        failed = [one for one in report.findings if one.severity == "fail"]
        if failed:
            problems.setdefault(f"{failed[0].code}: {failed[0].message}", []).append(run.id)
    if problems:
        raise InputError(
            "nothing is published, for nobody would accept what is withheld from these runs. Where the run key was "
            "replaced since: a registry that lists both keys, with its root pinned by .ragassay/policy.json, carries "
            "runs over that a witness saw before; without a registry RAGASSAY_RUN_KEY may hold the run's own key; "
            "otherwise run the rows anew",
            [f"{why} (run {listed(named)})" for why, named in problems.items()],
        )


def _built(
    run: LoadedRun, withheld: Sequence[Withholding], secret: bytes, signer: Signer, created: int, version: int | None
) -> dict[str, bytes]:
    try:
        return build_redaction(
            run.files,
            withheld,
            salts=salts_from(secret, run.id),
            signer=signer,
            created=created,
            registry_version=version,
        )
    except (ValueError, VerifyError) as error:
        raise InputError(f"run {run.id}: its texts cannot be withheld: {error}") from error


def rehearsed(run: LoadedRun, findings: Sequence[Finding], decisions: Sequence[Decision]) -> Mapping[str, bytes]:
    """Return the public files of a run as they would be, a redaction among them signed by nobody who counts.

    Raises `InputError` where nothing of such a run can be withheld.
    """
    withheld = withholdings(run.id, findings, decisions)
    return _built(run, withheld, b"", generate_key(), 0, None) if withheld else run.files


def would_be_public(run: LoadedRun, findings: Sequence[Finding], decisions: Sequence[Decision]) -> Mapping[str, bytes]:
    """Return those of `rehearsed` that hold the texts of the run; raises `InputError` as it does."""
    files = rehearsed(run, findings, decisions)
    return {name: files[name] for name in SHOWN if name in files}


def same_public(
    run: LoadedRun, published: LoadedRun, findings: Sequence[Finding], decisions: Sequence[Decision]
) -> bool:
    """Tell whether what is public of a run is what would be published of it now, text by text."""
    shown = {name: published.files[name] for name in SHOWN if name in published.files}
    return shown == would_be_public(run, findings, decisions)
