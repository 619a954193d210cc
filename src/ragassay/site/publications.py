"""Reads what a workspace has published: `public/<run-id>/`, each bundle verified as a stranger's copy of it would be.

A public board is made of this and of nothing else that the workspace holds.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.errors import InputError, VerifyError
from ragassay.manifest.decode import decode_statement
from ragassay.manifest.dsse import decode_base64, decode_envelope
from ragassay.manifest.files import MANIFEST, MAX_BYTES
from ragassay.manifest.log_disk import read_file
from ragassay.manifest.statement import RunPredicate
from ragassay.records.publication import Publication, SignOff
from ragassay.records.values import Record
from ragassay.site.frozenfiles import with_items
from ragassay.site.judgements import JudgementTrust, with_those_in
from ragassay.site.loaded import Check, LoadedRun, Withdrawn
from ragassay.site.publication_check import Beside, contradictions, with_listed
from ragassay.site.reexecuted import observed
from ragassay.site.runs import Trust, load_run, trust_of

PUBLIC = "public"
"""The folder of a workspace (`.ragassay`) that holds what was published."""
PUBLICATION = "publication.json"
WITHDRAWN = "withdrawn.json"
RUN = "run"
JUDGEMENTS = "judgements"
MAX_PUBLICATION_BYTES = 16 << 20
RUNS = "runs"
NAMES = frozenset({RUN, JUDGEMENTS, PUBLICATION, WITHDRAWN})
"""What a public folder may hold."""
SIGN_OFFS = "review/signoffs.jsonl"
MAX_SIGN_OFFS_BYTES = 64 << 20
MAX_PUBLICATIONS = 10_000
"""The most published runs that are read."""


class Withdrawal(Record, frozen=True):
    """`withdrawn.json`: that a published run no longer counts, why, and the SHA-256 of its voiding's envelope.

    `at` is in Unix seconds; `void` is None where the log holds a voiding that this workspace did not write.
    """

    run: str
    at: int
    reason: str
    void: str | None


class PublicRuns(msgspec.Struct, frozen=True, kw_only=True):
    """What is public: the runs, each with its publication, and by run id those that were withdrawn.

    A bundle that fails verification is among `runs` without a document, as on any board. So is a withdrawn one that
    its log takes back, as void; nothing else of it is left. `publications` are those that were not withdrawn.
    """

    runs: tuple[LoadedRun, ...]
    publications: Mapping[str, Publication]
    withdrawn: Mapping[str, Withdrawn]


def load_public(workspace: Path, now: int | None = None) -> PublicRuns:
    """Return what a workspace (the `.ragassay` folder) has published, in the order of the runs' ids.

    Raises `InputError` where the folder or the policy cannot be read, and for a withdrawal that is none.
    """
    folders = list(public_folders(workspace))
    if not folders:
        return PublicRuns(runs=(), publications={}, withdrawn={})
    when = int(time.time()) if now is None else now
    trust = trust_of(workspace, when)
    judges = JudgementTrust(own=trust.own, policy=trust.policy, now=when)
    held = Beside(
        log=None if trust.log is None else frozenset(trust.log.entries), sign_offs=_sign_offs(workspace / SIGN_OFFS)
    )
    runs: list[LoadedRun] = []
    publications: dict[str, Publication] = {}
    withdrawn: dict[str, Withdrawn] = {}
    for folder in folders:
        run, publication = _load(folder, trust, held, workspace)
        gone = _withdrawn(folder, run, publication) if publication is not None else None
        if gone is not None:
            withdrawn[run.id] = gone
            if run.voided is None:
                continue
        elif publication is not None and run.document is not None:
            publications[run.id] = publication
        run = msgspec.structs.replace(observed(run, workspace), publication=publication)
        run = with_those_in(run, _judgement_folders(folder), judges)
        if publication is not None and run.document is not None:
            run = msgspec.structs.replace(run, judgements=with_listed(run.judgements, publication))
        runs.append(with_items(run, workspace))
    return PublicRuns(runs=tuple(runs), publications=publications, withdrawn=withdrawn)


def public_folders(workspace: Path) -> Iterator[Path]:
    """Yield the folder of each publication, withdrawn ones included; those being written are hidden."""
    place = workspace / PUBLIC
    if not place.is_dir():
        return
    found = _listed(place)
    if len(found) > MAX_PUBLICATIONS:
        raise InputError(f"{place} holds {len(found)} runs; {MAX_PUBLICATIONS} are read")
    yield from found


def read_publication(folder: Path) -> Publication | None:
    """Return what `publication.json` of a folder says, None where there is none; raises `InputError` for any other."""
    data = read_file(folder / PUBLICATION, MAX_PUBLICATION_BYTES)
    if data is None:
        return None
    try:
        return msgspec.json.decode(data, type=Publication)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{folder / PUBLICATION} is no publication: {error}") from error


def read_withdrawal(folder: Path) -> Withdrawal | None:
    """Return what `withdrawn.json` of a folder says, None where there is none; raises `InputError` for any other."""
    data = read_file(folder / WITHDRAWN, MAX_PUBLICATION_BYTES)
    if data is None:
        return None
    try:
        return msgspec.json.decode(data, type=Withdrawal)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"{folder / WITHDRAWN} does not say why the run was withdrawn ({error}); move it away, and `ragassay "
            "unpublish` writes it anew"
        ) from error


def predicate_of(files: Mapping[str, bytes]) -> RunPredicate:
    """Return what the manifest of a run claims, unchecked; raises `VerifyError`."""
    envelope = decode_envelope(files.get(MANIFEST, b""))
    return decode_statement(envelope.payload_type, decode_base64(envelope.payload)).predicate


def _load(folder: Path, trust: Trust, held: Beside, workspace: Path) -> tuple[LoadedRun, Publication | None]:
    if link := _link(folder):
        why = f"{_name(link)} is a link; a public folder holds files only"
        return _refused(LoadedRun(id=_name(folder), files={}, checks=()), "BUNDLE_LINK", why), None
    run = load_run(folder / RUN, trust, folder.name)
    if foreign := [one.name for one in _within(folder) if one.name not in NAMES and not one.name.startswith(".")]:
        why = f"{_name(Path(foreign[0]))} is no file of a publication; move it away"
        return _refused(run, "BUNDLE_NAME", why), None
    try:
        publication = read_publication(folder)
    except InputError as error:
        return _refused(run, "BUNDLE_DAMAGED", str(error)), None
    if publication is None:
        return _refused(run, "FILE_MISSING", f"{PUBLICATION} is missing: nothing says that it was published"), None
    manifest = canon.sha256(run.files.get(MANIFEST, b""))
    if (publication.run, publication.manifest) != (run.id, manifest):
        return _refused(run, "ROW_FOREIGN_RUN", f"{PUBLICATION} is of another run than the one beside it"), None
    own = read_file(workspace / RUNS / folder.name / MANIFEST, MAX_BYTES[MANIFEST])
    wrong = list(contradictions(run, publication, msgspec.structs.replace(held, manifest=own)))
    if wrong:
        return _refused(run, "BUNDLE_DAMAGED", f"{PUBLICATION} is not as it was written: {'; '.join(wrong)}"), None
    return run, publication


def _link(folder: Path) -> Path | None:
    """Return the first link among a public folder, what it holds, and its judgements; a run's own are looked at too."""
    places = (folder, *(_within(folder) if not folder.is_symlink() else ()))
    judgements = [one for place in places if place.name == JUDGEMENTS and place.is_dir() for one in _within(place)]
    return next((one for one in (*places, *judgements) if one.is_symlink()), None)


def _within(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder} cannot be read ({error.strerror}); check its permissions") from error


def _name(path: Path) -> str:
    return path.name.encode("utf-8", "backslashreplace").decode("utf-8")


def _sign_offs(path: Path) -> frozenset[SignOff] | None:
    """Return every line of the sign-offs that can be read, None where there are none: then nothing is compared."""
    data = read_file(path, MAX_SIGN_OFFS_BYTES)
    if data is None:
        return None
    found = []
    for line in data.split(b"\n")[:-1]:
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):  # `publish` names lines that are none
            found.append(msgspec.json.decode(line, type=SignOff))
    return frozenset(found)


def _refused(run: LoadedRun, code: str, why: str) -> LoadedRun:
    failed = Check(code=code, severity="fail", text=why)
    return msgspec.structs.replace(run, document=None, refused=f"{code}: {why}", checks=(failed, *run.checks))


def _withdrawn(folder: Path, run: LoadedRun, publication: Publication) -> Withdrawn | None:
    """Return a run as withdrawn where its folder says so, or the log does: what is void there is void here."""
    said, void = read_withdrawal(folder), run.voided
    if said is None and void is None:
        return None
    try:
        key = predicate_of(run.files).row.key
    except VerifyError:
        key = None
    if void is not None:
        return Withdrawn(publication=publication, reason=void.reason, at=void.at, key=key)
    return Withdrawn(publication=publication, reason=said.reason, at=said.at, key=key) if said else None


def _judgement_folders(folder: Path) -> Sequence[Path]:
    place = folder / JUDGEMENTS
    return _listed(place) if place.is_dir() else []


def _listed(place: Path) -> list[Path]:
    try:
        return sorted(path for path in place.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError as error:
        raise InputError(f"{place} cannot be read ({error.strerror}); check its permissions") from error
