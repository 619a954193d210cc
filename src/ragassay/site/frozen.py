"""What the item manifest that runs name says of their question set, as a board prints it. Pure."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import msgspec

from ragassay.errors import VerifyError
from ragassay.manifest.item_set import SignedItems, decode_items
from ragassay.records import Benchmark
from ragassay.site.frozenrecord import FrozenLine
from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import plural
from ragassay.site.safe import one_line
from ragassay.verify.item_set import contradictions


def frozen_line(runs: Sequence[LoadedRun]) -> FrozenLine | None:
    """Return what is known of the item manifest that most of a table's runs name, None where none names one."""
    named = [digest for run in runs if (digest := manifest_of(run)) is not None]
    if not named:
        return None
    digest = max(sorted(set(named)), key=named.count)
    data = next((run.items for run in runs if manifest_of(run) == digest and run.items is not None), None)
    line = FrozenLine(envelope=digest, named_by=named.count(digest), runs=len(runs))
    if data is None:
        return msgspec.structs.replace(line, problem="its item manifest is not kept in the workspace")
    try:
        signed = decode_items(data)
    except VerifyError as error:
        return msgspec.structs.replace(line, problem=f"its item manifest cannot be read: {error}")
    asked = next(run.document for run in runs if run.document is not None)
    if signed.predicate.benchmark.digest != asked.predicate.benchmark.digest:
        return msgspec.structs.replace(line, problem="the item manifest that its runs name is of another set")
    if not signed.signed_by_named():
        return msgspec.structs.replace(line, problem="its item manifest is not signed by the key that it names")
    if wrong := contradictions(signed.predicate, asked.benchmark):
        first = f"{one_line(wrong[0].where or '')[:80]}: {wrong[0].message}"
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        problem = f"its item manifest says of the questions what they are not: {first}{more}"
        return msgspec.structs.replace(line, problem=problem)
    return _known(line, signed)


def manifest_of(run: LoadedRun) -> str | None:
    """Return the SHA-256 of the item manifest that a run names in its signed configuration."""
    config = run.document.config if run.document is not None else None
    return config.circumstance.item_manifest if config is not None else None


def frozen_facts(line: FrozenLine | None) -> list[str]:
    """Say as which version, when and by whom the set was frozen, how much is reviewed, and what is declared."""
    if line is None or line.problem is not None:
        return []
    declared = "declared: no item was derived from a system under test" if line.declared else derived_words(line)
    when = f"frozen as version {line.version} on {day(line)}, signed by {line.signer_name} ({line.signer})"
    return [f"{when}; {reviewed_words(line)}; {declared}"]


def frozen_warnings(line: FrozenLine | None) -> list[str]:
    """Say what is wrong with the item manifest, or that not every run names it."""
    if line is None:
        return []
    said = [f"the question set is frozen, and {line.problem} ({line.envelope[:8]})"] if line.problem else []
    if line.named_by < line.runs:
        said.append(f"item manifest named by {line.named_by} of {plural(line.runs, 'run')}")
    return said


def same_name_warnings(benchmark: Benchmark, runs: Iterable[LoadedRun]) -> list[str]:
    """Say that another set of this very name and version is frozen, which some run of the board was asked."""
    manifests = {digest: run.items for run in runs if run.items and (digest := manifest_of(run)) is not None}
    asked = benchmark.digest()
    for digest, data in sorted(manifests.items()):
        try:
            signed = decode_items(data)
        except VerifyError:
            continue  # the table of the runs that name it says so
        about = signed.predicate.benchmark
        same = (about.name, about.version) == (benchmark.name, benchmark.version)
        if same and about.digest.sha256 != asked and signed.signed_by_named():
            return [f"these are not the questions that were frozen under this name and version ({digest[:8]})"]
    return []


def day(line: FrozenLine) -> str:
    """Return the day on which the set was frozen, as its signer says."""
    return time.strftime("%Y-%m-%d", time.gmtime(min(line.created or 0, 253_402_300_799)))


def reviewed_words(line: FrozenLine) -> str:
    """Say how many items were reviewed."""
    return f"{line.reviewed} of {plural(line.items or 0, 'question')} reviewed"


def derived_words(line: FrozenLine) -> str:
    """Say how many items were derived from a system under test."""
    return f"{plural(line.derived or 0, 'question')} derived from a system under test"


def _known(line: FrozenLine, signed: SignedItems) -> FrozenLine:
    p = signed.predicate
    return msgspec.structs.replace(
        line,
        version=p.benchmark.version,
        previous=p.previous.version if p.previous else None,
        created=p.created,
        signer=p.signer.kid,
        signer_name=p.signer.name,
        items=p.benchmark.items,
        reviewed=p.review.reviewed,
        derived=p.declaration.derived,
        declared=p.declaration.holds,
    )
