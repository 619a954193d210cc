"""From finished runs to public ones: publishes what the gate lets pass, and adds what was judged since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ragassay import canon
from ragassay.manifest import LogFolder
from ragassay.manifest.files import MANIFEST, RUN_PROOF
from ragassay.publish.looking import Look, Wanted, look, summary_of
from ragassay.publish.redact import Keys, check_acceptable, public_files, withholdings
from ragassay.publish.store import Bundle, add_judgements, renew_public_proofs, renew_public_registry, store
from ragassay.records.publication import Publication
from ragassay.run.registration import Registrar
from ragassay.run.workspace import Workspace
from ragassay.site.group import is_measured
from ragassay.site.loaded import LoadedRun

__all__ = ["Look", "Released", "Wanted", "look", "release"]


class Released(msgspec.Struct, frozen=True, kw_only=True):
    """What was done: the runs that were published, and by run the judgements that were added to public ones."""

    runs: tuple[str, ...]
    judgements: Mapping[str, tuple[str, ...]]


def release(workspace: Workspace, found: Look, keys: Keys, *, now: int) -> Released:
    """Publish each chosen run that is not public yet, and add to the others what was judged since they were.

    The caller holds `store.publishing`. Proofs and key registries of what is public are renewed where more witnesses
    have seen the log, or the registry has a newer version. The gate must have let all runs pass (`ValueError`
    otherwise); `InputError` where nobody would accept what is withheld. One that was killed leaves whole publications
    and none that is half there; the next one publishes the rest.
    """
    if not found.passes:
        raise ValueError("the gate did not let these runs pass")
    new = [run for run in found.chosen if run.id not in found.public.publications]
    _ask_for_keys(new, found, keys)
    check_acceptable(workspace, new, found.looked.findings, found.looked.decisions, keys, now=now)
    done: list[str] = []
    added: dict[str, tuple[str, ...]] = {}
    for run in found.chosen:
        if run.id not in found.public.publications:
            store(workspace.root, run.id, _bundle(workspace, run, found, keys, now))
            done.append(run.id)
        elif names := _add(workspace, run, found):
            added[run.id] = names
    renew_public_proofs(workspace.root, LogFolder(workspace.log, seen=workspace.log_seen))
    renew_public_registry(workspace.root, keys.registry)
    return Released(runs=tuple(done), judgements=added)


def _ask_for_keys(runs: Sequence[LoadedRun], found: Look, keys: Keys) -> None:
    """Ask for both keys before anything is written, where a run needs them: one that cannot be had leaves nothing."""
    findings, decisions = found.looked.findings, found.looked.decisions
    for run in runs:
        logged = run.document is not None and not is_measured(run.document)
        if logged or withholdings(run.id, findings, decisions):
            keys.run()
            keys.log()
            return


def _add(workspace: Workspace, run: LoadedRun, found: Look) -> tuple[str, ...]:
    """Add to a public run what was judged since, and say in its publication what is not; return what was added."""
    publication, later = found.public.publications[run.id], found.later[run.id]
    if not later.added and later.left_out == publication.left_out:
        return ()
    names = tuple(later.added)
    changed = msgspec.structs.replace(
        publication,
        scan=summary_of(run, found.scan, found.said.findings, found.looked.decisions),
        judgements=tuple(sorted({*publication.judgements, *names})),
        left_out=later.left_out,
    )
    add_judgements(workspace.root, run.id, later.added, changed)
    return names


def _bundle(workspace: Workspace, run: LoadedRun, found: Look, keys: Keys, now: int) -> Bundle:
    assert run.document is not None, "the gate lets no other run pass"
    looked = found.looked
    public = public_files(workspace, run, looked.findings, looked.decisions, keys, now=now)
    predicate = run.document.predicate
    files = dict(public.files)
    if not is_measured(run.document):
        files |= _logged_now(workspace, run, keys)
    publication = Publication(
        run=run.id,
        manifest=canon.sha256(run.files[MANIFEST]),
        row=predicate.row.name,
        pass_=predicate.pass_.k,
        at=now,
        signer=predicate.signer.kid,
        scan=summary_of(run, found.scan, found.said.findings, found.looked.decisions),
        sign_offs=tuple(looked.signed.get(run.id, ())),
        redaction=public.redaction,
        judgements=tuple(sorted(public.judgements)),
        left_out=public.left_out,
    )
    return Bundle(run=files, judgements=public.judgements, publication=publication)


def _logged_now(workspace: Workspace, run: LoadedRun, keys: Keys) -> dict[str, bytes]:
    """Log a run that was taken over from elsewhere, so that it can be withdrawn there; return its proof."""
    registrar = Registrar(workspace, keys.run(), keys.log(), keys.registry)
    (index,) = registrar.log.append([run.files[MANIFEST]], keys.log())
    return {RUN_PROOF: registrar.log.prove(index)}
