"""The folder of a draft beside its question file: plan, raw replies, refusals, where each question is from, sheets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest.log_disk import read_file
from ragassay.question.draft.plan import FORMAT, Plan
from ragassay.records import JSON, Benchmark, Record, to_json
from ragassay.run.question_sets.draft_state import Refused
from ragassay.run.workspace import write_bytes

MAX_BYTES = 256 * 1024 * 1024
"""The largest file of a draft folder that is read, in bytes."""

_AnyRecord = TypeVar("_AnyRecord", bound=Record)


class DraftPlaces(NamedTuple):
    """The files of a draft folder."""

    folder: Path
    plan: Path
    replies: Path
    models: Path
    items: Path
    pending: Path
    """Lines of `items` that are about to be written, from before the question file is until they are."""
    refused: Path
    worksheets: Path


class Passage(Record, frozen=True):
    """A span of a page's text in characters, and the SHA-256 of its UTF-8 bytes."""

    start: int
    end: int
    sha256: str


class DraftedItem(Record, frozen=True):
    """Where one question of the file is from: place, page and passage, and what drafted it.

    `settings` names model and parameters in `models.json`, `prompt` is the digest of the prompt's template; both are
    null by hand. `replies` holds the SHA-256 of each reply about the passage, the taken one last, or that of the
    worksheet. `attempts` counts every reply about the place; null by hand.
    """

    question: str
    slot: int
    section: str
    page: str
    page_sha256: str
    passage: Passage
    model: str | None
    settings: str | None
    prompt: str | None
    attempts: int | None
    replies: tuple[str, ...]


class AskedModel(Record, frozen=True):
    """A model as it was asked: what it says of itself, the parameters of its calls, and where the board holds it too.

    `same_as` is null where no board was named, so that nobody knows.
    """

    model: JSON
    params: JSON
    same_as: tuple[str, ...] | None


def places_beside(questions: Path) -> DraftPlaces:
    """Return the files of the draft that becomes a question file: in `<stem>.draft` in its folder."""
    folder = questions.with_name(f"{questions.stem}.draft")
    return DraftPlaces(
        folder=folder,
        plan=folder / "plan.json",
        replies=folder / "replies.jsonl",
        models=folder / "models.json",
        items=folder / "items.jsonl",
        pending=folder / "items.next.jsonl",
        refused=folder / "refused.jsonl",
        worksheets=folder / "worksheets",
    )


def load_plan(path: Path) -> Plan | None:
    """Return the plan that stands there, None where there is none; raises `InputError` for anything else."""
    data = read_file(path, MAX_BYTES)
    if data is None:
        return None
    try:
        plan = msgspec.convert(canon.load_canonical(data, max_bytes=MAX_BYTES), Plan, strict=True)
    except (canon.NotCanonical, msgspec.ValidationError, RecursionError) as error:
        raise InputError(f"{path} is no plan: {error}; put it back, or move the folder away") from error
    if plan.format != FORMAT:
        raise InputError(f"{path} is written as {plan.format[:40]!r}, not as {FORMAT!r}; move the folder away")
    return plan


def save_plan(path: Path, plan: Plan) -> None:
    """Write the plan, whole or not at all."""
    write_bytes(path, canon.canonical(to_json(plan)))


def load_items(path: Path) -> list[DraftedItem]:
    """Return where the questions of the file are from; raises `InputError` with every line that does not say it."""
    return _lines(path, DraftedItem)


def settled_items(places: DraftPlaces, before: Benchmark | None) -> list[DraftedItem]:
    """Return where the questions of the file `before` are from, and finish what a kill left half done.

    Lines that were about to be written are, where the file has a question of theirs; else they are dropped.
    """
    items = load_items(places.items) if before is not None else []
    pending = [one for one in _lines(places.pending, DraftedItem) if one not in items]
    held = {(question.id, question.page) for question in before.questions} if before is not None else set()
    if any((one.question, one.page) in held for one in pending):
        items += pending
        save_lines(places.items, items)
    remove_file(places.pending)
    return items


def save_lines(path: Path, records: Iterable[DraftedItem | Refused]) -> None:
    """Write one canonical line per record, whole or not at all."""
    write_bytes(path, b"".join(canon.canonical(to_json(one)) + b"\n" for one in records))


def load_models(path: Path) -> dict[str, AskedModel]:
    """Return the models that were asked, by the digest of their settings."""
    data = read_file(path, MAX_BYTES)
    if data is None:
        return {}
    try:
        return msgspec.json.decode(data, type=dict[str, AskedModel], strict=True)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} does not say which models were asked: {error}; put it back") from error


def save_models(path: Path, models: Mapping[str, AskedModel]) -> None:
    """Write the models that were asked, whole or not at all."""
    write_bytes(path, canon.canonical(to_json(dict(models))))


def remove_file(path: Path) -> None:
    """Take a file away where there is one; raises `InputError` where that cannot be."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path} cannot be removed ({error.strerror or error}); make its folder writable") from error


def question_bytes(benchmark: Benchmark) -> bytes:
    """Return a question file as a person edits it: our full form, indented."""
    return (json.dumps(to_json(benchmark), ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def _lines(path: Path, form: type[_AnyRecord]) -> list[_AnyRecord]:
    data = read_file(path, MAX_BYTES)
    found: list[_AnyRecord] = []
    problems: list[str] = []
    for number, line in enumerate((data or b"").splitlines(), 1):
        try:
            found.append(msgspec.json.decode(line, type=form, strict=True))
        except (ValueError, RecursionError) as error:
            problems.append(f"line {number}: {error}")
    if problems:
        raise InputError(f"{path} holds lines that cannot be read; put them back, or move the folder away", problems)
    return found
