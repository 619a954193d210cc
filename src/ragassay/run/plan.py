"""What is to be run: each row's recorded configuration, its passes, and which of them continue earlier ones."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.records import Benchmark, Config, Record, to_json
from ragassay.run.journal import claimed
from ragassay.run.workspace import Workspace, locked, slug, write_bytes

VOID = "void.dsse.json"
NEW_INSTEAD = "new passes were begun instead"


class PassPlan(Record, frozen=True):
    """`plan.json` of one pass; `fingerprint` covers measure, benchmark and the number of passes."""

    row: str
    k: int
    of: int
    run_id: str
    created: int
    benchmark: str
    config: Config
    fingerprint: str


def fingerprint(config: Config) -> str:
    """Return the digest that a journal must share to be continued."""
    return canon.digest({"measure": to_json(config.measure), "passes": config.circumstance.passes})


def new_passes(config: Config, benchmark: Benchmark, *, created: int, without: Container[int] = ()) -> list[PassPlan]:
    """Return the planned passes of one row, with fresh run ids; those that `without` numbers are there already.

    All passes that were begun together share `created`.
    """
    passes = config.circumstance.passes
    return [
        PassPlan(
            row=config.row,
            k=k,
            of=passes,
            run_id=secrets.token_hex(16),
            created=created,
            benchmark=benchmark.digest(),
            config=config,
            fingerprint=fingerprint(config),
        )
        for k in range(1, passes + 1)
        if k not in without
    ]


def all_passes(workspace: Workspace, *, given_up: bool = False) -> Iterator[PassPlan]:
    """Yield every pass that was begun and not given up, signed or not, oldest first; `given_up` adds those too."""
    found = []
    for path in sorted(workspace.passes.glob("*/*/plan.json")):
        if not given_up and is_given_up(workspace, path.parent):
            continue
        try:
            plan = msgspec.json.decode(path.read_bytes(), type=PassPlan)
        except (OSError, ValueError) as error:
            raise InputError(f"{path} is no plan: {error}; move its folder away to go on") from error
        if (plan.run_id, slug(plan.row)) != (path.parent.name, path.parent.parent.name):
            raise InputError(f"{path} is the plan of another folder; move this folder away to go on")
        found.append(plan)
    yield from sorted(found, key=lambda plan: (plan.created, plan.row, plan.k))


def is_given_up(workspace: Workspace, folder: Path) -> bool:
    """Tell whether the pass in a folder is not to be continued: it was given up, or voided before it was signed."""
    if (folder / "given-up.json").exists():
        return True
    return (folder / VOID).exists() and not (workspace.runs / folder.name).exists()


def is_signed(workspace: Workspace, plan: PassPlan) -> bool:
    """Tell whether the run of a pass is there."""
    return (workspace.runs / plan.run_id).exists()


def open_passes(workspace: Workspace) -> Iterator[PassPlan]:
    """Yield every pass that was begun and neither signed nor given up, oldest first."""
    return (plan for plan in all_passes(workspace) if not is_signed(workspace, plan))


def orphans(workspace: Workspace, names: Container[str]) -> list[str]:
    """Return a line for every open pass whose row the board no longer names: it is not asked, and not forgotten."""
    return [
        f"row {plan.row!r} is no longer on the board; its pass {plan.k} stays open in "
        f"{workspace.pass_folder(plan.row, plan.run_id)}"
        for plan in open_passes(workspace)
        if plan.row not in names
    ]


def planned(
    workspace: Workspace,
    configs: Mapping[str, Config],
    benchmark: Benchmark,
    *,
    subset: bool,
    new: bool,
    announced: Callable[[PassPlan], bool],
    before_given_up: Callable[[PassPlan, str], None],
) -> list[PassPlan]:
    """Return the passes to run, stored: those begun earlier, and new ones for rows that have none of this measure.

    A row whose passes were not all stored when an earlier run was killed gets the missing ones, unless they are
    `announced`: no pass is added to a plan that others can read. Raises `InputError` where a begun pass measures
    something else, naming the fields. Two processes plan one after the other. With `new` begun passes are given up, and
    `before_given_up` is told of each with the reason; `InputError` where another process is at one of them.
    """
    with locked(workspace.passes / ".lock"):
        stored = list(all_passes(workspace, given_up=True))
        known = [plan for plan in all_passes(workspace) if plan.row in configs]
        begun = [
            plan
            for plan in known
            if not is_signed(workspace, plan)
            and _same_kind(plan.config.measure.benchmark["id"], benchmark.name, subset)
        ]
        # Later than every pass there is: passes begun together are told from others by this second alone.
        created = max([int(time.time()), *(plan.created + 1 for plan in stored if plan.row in configs)])
        if new:
            _give_up_all(workspace, begun, before_given_up)
            known, begun = [], []
        check_resumable(begun, configs)
        same = [plan for plan in known if plan.fingerprint == fingerprint(configs[plan.row])] if begun else []
        fresh = _lost(stored, [plan for plan in begun if not announced(plan)], benchmark)
        covered = {plan.row for plan in same}
        for row in sorted(configs.keys() - covered):
            fresh += new_passes(configs[row], benchmark, created=created)
        for plan in fresh:
            store(workspace, plan)
        return [*begun, *fresh]


def _same_kind(begun: str, now: str, subset: bool) -> bool:
    """Tell whether a begun pass stands in the way: one of a subset stands aside from all but that same subset."""
    return begun == now if subset or re.search(r"#[0-9]+$", begun) else True


def _lost(stored: Sequence[PassPlan], begun: Sequence[PassPlan], benchmark: Benchmark) -> list[PassPlan]:
    """Return the passes that were to be begun together with open ones and were never stored, of the same config."""
    lost = []
    for row, created in sorted({(plan.row, plan.created) for plan in begun}):
        together = [plan for plan in stored if (plan.row, plan.created) == (row, created)]
        there = {plan.k for plan in together}
        lost += new_passes(together[0].config, benchmark, created=created, without=there)
    return lost


def store(workspace: Workspace, plan: PassPlan) -> None:
    """Write `plan.json`, from which the pass can be continued."""
    folder = workspace.pass_folder(plan.row, plan.run_id)
    write_bytes(folder / "plan.json", canon.canonical(to_json(plan)))


def give_up(workspace: Workspace, plan: PassPlan, reason: str) -> None:
    """Mark a begun pass as never to be continued; its journal stays."""
    folder = workspace.pass_folder(plan.row, plan.run_id)
    write_bytes(folder / "given-up.json", canon.canonical({"at": int(time.time()), "reason": reason}))


def _give_up_all(
    workspace: Workspace, plans: Sequence[PassPlan], before_given_up: Callable[[PassPlan, str], None]
) -> None:
    """Give up all of these passes, or none where another process is at one of them."""
    with ExitStack() as claims:
        for plan in plans:
            claims.enter_context(claimed(workspace.pass_folder(plan.row, plan.run_id) / "journal.jsonl"))
        for plan in plans:
            before_given_up(plan, NEW_INSTEAD)
            give_up(workspace, plan, NEW_INSTEAD)


def check_resumable(plans: Sequence[PassPlan], configs: Mapping[str, Config]) -> None:
    """Raise `InputError` naming each field in which a begun pass differs from what would now be run."""
    problems = []
    for row in sorted({plan.row for plan in plans if plan.row in configs}):
        plan = next(plan for plan in plans if plan.row == row)
        if plan.fingerprint == fingerprint(configs[row]):
            continue
        old, new = plan.config, configs[row]
        fields = list(differences("measure", to_json(old.measure), to_json(new.measure)))
        fields += list(differences("passes", old.circumstance.passes, new.circumstance.passes))
        problems += [f"row {row!r}: {field}" for field in fields]
    if problems:
        raise InputError(
            "a begun pass cannot be continued, because what it measures has changed; "
            "undo the change, or pass --new to give it up and begin new passes",
            problems,
        )


def differences(place: str, old: Any, new: Any) -> Iterator[str]:
    """Yield a line for each member in which two JSON values differ, named from `place` downwards."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from differences(f"{place}.{key}", old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(f"{place}[{index}]", one, other)
    elif old != new:
        yield f"{place} was {_short(old)} and is now {_short(new)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"
