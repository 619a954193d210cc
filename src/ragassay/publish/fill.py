"""Fills one run of a workspace from other finished passes of its announcement: a new run, signed and logged."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import msgspec

from ragassay.errors import InputError
from ragassay.manifest.files import INTENT, MANIFEST
from ragassay.manifest.fill import Filled, filled_run
from ragassay.publish.chosen import matching
from ragassay.publish.redact import Keys
from ragassay.run.proofs import prove_run
from ragassay.run.registration import Registrar
from ragassay.run.workspace import Workspace, locked, write_folder
from ragassay.site.loaded import LoadedRun
from ragassay.site.runs import load_runs
from ragassay.site.window import filled_by
from ragassay.verify import Unpinned, verify


class FilledRun(msgspec.Struct, frozen=True, kw_only=True):
    """What was filled: the run that stays, the run that stands for its pass now, and the items by their source.

    `new` is false where the same fill was there already.
    """

    of: str
    run_id: str
    row: str
    pass_k: int
    taken: Mapping[str, str]
    new: bool


def fill_from(workspace: Workspace, target: str, sources: Sequence[str], keys: Keys, *, dry: bool = False) -> FilledRun:
    """Fill the run `target` from `sources`, in their order; each is named by its id or the beginning of one.

    The filled run has all its files, announcement and proofs; the one that was filled is not touched. The same fill
    made again is the same run. With `dry` nothing is written. Raises `InputError` that says why it cannot be filled so:
    what differs, which questions are left, that the pass was filled from elsewhere, that a run is refused or void.
    """
    with locked(workspace.passes / ".lock"):
        runs = load_runs(workspace.root)
        base = _verified(runs, target)
        given = [_verified(runs, name) for name in sources]
        signer, log_signer = keys.run(), keys.log()
        registrar = Registrar(workspace, signer, log_signer, keys.registry)
        filled = filled_run(
            base.files, [one.files for one in given], signer=signer, registry_version=registrar.registry_version
        )
        there = _there(runs, base, filled)
        _check(filled)
        if registrar.log.find(base.files.get(INTENT, b"")) is None:
            raise InputError(f"the log {workspace.log} does not hold the announcement of run {base.id}; restore it")
        if not dry:
            write_folder(workspace.runs / filled.run_id, filled.files)
            registrar.log.append([filled.files[MANIFEST]], log_signer)
            prove_run(registrar.log, workspace.runs / filled.run_id)
    assert base.document is not None, "only verified runs are filled"
    predicate = base.document.predicate
    return FilledRun(
        of=base.id,
        run_id=filled.run_id,
        row=predicate.row.name,
        pass_k=predicate.pass_.k,
        taken={item: source.run for item, source in filled.taken.items()},
        new=not there,
    )


def _verified(runs: Sequence[LoadedRun], name: str) -> LoadedRun:
    ids = matching(runs, name)
    if len(ids) != 1:
        raise InputError(f"{len(ids) or 'no'} runs have an id that begins with {name[:80]!r}; give one whole")
    found = next(run for run in runs if run.id == ids[0])
    if found.document is None:
        raise InputError(f"run {found.id} is refused, so nothing is taken from it or filled in it: {found.refused}")
    return found


def _there(runs: Sequence[LoadedRun], base: LoadedRun, filled: Filled) -> bool:
    """Tell whether this fill is there; raises `InputError` where the pass was filled otherwise."""
    by = filled_by([run.document for run in runs if run.document is not None]).get(base.id)
    if by is not None and by != filled.run_id:
        raise InputError(
            f"the pass of run {base.id} was filled already, by run {by}; one fill stands for a pass, so void that one "
            f"first: ragassay log void {by}"
        )
    return any(run.id == filled.run_id for run in runs)


def _check(filled: Filled) -> None:
    """Raise `InputError` for a filled run that nobody could verify, before anything of it is written."""
    report = verify(filled.files, policy=Unpinned(), now=int(time.time()))
    if not report.ok():
        failed = [f"{one.code}: {one.message}" for one in report.findings if one.severity == "fail"]
        raise InputError("nothing is written, for nobody could verify the filled run", failed)
