"""The decisions of `claims freeze`: accepted and rejected by id, or one after the other in the terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ragassay.cli.claims_review import is_terminal, print_undecided, review
from ragassay.errors import InputError
from ragassay.question.freeze import decided, rejected
from ragassay.records import Benchmark
from ragassay.run.question_sets.claims_files import ReviewFile

if TYPE_CHECKING:
    from ragassay.cli.claims import Given


def decide(benchmark: Benchmark, file: ReviewFile, given: Given, report: dict[str, Any]) -> int:
    """Mark what is named on the command line, then show what is undecided; return the exit code."""
    code = _accept_and_reject(benchmark, file, given, report) if given.accept or given.reject else 0
    if given.review and not is_terminal():
        print_undecided(benchmark.questions, file)
    elif given.review:
        review(benchmark.questions, file, given.reviewer or "")
    return code


def _accept_and_reject(benchmark: Benchmark, file: ReviewFile, given: Given, report: dict[str, Any]) -> int:
    """Mark what is named, all of it or nothing; with `all` mark what is sound and report the rest."""
    by_id = {question.id: question for question in benchmark.questions}
    named = [identity for identity in given.accept if identity != "all"]
    unknown = [identity for identity in (*named, *given.reject) if identity not in file.proposals]
    if unknown:
        raise InputError("there is no proposal for these questions", unknown)
    if both := sorted({*named} & {*given.reject}):
        raise InputError("these are to be accepted and rejected", both)
    now, reviewer = int(time.time()), given.reviewer or ""
    marked = [rejected(file.proposals[identity], reviewer=reviewer, at=now) for identity in given.reject]
    waiting = [one.question for one in file.proposals.values() if one.status == "proposed"]
    swept = [one for one in waiting if one not in given.reject and one not in named] if "all" in given.accept else []
    refused: dict[str, list[str]] = {}
    for identity in dict.fromkeys([*named, *swept]):
        proposal = file.proposals[identity]
        try:
            marked.append(decided(proposal, by_id[identity], proposal.draft, reviewer=reviewer, at=now))
        except InputError as error:
            if not error.problems:
                raise
            refused[identity] = list(error.problems)
    if any(identity in refused for identity in named):
        problems = [f"{identity}: {problem}" for identity in named for problem in refused.get(identity, [])]
        raise InputError("these claims cannot be frozen; nothing was marked", problems)
    file.put(marked)
    report["refused"] = refused
    return int(bool(refused))
