"""What a draft goes on from: what is wanted of it, the file that it appends to, and its plan, made or extended."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import msgspec

from ragassay.errors import InputError, first_of
from ragassay.question.draft.plan import Plan, extended, make_plan, pages_digest, unfitting
from ragassay.question.evidence import match_evidence
from ragassay.records import Benchmark, Page
from ragassay.run.question_sets.draft_folder import places_beside
from ragassay.run.question_sets.frozen import load_set

DEFAULT_COUNT = 60
MAX_SHOWN = 20
"""How many faults of a plan are named; the rest is counted."""


class DraftOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the person who drafts chose; None where they chose nothing."""

    out: Path
    count: int | None = None
    seed: int | None = None
    name: str | None = None
    avoid: tuple[Path, ...] = ()
    again: bool = False
    """Append to the file that is there, or ask again where nothing is left to ask."""


def file_before(options: DraftOptions) -> Benchmark | None:
    """Return the draft that --again appends to, None where there is no file; raises `InputError` for any other."""
    if not options.out.exists():
        return None
    if not options.again:
        message = f"{options.out} is there already and is never replaced; --again appends to it, or name another --out"
        raise InputError(message)
    read, frozen = load_set(options.out)
    if options.name not in (None, read.benchmark.name):
        raise InputError(f"{options.out} is the set {read.benchmark.name!r} already; leave --name out")
    version = read.benchmark.version
    if frozen is not None or not (version == "0" or version.endswith("-draft")):
        raise InputError(f"{options.out} is version {version}, which is no draft any more; name another --out")
    if read.form != "full":
        raise InputError(f"{options.out} is not in our full form, so nothing can be appended; name another --out")
    return read.benchmark


def planned(
    options: DraftOptions,
    plan: Plan | None,
    pages: Sequence[Page],
    *,
    avoided: Sequence[Benchmark],
    before: Benchmark | None,
    tried: Callable[[Plan], Collection[str]],
) -> Plan:
    """Return the plan: a new one, the one that was made before, or that with further places where more are wanted.

    `avoided` are the question files whose pages are not used, `tried` names those that were looked at
    already.
    Raises `InputError` where the plan was made for something else.
    """
    avoid = _used(avoided, pages)
    own = [before] if before else []
    if plan is None:
        avoid |= _used(own, pages)
        return make_plan(pages, options.count or DEFAULT_COUNT, options.seed or 0, avoid)
    if problems := _differences(options, plan, pages, avoid):
        path = places_beside(options.out).plan
        what = f"{path} is the plan of another draft; name another --out, or move that folder away"
        raise InputError(what, problems)
    if problems := unfitting(plan, pages):
        what = f"{places_beside(options.out).plan} is no plan any more: it was edited; put it back, or move that folder"
        raise InputError(what, first_of(problems, MAX_SHOWN))
    if (options.count or 0) > len(plan.slots):
        avoid |= _used(own, pages)
        return extended(plan, pages, options.count or 0, avoid, tried(plan))
    return plan


def _used(files: Sequence[Benchmark], pages: Sequence[Page]) -> set[str]:
    """Return the pages that questions name, and those on which their evidence stands."""
    named = {question.page for file in files for question in file.questions if question.page is not None}
    return named | {one.page for file in files for one in match_evidence(file, pages) if one.page is not None}


def _differences(options: DraftOptions, plan: Plan, pages: Sequence[Page], avoid: set[str]) -> list[str]:
    problems = []
    if pages_digest(pages) != plan.corpus:
        problems.append(f"the corpus is another: the plan's {plan.pages} pages had the digest {plan.corpus}")
    if options.seed is not None and options.seed != plan.seed:
        problems.append(f"--seed is {options.seed}, the plan's is {plan.seed}")
    if options.count is not None and options.count < len(plan.slots):
        problems.append(f"--count is {options.count}, and {len(plan.slots)} questions are planned")
    if new := sorted(avoid - set(plan.avoid)) if not options.again else []:
        problems.append(f"--avoid names pages that the plan does not avoid, such as {new[0]!r}")
    return problems
