"""How `ragassay stacks` shows kinds, parameters and what a check found."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragassay.plugins.declared import Declared
from ragassay.records import JSON
from ragassay.site.safe import one_line, shortened

if TYPE_CHECKING:
    from ragassay.run.stack_check import RowChecked, StacksChecked

_WORDS = {True: "yes", False: "no", None: "not told"}


def kinds(found: Sequence[Declared]) -> Iterator[str]:
    """Yield one line a kind under a heading; columns are as wide as what stands in them."""
    rows = [("kind", "from", "owns its corpus", "deterministic", "tested against", "needs")]
    rows += [
        (
            one_line(one.kind),
            one_line(one.package or "built-in"),
            _WORDS[one.owns_corpus],
            _WORDS[one.deterministic],
            tested(one.wire_form_only, one.package),
            _needs(one),
        )
        for one in found
    ]
    widths = [max(len(row[at]) for row in rows) for at in range(5)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:5], widths, strict=True)]
        yield "  ".join([*cells, row[5]]).rstrip()


def tested(wire_form_only: bool | str | None, package: str | None) -> str:
    """Say what a kind of ours was tested against: the real thing, or a stand-in that speaks its wire form."""
    if wire_form_only is True:
        return "wire form only"
    if isinstance(wire_form_only, str):
        return f"wire form with `{wire_form_only}`"
    return "not told" if package else "itself"


def _needs(one: Declared) -> str:
    """Say what a kind needs, and what of it is not here."""
    extras = f"ragassay[{','.join(one.extras)}]" if one.extras else ""
    if not one.missing:
        return f"{extras}: installed" if extras else "nothing more"
    remedy = f"needs {extras}" if extras else "its package is not whole"
    return f"cannot be imported: {remedy} (missing: {one_line(', '.join(one.missing))})"


def summary(doc: str | None) -> str:
    """Return the first paragraph of a class's documentation on one line; empty where it has none."""
    return one_line(inspect.cleandoc(doc or "").partition("\n\n")[0])


def described(told: JSON) -> Iterator[str]:
    """Yield what one kind is and takes."""
    yield f"{one_line(told['kind'])}: {told['summary']}" if told["summary"] else one_line(told["kind"])
    extras = [f"ragassay[{','.join(told['extras'])}]"] if told["extras"] else []
    facts = {
        "from": told["package"] or "built-in",
        "class": told["target"],
        "owns its corpus": _WORDS[told["owns_corpus"]],
        "deterministic": _WORDS[told["deterministic"]],
        "tested against": tested(told["wire_form_only"], told["package"]),
        "needs": ", ".join(extras) or "nothing more",
        "page": told["page"] or "its package names none",
    }
    for name, value in facts.items():
        yield f"  {name:<15}  {one_line(value)}"
    for name, default in told["parts"].items():
        yield f"  part {one_line(name)} = {one_line(_json(default))} where the board names none"
    if not told["parameters"]:
        yield "  no parameters"
    width = max((len(one_line(one["name"])) for one in told["parameters"]), default=0)
    for one in told["parameters"]:
        default = "required" if one["required"] else f"default {_json(one['default'])}"
        if not one["required"] and one["default"] is None:
            default = "no default"
        allowed = f"; {one['allowed']}" if one["allowed"] else ""
        yield f"  {one_line(one['name']).ljust(width)}  {one_line(default + allowed)}"


def checked(found: StacksChecked) -> Iterator[str]:
    """Yield one block a row, then how many answer."""
    yield (
        f"corpus: {found.pages:,} pages, {found.chunks:,} chunks; "
        f"question {one_line(found.question)}: {shortened(found.text, 100)}"
    )
    shown: set[str] = set()
    for one in found.rows:
        yield one_line(f"row {one.row!r}: {one.kind}: {one.state}")
        yield from (f"  {name:<9}  {words}" for name, words in _facts(one, found.chunks, shown))
    counts = {state: sum(one.state == state for one in found.rows) for state in ("failed", "wrong input", "left out")}
    answer = sum(one.state == "answers" for one in found.rows)
    beside = "".join(f"; {count} {state}" for state, count in counts.items() if count)
    yield f"{answer} of {len(found.rows)} answer{beside}"


def service(problems: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with a service, one line each, then the verdict."""
    yield from (f"- {one_line(problem)}" for problem in problems)
    count = len(problems)
    yield (
        f"{count} problem{'s' if count > 1 else ''}: it cannot be a row as it is" if count else "it keeps the contract"
    )


def _facts(one: RowChecked, chunks: int, shown: set[str]) -> Iterator[tuple[str, str]]:
    if one.problem is not None:
        at = f"at the step {one.step!r}: " if one.step else ""
        again = " (asking again may help)" if one.retryable else ""
        yield "problem", one_line(f"{at}{one.problem}{again}")
    if one.build_ms is not None:
        yield "built in", f"{one.build_ms / 1000:.1f} s"
        if one.kind != "none":
            yield "indexed", _indexed(one, chunks)
    if one.retrieval is not None:
        found = one.retrieval
        if found.state == "off":
            yield "delivered", "nothing: retrieval is switched off"
        elif found.state == "empty":
            yield "delivered", f"nothing for this question ({found.below_threshold} hits below the threshold)"
        else:
            first = found.delivered[0]
            yield "delivered", f"{len(found.delivered)}, the best {one_line(first.chunk)} with score {first.score}"
        if found.state != "off":
            yield "latency", f"{found.latency_ms} ms" if found.latency_ms else "less than 1 ms"
    if one.describe is not None:
        yield "describe", one_line(_json(_once(one.describe, shown)))
    yield from (("note", one_line(note)) for note in one.notes)


def _once(about: JSON, shown: set[str]) -> JSON:
    """Return a description in which a part that a row above has shown whole is cut to its kind; notes what it shows."""

    def part(value: Any) -> Any:
        if isinstance(value, list):
            return [part(one) for one in value]
        if not isinstance(value, dict) or "kind" not in value:
            return value
        whole = _json(value)
        if whole in shown:
            return {"kind": value["kind"], "…": "as above"}
        shown.add(whole)
        return {name: part(one) for name, one in value.items()}

    return {name: part(value) for name, value in about.items()}


def _indexed(one: RowChecked, chunks: int) -> str:
    if one.indexed is None:
        return "the stack does not say"
    by = "counted by the stack" if one.counted else "as it said when it was built"
    return f"{one.indexed:,}, {by}; the corpus has {chunks:,} chunks"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
