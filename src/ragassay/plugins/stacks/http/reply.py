"""What a retrieval service replied becomes hits, or a list of its faults, without I/O; nothing is repaired."""

from __future__ import annotations

from typing import Any

from ragassay.errors import StackError
from ragassay.records import JSON, Hit

MAX_ID_CHARS = 500
MAX_NAME_CHARS = 200
_SHOWN = 3


def hits_of(body: JSON, *, k: int, max_text_chars: int) -> list[Hit]:
    """Return the hits of a reply; raises `StackError` with what breaks the contract, the first three faults of it."""
    problems = faults(body, k=k, max_text_chars=max_text_chars)
    if problems:
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise StackError("; ".join(problems[:_SHOWN]) + more)
    return [Hit(chunk=hit["id"], score=float(hit["score"]) + 0.0, text=hit["text"]) for hit in body["hits"]]


def faults(body: JSON, *, k: int, max_text_chars: int) -> list[str]:
    """Return everything by which a reply to a question for `k` hits breaks the contract."""
    if "hits" not in body:
        names = ", ".join(repr(name[:40]) for name in sorted(body)[:5]) or "nothing"
        return [f"the reply has no member 'hits' (it has {names})"]
    hits = body["hits"]
    if not isinstance(hits, list):
        return [f"'hits' is {_named(hits)}, not a list"]
    problems = [f"{len(hits)} hits came where at most {k} were asked for"] if len(hits) > k else []
    last: float | None = None
    ids: set[str] = set()
    for rank, hit in enumerate(hits, 1):
        if not isinstance(hit, dict):
            problems.append(f"hit {rank} is {_named(hit)}, not an object")
            continue
        problems += [f"hit {rank}: {fault}" for fault in _hit_faults(hit, max_text_chars)]
        if isinstance(found := hit.get("id"), str):
            problems += [f"hit {rank}: the id {found[:60]!r} stands twice"] if found in ids else []
            ids.add(found)
        if (score := _score(hit.get("score"))) is not None:
            if last is not None and score > last:
                problems.append(f"hit {rank}: the score rises from {last} to {score}; hits come best first")
            last = score
    return problems


def description_of(body: JSON) -> JSON:
    """Return name and version of a service as it gives them; raises `StackError` for anything else."""
    for name in ("name", "version"):
        text = body.get(name)
        if not isinstance(text, str) or not 1 <= len(text) <= MAX_NAME_CHARS or not text.isprintable():
            raise StackError(
                f"GET gives no usable {name!r}: 'name' and 'version' must be texts of 1 to {MAX_NAME_CHARS} printable "
                "characters; a service that describes nothing answers GET with 404 or 405"
            )
    return {"name": body["name"], "version": body["version"]}


def _hit_faults(hit: JSON, max_text_chars: int) -> list[str]:
    problems = []
    for name, most in (("id", MAX_ID_CHARS), ("text", max_text_chars)):
        value = hit.get(name)
        if name not in hit:
            problems.append(f"it has no {name}")
        elif not isinstance(value, str):
            problems.append(f"its {name} is {_named(value)}, not a text")
        elif not value:
            problems.append(f"its {name} is empty")
        elif len(value) > most:
            problems.append(f"its {name} has {len(value)} characters, more than {most}")
    if "score" not in hit:
        problems.append("it has no score")
    elif not _is_number(hit["score"]):
        problems.append(f"its score is {_named(hit['score'])}, not a number")
    elif _score(hit["score"]) is None:
        problems.append(f"its score {str(hit['score'])[:40]} is outside 0 to 1")
    return problems


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _score(value: Any) -> float | None:
    """Return a number from 0 to 1, None for anything else."""
    return value if _is_number(value) and 0 <= value <= 1 else None


def _named(value: object) -> str:
    """Say what a JSON value is, in JSON's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return f"the number {str(value)[:40]}"
