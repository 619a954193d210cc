"""The next version of a frozen set as it would be frozen: what moved, which reviews carry over, what is against it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ragassay.manifest.item_set import pages_digest, set_file
from ragassay.manifest.item_statement import PreviousSet
from ragassay.manifest.statement import Digest
from ragassay.question.freezing import Standing
from ragassay.question.moved import Moved, moved
from ragassay.question.versions import DRAFT, raised, version_problem
from ragassay.records import Benchmark
from ragassay.records.question import version_numbers
from ragassay.run.question_sets.freeze_set import Checked, source_pages
from ragassay.run.question_sets.frozen import FrozenSet, frozen_versions, halves_left
from ragassay.run.question_sets.frozen_beside import other_set, own_versions


class NextSet(msgspec.Struct, frozen=True, kw_only=True):
    """A checked set as the next version of a frozen one; `problems` are all reasons against freezing it so."""

    checked: Checked
    moved: Moved
    version: str
    problems: tuple[str, ...]

    @property
    def carried(self) -> tuple[str, ...]:
        """The questions whose review in the version before still holds."""
        return self.checked.applied.carried

    @property
    def lapsed(self) -> tuple[str, ...]:
        """The questions that were reviewed, and have other words now which nobody reviewed."""
        return self.checked.applied.cleared

    @property
    def unreviewed(self) -> tuple[str, ...]:
        """The questions that nobody reviewed as they are: the lapsed ones among them."""
        return self.checked.applied.unreviewed


def editable(benchmark: Benchmark) -> Benchmark:
    """Return the copy of a frozen set that people edit: a draft of the next version, which names no reviewer.

    Who reviewed what stands in the manifest; it holds for the words that were signed, and for no others.
    """
    questions = tuple(
        question
        if question.provenance is None
        else msgspec.structs.replace(
            question, provenance=msgspec.structs.replace(question.provenance, reviewed_by=None)
        )
        for question in benchmark.questions
    )
    return msgspec.structs.replace(benchmark, version=raised(benchmark.version, "patch") + DRAFT, questions=questions)


def standing_reviews(frozen: FrozenSet) -> dict[str, Standing]:
    """Return who reviewed which question of a frozen set, as its manifest says."""
    return {
        item.id: Standing(item.material, item.reviewer, item.reviewed_at)
        for item in frozen.predicate.items
        if item.reviewer is not None
    }


def next_set(before: Benchmark, frozen: FrozenSet, checked: Checked, asked: str | None, folder: Path) -> NextSet:
    """Hold a checked set against the frozen one that it follows; `folder` is where it would be written.

    `asked` is the version that a person wants, None for the one that the rule gives.
    """
    old = {item.id: item.page_sha256 for item in frozen.predicate.items}
    corpus = pages_digest(checked.docs.pages) != frozen.predicate.corpus.digest.sha256
    change = moved(before, checked.benchmark, pages=(old, source_pages(checked)), corpus=corpus)
    least = raised(frozen.predicate.benchmark.version, change.part or "patch")
    version = asked or least
    problems = [
        _version_problem(version, least, frozen, folder),
        None
        if before.name == checked.benchmark.name
        else f"the edited file is the set {checked.benchmark.name!r}, and the frozen one is {before.name!r}",
        f"nothing differs from version {frozen.predicate.benchmark.version}" if change.part is None else None,
    ]
    told = tuple(problem for problem in problems if problem)
    return NextSet(checked=checked, moved=change, version=version, problems=(*told, *checked.problems))


def previous_of(frozen: FrozenSet) -> PreviousSet:
    """Return how the manifest of the next version names a frozen set."""
    about = frozen.predicate.benchmark
    return PreviousSet(version=about.version, digest=about.digest, envelope=Digest(sha256=frozen.signed.digest))


def _version_problem(version: str, least: str, frozen: FrozenSet, folder: Path) -> str | None:
    """Return what is wrong with the next version: it is never lower than the rule gives, and none that is there."""
    about = frozen.predicate.benchmark
    here = frozen_versions(folder, about.name)
    if problem := halves_left(folder, about.name, here) or other_set(folder, about.name, here):
        return problem
    if problem := version_problem(version, {about.version, *here, *own_versions(frozen.path.parent, about.name)}):
        return problem
    numbers, wanted = version_numbers(version), version_numbers(least)
    if numbers is not None and wanted is not None and numbers < wanted:
        return f"version {version} is too low: what moved asks for {least} or higher"
    path = folder / set_file(about.name, version)
    there = path.exists() or path.is_symlink()
    return f"{path} exists, and is no frozen set: move it away, or name another folder with --out" if there else None
