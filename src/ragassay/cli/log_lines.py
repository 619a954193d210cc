"""What `ragassay log show` and `audit` print, as lines and as JSON. Pure."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from ragassay.manifest.checkpoint import SignedCheckpoint
from ragassay.manifest.note import NoteKey, encode_base64
from ragassay.records import to_json
from ragassay.site.safe import shortened
from ragassay.verify.audit import AnnouncedRow, Audit, RedactedRun, RunEntry

MAX_TEXT = 200
"""The most characters of a text from a log that are printed."""

_TRUST = {
    "pinned": "signed by the pinned key",
    "its own word": "signed by the key that it gives as its own; --vkey pins one",
    "unknown": "it gives no key, so its signature was not checked; --vkey pins one",
}


def show_json(
    signed: SignedCheckpoint, key: NoteKey | None, holds: bool, seen: Sequence[SignedCheckpoint]
) -> dict[str, Any]:
    """Return what is known of a log."""
    return {
        "origin": signed.origin,
        "size": signed.size,
        "root": encode_base64(signed.root),
        "vkey": key.vkey() if key else None,
        "signed": holds,
        "witnessed": [{"size": one.size, "name": name, "time": at} for one in seen for name, at in _names(one)],
    }


def show_lines(
    signed: SignedCheckpoint, key: NoteKey | None, holds: bool, seen: Sequence[SignedCheckpoint]
) -> list[str]:
    """Return what is known of a log, for reading."""
    lines = [
        f"origin   {_shown(signed.origin)}",
        f"size     {signed.size}",
        f"root     {encode_base64(signed.root)}",
        f"key      {key.vkey() if key else 'none given'}",
    ]
    if key is not None:
        lines.append(f"signed   {'yes, by that key' if holds else 'NO: not by that key'}")
    latest = {name: (one.size, at) for one in seen for name, at in _names(one)}
    lines += [f"witness  {_shown(name)}: {size} entries at {utc(at)}" for name, (size, at) in latest.items()]
    return lines if latest else [*lines, "witness  none yet"]


def _names(signed: SignedCheckpoint) -> Iterator[tuple[str, int]]:
    """Yield name and time of each cosignature of a checkpoint that the log's folder keeps, where it was checked."""
    for signature in signed.signatures:
        if signature.name != signed.origin and len(signature.signature) == 72:
            yield signature.name, int.from_bytes(signature.signature[:8])


def audit_json(found: Audit, signed: SignedCheckpoint, trust: str) -> dict[str, Any]:
    """Return the audit with the root that it is about, and how the log's key was known."""
    return {"ok": found.ok, "root": encode_base64(signed.root), "logKey": trust, **to_json(found)}


def audit_lines(found: Audit, signed: SignedCheckpoint, trust: str, *, pinned_signers: bool) -> list[str]:
    """Return the audit, for reading."""
    lines = [f"log {_shown(found.origin)}, {found.size} entries, root {encode_base64(signed.root)}", _TRUST[trust]]
    for row in found.rows:
        lines += _row(row)
    if not found.rows:
        lines.append("no announcement counts")
    lines += _section("runs without an announcement", [_run(run) for run in found.unannounced])
    lines += _section("voided runs", [f"{_run(run)}: {_shown(run.reason or '')}" for run in found.voided])
    lines += _section("texts withheld", [_redacted(one) for one in found.redactions])
    faults = [f"entry {fault.index}  {fault.code}: {_shown(fault.message)}" for fault in found.problems]
    lines += _section("NOT sound", faults)
    lines += _section("by other signers", [f"entry {one.index} by {_shown(one.kid)}" for one in found.foreign])
    if found.repeated:
        lines.append(f"said twice: entries {', '.join(map(str, found.repeated))}")
    if not pinned_signers:
        lines.append("any signer counted for what it announced itself; --key counts one signer's statements alone")
    return [*lines, _verdict(found)]


def _section(title: str, entries: Sequence[str]) -> list[str]:
    return [f"{title}:", *(f"  {entry}" for entry in entries)] if entries else []


def _row(row: AnnouncedRow) -> list[str]:
    ends = [f"{row.count('published')} of {len(row.passes)} published"]
    ends += [f"{count} void" for count in [row.count("void")] if count]
    ends += [f"{count} MISSING" for count in [row.count("missing")] if count]
    lines = [f"intent {row.index} {_shown(row.row)}: {', '.join(ends)}"]
    for one in row.passes:
        if one.state == "void":
            scored = f", after a score of {one.score.decimal}" if one.score else ""
            lines.append(f"  pass {one.k} void (entry {one.void}{scored}): {_shown(one.reason or '')}")
        elif one.state == "missing":
            lines.append(f"  pass {one.k} MISSING: run {one.run_id} is neither published nor void")
    return [*lines, *(f"  entry {index} fills a pass of it" for index in row.fills)]


def _run(run: RunEntry) -> str:
    score = run.score.decimal if run.score else "no score"
    return f"entry {run.index}  {_shown(run.row)}, pass {run.k} of {run.of}, {score}, run {run.run_id}"


def _redacted(one: RedactedRun) -> str:
    texts, rows = f"{one.texts} text{'s' * (one.texts != 1)}", f"{one.rows} row{'s' * (one.rows != 1)}"
    run = f"{_shown(one.row)}, pass {one.k} of {one.of}, run {one.run_id}"
    return f"entry {one.index}  {run} (entry {one.run}): {texts} of {rows}"


def _verdict(found: Audit) -> str:
    if found.ok:
        return "every announced pass is published or void"
    faults = [f"{count} {what}" for count, what in _faults(found) if count]
    return f"not every announced pass can be relied on: {', '.join(faults)}"


def _faults(found: Audit) -> Iterator[tuple[int, str]]:
    yield found.missing, "missing"
    yield len(found.problems), "not sound"


def utc(seconds: int) -> str:
    """Return Unix seconds as a date and time in UTC; what is beyond the calendar stays a number."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(seconds))
    except (ValueError, OverflowError, OSError):
        return str(seconds)


def _shown(text: str) -> str:
    return shortened(text, MAX_TEXT)
