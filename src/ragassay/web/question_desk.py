"""What the page for drafted questions shows at this moment: file, waivers, documentation and decisions, read anew."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event, RLock
from typing import TypeAlias

import msgspec

from ragassay.errors import InputError
from ragassay.manifest.item_statement import ItemRef
from ragassay.question import EvidenceFinding, LintFinding, Waiver, load_waivers
from ragassay.question.kept_lint import KeptLint
from ragassay.question.reviews import ReviewLine, standing, state_of
from ragassay.question.waivers import waivers_path
from ragassay.records import Benchmark, Page, Question
from ragassay.run.question_sets.frozen import load_questions
from ragassay.run.question_sets.question_reviews import ReviewBook
from ragassay.run.question_sets.review_list import Listed, listed, reviewed_before

LOOK_AGAIN_S = 2.0
"""Seconds after which a folder of documentation is looked at again for changes, unless a decision is taken."""

Stat: TypeAlias = tuple[str, int, int, int]


class Documentation(msgspec.Struct, frozen=True):
    """The pages by id, and the addresses that they came from where those are known."""

    pages: Mapping[str, Page]
    addresses: Mapping[str, str]


class Documents(msgspec.Struct, frozen=True):
    """Where the documentation is, and how it is read from there."""

    path: Path
    read: Callable[[], Documentation]


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decisions rest on, as it was at one moment."""

    benchmark: Benchmark
    questions: Mapping[str, Question]
    waivers: Sequence[Waiver]
    documentation: Documentation | None
    lines: Sequence[ReviewLine]
    stands: Mapping[str, ReviewLine]
    before: Mapping[str, ItemRef]
    """Of an editable copy, what was reviewed of the version before."""

    def listed(self, question: Question) -> Listed:
        """Return the state of a question as `review --list` says it."""
        return listed(question, self.stands.get(question.id), self.before)

    def form(self, question: Question) -> Question | None:
        """Return a question as its reviewers left it, None where they rejected it; an open or stale one unchanged."""
        line = self.stands.get(question.id)
        state = state_of(question, line)
        if state == "rejected":
            return None
        if state != "edited" or line is None or line.edited is None:
            return question
        return msgspec.structs.replace(line.edited, provenance=question.provenance)


class QuestionDesk:
    """Reads a question file and what belongs to it whenever it has changed; safe for several threads."""

    def __init__(self, file: Path, documents: Documents | None = None) -> None:
        self.file = file
        self.book = ReviewBook(file)
        self._documents = documents
        self._lock = RLock()
        self._benchmark: tuple[list[Stat], Benchmark, Mapping[str, ItemRef]] | None = None
        self._documentation: tuple[list[Stat], Documentation] | None = None
        self._looked = 0.0
        self._lint = KeptLint(None)

    def now(self, *, surely: bool = False) -> Material:
        """Return what is there now; `surely` reads also what seems not to have changed, for a decision.

        Raises `InputError` where the file, its waivers or its decisions cannot be read.
        """
        with self._lock:
            benchmark, before = self._read_benchmark(surely)
            documentation = self._read_documentation(surely)
            waivers = load_waivers(waivers_path(self.file))
        lines = self.book.lines()
        return Material(
            benchmark=benchmark,
            questions={question.id: question for question in benchmark.questions},
            waivers=waivers,
            documentation=documentation,
            lines=lines,
            stands=standing(lines),
            before=before,
        )

    def evidence(self, question: Question) -> list[EvidenceFinding]:
        """Return where the evidence of a question stands, empty without documentation."""
        with self._lock:
            return self._lint.evidence(question)

    def lint(self, material: Material, form: Question) -> list[LintFinding]:
        """Return what the lint says of a form in the place of its question, beside the set as its reviewers left it."""
        with self._lock:
            return self._lint.of(form, _with(material, form), material.waivers)

    def counts(self, material: Material) -> dict[str, Counter[str]]:
        """Return how many errors and warnings each question has by itself, of those that were looked at so far."""
        name = material.benchmark.name
        with self._lock:
            forms = [material.form(question) or question for question in material.benchmark.questions]
            known = [form for form in forms if self._lint.knows(form, name)]
            found = [finding for form in known for finding in self._lint.by_itself(form, name)]
            counted: dict[str, Counter[str]] = {form.id: Counter() for form in known}
            for finding in self._lint.waived(found, material.benchmark, material.waivers):
                if finding.waived is None:
                    counted[finding.questions[0]][finding.severity] += 1
        return counted

    def look_ahead(self, stopped: Event) -> None:
        """Look at every question in its turn, so that none has to be waited for; ends early once `stopped` is set."""
        with contextlib.suppress(InputError):  # the page says it, when it asks
            material = self.now()
            for question in material.benchmark.questions:
                if stopped.is_set():
                    return
                with self._lock:
                    self._lint.by_itself(material.form(question) or question, material.benchmark.name)

    def _read_benchmark(self, surely: bool) -> tuple[Benchmark, Mapping[str, ItemRef]]:
        stats = _stats(self.file)
        if surely or self._benchmark is None or self._benchmark[0] != stats:
            benchmark = load_questions(self.file)
            self._benchmark = (stats, benchmark, reviewed_before(self.file, benchmark))
        return self._benchmark[1:]

    def _read_documentation(self, surely: bool) -> Documentation | None:
        if self._documents is None:
            return None
        if self._documentation is not None and not surely and time.monotonic() - self._looked < LOOK_AGAIN_S:
            return self._documentation[1]
        own = (self.file, waivers_path(self.file), self.book.path)
        stats = [stat for stat in _stats(self._documents.path) if Path(stat[0]) not in own]
        if self._documentation is None or self._documentation[0] != stats:
            read = self._documents.read()
            self._documentation = (stats, read)
            self._lint = KeptLint(tuple(read.pages.values()))
        self._looked = time.monotonic()
        return self._documentation[1]


def _with(material: Material, form: Question) -> Benchmark:
    """Return the set as its reviewers left it, with `form` in the place of its question."""
    forms = (form if one.id == form.id else material.form(one) for one in material.benchmark.questions)
    return msgspec.structs.replace(material.benchmark, questions=tuple(one for one in forms if one is not None))


def _stats(path: Path) -> list[Stat]:
    """Return what tells whether a file, or any file of a folder, has changed; empty where there is none."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    found: list[Stat] = []
    for file in files:
        try:
            stat = file.stat()
        except OSError:
            continue  # it went away while we looked, which is a change that shows
        found.append((str(file), stat.st_mtime_ns, stat.st_size, stat.st_ino))
    return found
