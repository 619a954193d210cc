"""Whether `publication.json` says what the run beside it, the log and the review folder say. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from ragassay import canon
from ragassay.manifest.files import MANIFEST, REDACTION
from ragassay.records.publication import Publication, SignOff
from ragassay.site.loaded import Check, LoadedJudgement, LoadedRun


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """What a workspace holds that a publication has to agree with; None where the workspace does not have it.

    `log` are the entries of its log, `sign_offs` the lines of `review/signoffs.jsonl`, `manifest` the bytes of the
    run's own manifest below `runs`.
    """

    log: Collection[bytes] | None = None
    sign_offs: Collection[SignOff] | None = None
    manifest: bytes | None = None


def contradictions(run: LoadedRun, publication: Publication, beside: Beside) -> Iterator[str]:
    """Yield each thing that a publication says and that is not so."""
    document = run.document
    if document is None:
        return
    p = document.predicate
    said = (publication.row, publication.pass_, publication.signer)
    if said != (p.row.name, p.pass_.k, p.signer.kid):
        yield "it names another row, pass or signer than the run"
    redaction = run.files.get(REDACTION)
    if publication.redaction != (None if redaction is None else canon.sha256(redaction)):
        yield "it names another redaction than the one beside it"
    yield from _scan(publication)
    yield from _readers(publication, len(document.outputs), beside)
    yield from _kept(run, beside)


def _scan(publication: Publication) -> Iterator[str]:
    scan = publication.scan
    counts = (scan.allowed, scan.redacted, scan.withheld)
    if min(counts) < 0 or sum(counts) != scan.findings:
        yield f"of {scan.findings} findings it says what was decided of {sum(counts)}"
    if publication.redaction is not None and not scan.redacted + scan.withheld:
        yield "texts are withheld, and by its scan nothing was redacted or withheld"


def _readers(publication: Publication, items: int, beside: Beside) -> Iterator[str]:
    if not publication.sign_offs:
        yield "it names nobody who read it"
    for one in publication.sign_offs:
        if (one.run, one.manifest, one.items) != (publication.run, publication.manifest, items):
            yield f"the sign-off of {one.reader} is of another run"
        elif beside.sign_offs is not None and one not in beside.sign_offs:
            yield f"review/signoffs.jsonl holds no such sign-off by {one.reader}"


def _kept(run: LoadedRun, beside: Beside) -> Iterator[str]:
    manifest = run.files.get(MANIFEST)
    if beside.manifest is not None and manifest != beside.manifest:
        yield "the run in the folder runs has another manifest"
    if beside.log is not None:
        for name in (MANIFEST, REDACTION):
            if name in run.files and run.files[name] not in beside.log:
                yield f"the log does not hold its {name}"


def with_listed(judgements: tuple[LoadedJudgement, ...], publication: Publication) -> tuple[LoadedJudgement, ...]:
    """Return the judgements that stand beside a public run; refused are those that its publication does not list.

    One that it lists and that is not there is refused, too.
    """
    there = {one.id for one in judgements}
    why = (
        "publication.json does not list it: `ragassay publish` adds a judgement, and a folder put there by hand is none"
    )
    found = [
        one if one.id in publication.judgements else refused_judgement(one, "BUNDLE_NAME", why) for one in judgements
    ]
    missing = [
        refused_judgement(LoadedJudgement(id=name, files={}, checks=()), "FILE_MISSING", "its public folder is missing")
        for name in publication.judgements
        if name not in there
    ]
    return (*found, *missing)


def refused_judgement(one: LoadedJudgement, code: str, why: str) -> LoadedJudgement:
    """Return a judgement as refused for a reason of the folder that it stands in."""
    failed = Check(code=code, severity="fail", text=why)
    return msgspec.structs.replace(one, document=None, refused=why, code=code, checks=(failed, *one.checks))
