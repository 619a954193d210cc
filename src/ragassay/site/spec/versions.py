"""How things are versioned and signed: fingerprints, registry, log, question set, harness. Pure."""

from __future__ import annotations

from ragassay.manifest.statement import Evaluator
from ragassay.site.numbers import listed, plural
from ragassay.site.spec.counted import opening, shares, some, spelled, verb
from ragassay.site.spec.document import Code, Paragraph, Said, Section, is_said, paragraph
from ragassay.site.spec.ground import Ground, on_board


def versions(ground: Ground) -> Section:
    """Return fingerprints, registry and log origin, and what a version of question set, row and harness means."""
    return Section("Versions and signatures", "versions", is_said((_signers(ground), _logs(ground), _versions(ground))))


def _signers(ground: Ground) -> Paragraph:
    found = [run.document.predicate.signer for run in ground.runs if run.document is not None]
    keys = shares([one.kid for one in found])
    names = {one.kid: one.name for one in found}
    registries = sorted({one.registry_version for one in found if one.registry_version is not None})
    if len(keys) == 1:
        kid = keys[0][0]
        whose = f"All {plural(len(found), 'run')} are" if len(found) > 1 else "The run is"
        signed: Said = (
            f"{whose} signed with Ed25519, by the key with the fingerprint ",
            Code(kid),
            f", which calls itself “{names[kid]}”.",
        )
    else:
        keyed: list[Said] = [(Code(kid), f" (“{names[kid]}”, {plural(count, 'run')})") for kid, count in keys]
        signed = ("The runs are signed with Ed25519, by the keys with the fingerprints ", some(keyed), ".")
    registry = (
        f"The runs name version {listed([str(one) for one in registries])} of a key registry."
        if registries
        else "No key registry is named, so a key that was lost or stolen could not be told from a good one."
    )
    compare = (
        "Compare the fingerprint with what the publisher gave you by another way: a name in a file proves nothing."
    )
    return paragraph(signed, compare, registry)


def _logs(ground: Ground) -> Paragraph:
    logs = shares(
        [run.document.predicate.intent.log for run in ground.runs if run.document and run.document.predicate.intent]
    )
    if not logs:
        return paragraph(f"{'The runs stand' if len(ground.own) > 1 else 'The run stands'} in no log.")
    named: list[Said] = [(Code(name), f" for {plural(count, 'run')}") for name, count in logs]
    here: Said = (
        ("Announcements and runs stand in the log ", Code(logs[0][0]))
        if len(logs) == 1
        else ("Announcements and runs stand in the logs ", some(named))
    )
    return paragraph((here, "; nothing is ever taken out of ", "it." if len(logs) == 1 else "them."))


def _versions(ground: Ground) -> Paragraph:
    line = ground.table.benchmark
    made = {run.document.predicate.provenance.evaluator for run in ground.own if run.document}
    names = listed(sorted({_name(one) for one in made}))
    return paragraph(
        (
            f"The question set is {line.id}, version {line.version}; its full form has the SHA-256 ",
            Code(line.digest),
            ". A new version is another set, and rows over two of them are never ranked together.",
        ),
        "Version 0 is a working copy that was never frozen." if line.version == "0" else None,
        f"The runs were made by {names}." if ground.configs else f"The scores were computed by {names}.",
        _apart(ground),
    )


def _name(made_by: Evaluator) -> str:
    version = "" if made_by.version == "unknown" else f" {made_by.version}"
    return f"{made_by.name}{version}"


def _apart(ground: Ground) -> Said:
    """Say which tables of the board are not specified here, and why they stand apart."""
    apart = [table for table in ground.board.tables if not table.main]
    if not apart:
        return None
    count = len(apart)
    reasons: list[Said] = [table.why_apart or table.id for table in apart]
    return (
        f"{opening(spelled(count, 'further table'))} of the ",
        on_board("board"),
        f" {verb(count, 'stands', 'stand')} apart and {verb(count, 'is', 'are')} not specified here: ",
        some(reasons),
        ".",
    )
