"""Verified runs in memory and what the gate looks at beside them, all in order, for a test to spoil one thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest import MANIFEST, build_run, decode_run
from ragassay.manifest.tiles import read_log
from ragassay.publish.gate import Looked, Verdict, check
from ragassay.records.publication import Finding, Place, SignOff
from ragassay.site.loaded import LoadedRun
from ragassay.site.trust import checks_of
from ragassay.testing.logged_run import NOW, Story, tell
from ragassay.testing.signed_run import public_signer, sample_benchmark, sample_config, sample_outcome
from ragassay.verify import Unpinned, verify


def loaded(files: Mapping[str, bytes], log: Mapping[str, bytes] | None = None) -> LoadedRun:
    """Return a run as the workspace loads it, checked by the real verifier."""
    view = read_log(log) if log is not None else None
    report = verify(files, policy=Unpinned(), now=NOW, log=view)
    checks = checks_of(report)
    try:
        document = decode_run(files)
    except VerifyError:
        return LoadedRun(id="unreadable", files=files, checks=checks, refused="it cannot be read")
    identity = document.predicate.run_id
    if not report.ok():
        failed = next(one for one in checks if one.severity == "fail")
        return LoadedRun(id=identity, files=files, checks=checks, refused=f"{failed.code}: {failed.text}")
    return LoadedRun(id=identity, files=files, checks=checks, document=document)


def told(story: Story | None = None) -> LoadedRun:
    """Return a run that was announced and logged, checked against its whole log."""
    bundle = tell(story or Story(), with_log=True)
    return loaded(bundle.files, bundle.log)


def control(run_id: str = "c" * 32, **measure: Any) -> LoadedRun:
    """Return a run of a row without retrieval that is in the table of `told`'s; it is not verified here."""
    return made("no-retrieval", "none", run_id, **measure)


def made(row: str, kind: str, run_id: str, items: int = 3, **measure: Any) -> LoadedRun:
    """Return a signed run of one row whose configuration has other members of `measure`; it is not verified here."""
    benchmark = sample_benchmark(items)
    settings = sample_config(benchmark, row=row)
    stack = {**settings.measure.stack, "kind": kind}
    changed = msgspec.structs.replace(settings.measure, **{"stack": stack, **measure})
    files = build_run(
        run_id=run_id,
        pass_k=1,
        config=msgspec.structs.replace(settings, measure=changed),
        benchmark=benchmark,
        outcomes=[sample_outcome(question, at) for at, question in enumerate(benchmark.questions)],
        signer=public_signer(),
    )
    return LoadedRun(id=run_id, files=files, checks=(), document=decode_run(files))


def signed_off(run: LoadedRun) -> SignOff:
    """Return a sign-off of a run."""
    manifest = canon.sha256(run.files.get(MANIFEST, b""))
    return SignOff(run=run.id, manifest=manifest, reader="Ann", at=NOW, items=3, shown="s" * 64, decisions="d" * 64)


def looked(*runs: LoadedRun, public: Sequence[LoadedRun] = (), **changes: Any) -> Looked:
    """Return what the gate looks at when everything about `runs` is in order; `changes` replace members."""
    ids = [run.id for run in runs]
    fields: dict[str, Any] = {
        "workspace": runs,
        "public": public,
        "logged": frozenset(ids),
        "signed": {run.id: (signed_off(run),) for run in runs},
    }
    return Looked(**{**fields, **changes})


def verdict(run: LoadedRun, *others: LoadedRun, **changes: Any) -> Verdict:
    """Return what the gate says of `run`, published with nothing but a public control and what `changes` say."""
    public = changes.pop("public", (control(),))
    return check([run], looked(run, *others, public=public, **changes))[0]


def codes(found: Verdict) -> dict[str, tuple[str, ...]]:
    """Return the questions of each refusal by its code."""
    return {one.code: one.items for one in found.refusals}


def finding(kind: str, text: str, run: str, *items: str, field: str = "answer") -> Finding:
    """Return a finding that stands in the answers of some questions of a run."""
    return Finding(
        id=canon.digest({"kind": kind, "text": text})[:16],
        kind=kind,  # type: ignore[arg-type]
        detector="test",
        text=text,
        before="",
        after="",
        places=tuple(
            Place(file="outputs.jsonl", run=run, item=item, field=field, start=0, end=len(text)) for item in items
        ),
    )
